"""Repositories as JSON: one table of keys, and the views that pick from it.

A view is rendered once per repository and change; listings join the rendered pieces.
"""

import hashlib
from collections.abc import Callable, Iterable

from rlx.localhub.repo import Repo
from rlx.localhub.snapshot import Snapshot, iso
from rlx.localhub.wire import Refusal, json_bytes

type Key = Callable[[Repo, Snapshot], object]

_MAX_VIEWS = 6
"""Views kept per repository: `expand` allows more combinations than memory does."""


def modified_ms(repo: Repo, at: Snapshot) -> int:
    told = repo.meta.last_modified if at is repo.head else None
    return at.modified_ms if told is None else round(told.timestamp() * 1000)


def created_ms(repo: Repo, at: Snapshot) -> int:
    told = repo.meta.created_at
    return at.created_ms if told is None else round(told.timestamp() * 1000)


def subdomain(repo: Repo) -> str:
    """A Space's host name on the Hub: lower case, and only letters, digits and dashes."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in repo.id.lower())


def runtime(repo: Repo) -> dict[str, object]:
    """What a Space runs on."""
    hardware = repo.meta.hardware
    running = repo.meta.stage in {"RUNNING", "RUNNING_BUILDING", "RUNNING_APP_STARTING"}
    return {
        "stage": repo.meta.stage,
        "hardware": {"current": hardware if running else None, "requested": hardware},
        "storage": None,
        "gcTimeout": 172800,
        "replicas": {"current": int(running), "requested": 1},
    }


def _linked(key: str) -> Key:
    return lambda repo, at: at.card.values(key)


_COMMON: dict[str, Key] = {
    "author": lambda repo, at: repo.author,
    "cardData": lambda repo, at: at.card.data,
    "createdAt": lambda repo, at: iso(created_ms(repo, at)),
    "disabled": lambda repo, at: repo.meta.disabled,
    "gated": lambda repo, at: repo.meta.gated,
    "lastModified": lambda repo, at: iso(modified_ms(repo, at)),
    "likes": lambda repo, at: repo.meta.likes,
    "private": lambda repo, at: repo.meta.private,
    "resourceGroup": lambda repo, at: None,
    "sha": lambda repo, at: at.sha,
    "siblings": lambda repo, at: at.siblings(blobs=False),
    "tags": lambda repo, at: at.card.tags(repo.kind),
    "trendingScore": lambda repo, at: repo.meta.trending_score,
    "usedStorage": lambda repo, at: at.size,
}
_DOWNLOADS: dict[str, Key] = {
    "downloads": lambda repo, at: repo.meta.downloads,
    "downloadsAllTime": lambda repo, at: repo.meta.downloads,
}
_DATASET: dict[str, Key] = {
    **_COMMON,
    **_DOWNLOADS,
    "citation": lambda repo, at: None,
    "description": lambda repo, at: at.card.description,
    "mainSize": lambda repo, at: at.size,
    "paperswithcode_id": lambda repo, at: None,
}
_SPACE: dict[str, Key] = {
    **_COMMON,
    "datasets": _linked("datasets"),
    "models": _linked("models"),
    "region": lambda repo, at: "us",
    "runtime": lambda repo, at: runtime(repo),
    "sdk": lambda repo, at: next(iter(at.card.values("sdk")), None),
    "subdomain": lambda repo, at: subdomain(repo),
    "host": lambda repo, at: repo.meta.host or f"https://{subdomain(repo)}.hf.space",
}
_MODEL: dict[str, Key] = {**_COMMON, **_DOWNLOADS}
KEYS: dict[str, dict[str, Key]] = {"datasets": _DATASET, "spaces": _SPACE, "models": _MODEL}

_BRIEF = (
    "author",
    "createdAt",
    "disabled",
    "gated",
    "lastModified",
    "likes",
    "private",
    "sha",
    "tags",
    "trendingScore",
    "downloads",
    "description",
    "sdk",
    "subdomain",
    "host",
)
_FULL = (*_BRIEF, "cardData", "citation", "siblings", "models", "datasets")


def list_view(kind: str, *, full: bool, expand: Iterable[str]) -> tuple[str, ...]:
    """Keys of a listing's items. Refuses unknown `expand` keys, and `expand` beside `full`."""
    wanted = tuple(dict.fromkeys(expand))
    if wanted and full:
        raise Refusal(400, "", "Parameters 'full' and 'expand' exclude each other.")
    return _known(kind, wanted) if wanted else tuple(key for key in (_FULL if full else _BRIEF) if key in KEYS[kind])


def info_view(kind: str, expand: Iterable[str]) -> tuple[str, ...]:
    """Keys of one repository's info."""
    wanted = tuple(dict.fromkeys(expand))
    return _known(kind, wanted) if wanted else tuple(key for key in KEYS[kind] if key != "resourceGroup")


def _known(kind: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    for key in wanted:
        if key not in KEYS[kind]:
            raise Refusal(400, "", f"Unknown expand key '{key[:80]}'. Known: {', '.join(sorted(KEYS[kind]))}.")
    return wanted


def render(repo: Repo, at: Snapshot, view: tuple[str, ...], *, blobs: bool = False) -> bytes:
    """One repository as JSON, from memory when this view of its head was asked for before."""
    name = f"{blobs}{view}"
    fragments = repo.fragments
    known = fragments.get(name) if at is repo.head else None
    if known is not None:
        return known
    keys = KEYS[repo.kind]
    told: dict[str, object] = {"_id": object_id(repo.key), "id": repo.id}
    told |= {key: keys[key](repo, at) for key in view}
    if blobs and "siblings" in told:
        told["siblings"] = at.siblings(blobs=True)
    body = json_bytes(told)
    if at is repo.head:
        if len(fragments) >= _MAX_VIEWS:
            fragments.clear()
        fragments[name] = body
    return body


def object_id(name: str) -> str:
    """A stable database id, as the Hub gives everything."""
    return hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[:24]
