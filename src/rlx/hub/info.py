"""What the Hub says of a repository, read tolerantly: any field may be missing, mistyped or absurd."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rlx.errors import BadInput, Upstream
from rlx.ids import EnvKey, Kind, make_key

_SHA = re.compile(r"[0-9a-f]{40}")
_NO_PART = frozenset({"", ".", ".."})
_MAX_TAGS = 200
_MAX_TEXT = 4000


@dataclass(frozen=True, slots=True)
class RepoInfo:
    """One repository as listed or looked up. Unknown figures are None, never 0."""

    key: EnvKey
    sha: str | None
    """40 hex digits; a listing may leave it out."""
    private: bool
    gated: bool
    tags: tuple[str, ...]
    card: Mapping[str, object]
    """The card's front matter as the Hub parsed it. Hostile: coerce before use."""
    description: str
    downloads: int | None
    likes: int | None
    trending: float | None
    created: datetime | None
    modified: datetime | None
    sdk: str | None = None
    """Spaces only."""
    stage: str | None = None
    """Spaces only: RUNNING, SLEEPING, ... as the Hub spells it."""
    subdomain: str | None = None
    disabled: bool = False
    """Taken down by the Hub: it is listed, and nothing of it may be read."""

    @property
    def restricted(self) -> bool:
        """Not for everybody: what is read from it stays with the viewer who may."""
        return self.private or self.gated


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a repository at a revision."""

    path: str
    size: int
    oid: str
    """Git blob id, or the sha256 of a large file; names the contents."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One folder of a repository at a revision."""

    path: str
    oid: str
    """Git tree id, which changes with anything below it; empty when the Hub does not tell it."""


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    title: str
    at: datetime | None


def read_commit(raw: object) -> Commit | None:
    """Parse one element of a history; None for what is none."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("id"), str) or not _SHA.fullmatch(raw["id"]):
        return None
    return Commit(raw["id"], _text(raw.get("title"))[:200], _time(raw.get("date")))


def read_info(kind: Kind, raw: object) -> RepoInfo:
    """Parse one element of a listing or an info answer. Raises `Upstream` when it does not even name a repository."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("id"), str):
        raise Upstream("The Hub answered with something that is not a repository.")
    org, _, name = raw["id"].partition("/")
    try:
        key = make_key(kind, org, name)
    except BadInput as error:
        raise Upstream(f"The Hub named a repository {raw['id'][:120]!r}, which cannot be one.") from error
    sha = raw.get("sha")
    card = raw.get("cardData")
    runtime = raw.get("runtime")
    tags = raw.get("tags")
    return RepoInfo(
        key=key,
        sha=sha if isinstance(sha, str) and _SHA.fullmatch(sha) else None,
        private=raw.get("private") is True,
        gated=raw.get("gated") not in (False, None),
        tags=tuple(tag[:200] for tag in tags[:_MAX_TAGS] if isinstance(tag, str)) if isinstance(tags, list) else (),
        card=card if isinstance(card, Mapping) else {},
        description=_text(raw.get("description")),
        downloads=_count(raw.get("downloads")),
        likes=_count(raw.get("likes")),
        trending=_number(raw.get("trendingScore")),
        created=_time(raw.get("createdAt")),
        modified=_time(raw.get("lastModified")),
        sdk=_text(raw.get("sdk")) or None,
        stage=_text(runtime.get("stage")) or None if isinstance(runtime, Mapping) else None,
        subdomain=_text(raw.get("subdomain")) or None,
        disabled=raw.get("disabled") is True,
    )


def read_entry(raw: object) -> TreeEntry | FolderEntry | None:
    """Parse one element of a tree: a file, a folder, or None for something else."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("path"), str) or not _is_path(raw["path"]):
        return None
    if raw.get("type") == "directory":
        return FolderEntry(raw["path"], raw["oid"] if isinstance(raw.get("oid"), str) else "")
    lfs = raw.get("lfs")
    oid = lfs.get("oid") if isinstance(lfs, Mapping) else raw.get("oid")
    return TreeEntry(raw["path"], _count(raw.get("size")) or 0, oid if isinstance(oid, str) else "")


def _is_path(path: str) -> bool:
    """Whether git could hold a file of that name, and a URL name it."""
    odd = "\0" in path or any(0xD800 <= ord(char) <= 0xDFFF for char in path)
    return not odd and _NO_PART.isdisjoint(path.split("/"))


def _text(value: object) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _time(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
