"""One listing of the Hub, of every repository that is an environment by its tags; and the one kept in the store.

A kept listing holds what is public and open alone, in the Hub's own JSON, so that it is read as tolerantly as the Hub.
"""

import gzip
import io
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rlx.answers.shown import Json
from rlx.errors import RlxError, Upstream
from rlx.formats.kinds import HUB_TAGS, SPACE_TAGS, is_environment
from rlx.hub.client import HubClient, Token
from rlx.hub.info import RepoInfo, read_info
from rlx.ids import EnvKey, Kind

FILE = "listing.json.gz"
VERSION = 1
TRUSTED = timedelta(hours=3)
"""Age at which a kept listing gives way to one of the Hub itself."""
LEAST = 0.8
"""Part of the last listing that the next must reach: a Hub in trouble answers with short lists, not with errors."""
MAX_LISTING = 512 * 1024 * 1024
"""Bytes of an unpacked listing."""

_WHERE: tuple[tuple[Kind, tuple[str, ...]], ...] = (("dataset", HUB_TAGS), ("space", SPACE_TAGS))
_CARD = ("pretty_name", "title", "short_description")
"""Front matter that cards of environments are made of."""

_log = logging.getLogger(__name__)


class Shrunk(RlxError):
    """A listing so much shorter than the last one that it is not believed."""


@dataclass(frozen=True, slots=True)
class Listing:
    infos: tuple[RepoInfo, ...]
    """The most popular first, each key once."""
    at: datetime

    def fresh(self, now: datetime) -> bool:
        return abs(now - self.at) < TRUSTED

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many environments, datasets and Spaces are listed."""
        spaces = sum(info.key.kind == "space" for info in self.infos)
        return {"environments": len(self.infos), "datasets": len(self.infos) - spaces, "spaces": spaces}


async def list_hub(hub: HubClient, *, everything: bool, token: Token = False) -> tuple[RepoInfo, ...]:
    """Every public environment by its tags, the most popular first; of a local hub `everything`, whatever its tags."""
    found: dict[EnvKey, RepoInfo] = {}
    for kind, tags in _WHERE:
        for filters in [()] if everything else [(tag,) for tag in tags]:
            listed = await hub.repos(kind, token=token, filters=filters)
            found |= {info.key: info for info in listed if info.key not in found}
    infos = [info for info in found.values() if not info.private and is_environment(info)]
    return tuple(sorted(infos, key=lambda info: -(info.trending or 0)))


def is_open(info: RepoInfo) -> bool:
    """Whether everybody may read it: what is not never enters a file that is published."""
    return not info.restricted and not info.disabled


def check_size(listing: Listing, last: Mapping[str, int]) -> None:
    """Raises `Shrunk` when a listing has under 80 % of what the last one had, overall or of either kind."""
    for what, n in listing.sizes.items():
        before = last.get(what, 0)
        if n < LEAST * before:
            raise Shrunk(
                f"The Hub listed {n:,} {what}, under {LEAST * 100:.0f} % of the {before:,} listed before.",
                hint="Nothing was changed. Look whether the Hub is in trouble; --force takes the listing as it is.",
            )


def listing_bytes(listing: Listing) -> bytes:
    """As a gzipped JSON file. What is not open to everybody is left out."""
    rows = [_info_out(info) for info in listing.infos if is_open(info)]
    raw = {"version": VERSION, "at": listing.at.isoformat(), "rows": rows}
    return gzip.compress(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"), 5, mtime=0)


def listing_in(data: bytes) -> Listing:
    """Raises `ValueError` for a file that is no listing of this version, damaged or of absurd size."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_LISTING + 1)
        if len(unpacked) > MAX_LISTING:
            raise ValueError(f"a listing of more than {MAX_LISTING:,} bytes")
        raw = json.loads(unpacked)
        if raw["version"] != VERSION:
            raise ValueError(f"listing version {raw['version']!r}, not {VERSION}")
        infos = tuple(filter(is_open, _infos_in(raw["rows"])))
        return Listing(infos, datetime.fromisoformat(raw["at"]).astimezone(UTC))
    except (OSError, EOFError, KeyError, TypeError, AttributeError, RecursionError, Upstream) as error:
        raise ValueError(f"not a listing: {type(error).__name__}") from error


def read_listing(path: Path) -> Listing | None:
    """The listing kept at `path`; None when there is none that can be used."""
    try:
        return listing_in(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _log.warning("%s is not used: %s", path, error)
        return None


def _infos_in(rows: Iterable[Mapping[str, object]]) -> list[RepoInfo]:
    return [read_info("space" if row["kind"] == "space" else "dataset", row) for row in rows]


def _info_out(info: RepoInfo) -> dict[str, Json]:
    """The Hub's own JSON of a repository, less what no card is made of."""
    row: dict[str, Json] = {
        "kind": info.key.kind,
        "id": info.key.repo_id,
        "sha": info.sha,
        "private": False,
        "gated": False,
        "tags": list(info.tags),
        "cardData": {key: value for key in _CARD if isinstance(value := info.card.get(key), str)},
        "description": info.description,
        "downloads": info.downloads,
        "likes": info.likes,
        "trendingScore": info.trending,
        "createdAt": _time_out(info.created),
        "lastModified": _time_out(info.modified),
        "sdk": info.sdk,
        "runtime": None if info.stage is None else {"stage": info.stage},
        "subdomain": info.subdomain,
    }
    return {key: value for key, value in row.items() if value not in (None, "", [], {})}


def _time_out(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
