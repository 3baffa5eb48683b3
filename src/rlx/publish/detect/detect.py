"""Detection: every detector over one repository, and what came of it beside what its tags claim."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import anyio

from rlx.formats.kinds import bare_tags
from rlx.formats.processors.base import Table
from rlx.formats.rows.splits import Found, find_splits
from rlx.formats.rows.tables import look_into
from rlx.hub.repo import Repo
from rlx.publish.detect.base import UNREADABLE, Detection, Detector, Evidence, Files, State, Support, Way
from rlx.publish.detect.code import detect_code
from rlx.publish.detect.harbor import detect_harbor
from rlx.publish.detect.rows import detect_rows
from rlx.publish.frameworks import FRAMEWORKS, MEMBER, claimed
from rlx.texts import say

DETECTORS: Final[tuple[Detector, ...]] = (detect_harbor, detect_code, detect_rows)
TABLES: Final = 8
"""Tables that are looked into."""
SHOWN: Final = 20
"""Pieces of evidence that are kept for a framework."""
_KEPT: Final = 256


async def detect(repo: Repo) -> Detection:
    """What `repo` supports. Raises what listing it raises; what cannot be read is no support."""
    listing = await repo.listing()
    found_splits = await find_splits(repo) if repo.key.kind == "dataset" else None
    tables = await _tables(repo, found_splits) if found_splits is not None else ()
    files = Files(repo, listing.files, listing.is_whole, tables)
    ways: list[Way] = []
    evidence: dict[str, list[Evidence]] = {}
    for detector in DETECTORS:
        found = await detector(files)
        ways += found.ways
        for framework, seen in (found.evidence or {}).items():
            evidence.setdefault(framework, []).extend(seen)
    return Detection(
        MEMBER in bare_tags(repo.info.tags),
        _supports(claimed(repo.info.tags), ways, evidence),
        listing.is_whole,
        found_splits.layout.splits if found_splits is not None else (),
    )


def _supports(tags: frozenset[str], ways: Iterable[Way], evidence: dict[str, list[Evidence]]) -> tuple[Support, ...]:
    found: list[Support] = []
    for framework in FRAMEWORKS.values():
        ours = tuple(way for way in ways if way.framework == framework.tag and _is_plain(way))
        loadable = any(way.kind != "harbor-packed" for way in ours)
        tagged = framework.tag in tags
        if not ours and not tagged:
            continue
        seen = tuple(evidence.get(framework.tag, ())[:SHOWN]) or (Evidence("", say("publish.seen.nothing")),)
        if loadable or tagged:
            found.append(Support(framework.tag, _state(loadable, tagged), framework.library, ours, seen))
    return tuple(found)


def _is_plain(way: Way) -> bool:
    """Whether its words can stand in a command: no name that a framework loads has a control character."""
    return all(word.isprintable() and len(word) < 1000 for word in (way.path, way.name, way.version, way.split))


def _state(loadable: bool, tagged: bool) -> State:
    if not loadable:
        return "claimed"
    return "supported" if tagged else "untagged"


async def _tables(repo: Repo, found: Found) -> tuple[Table, ...]:
    """The first rows of the first tables. One that cannot be read is left out."""
    listing = await repo.listing()
    tables: list[Table] = []
    for split in found.layout.splits[:TABLES]:
        try:
            _, _, table = await look_into(repo, found, split, listing.files, tags=frozenset())
        except UNREADABLE:
            continue
        tables.append(table)
    return tuple(tables)


@dataclass(slots=True)
class Detections:
    """What was found, kept by revision. One for the process."""

    _kept: OrderedDict[tuple[str, str, bool], Detection] = field(default_factory=OrderedDict)
    _turns: dict[tuple[str, str, bool], anyio.Lock] = field(default_factory=dict)

    async def of(self, repo: Repo) -> Detection:
        """Who asks for what is being found waits for that alone. Raises what `detect` raises."""
        name = (str(repo.key), repo.sha, repo.info.restricted)
        if name not in self._kept:
            async with self._turns.setdefault(name, anyio.Lock()):
                await self._find(name, repo)
        self._kept.move_to_end(name)
        return self._kept[name]

    async def _find(self, name: tuple[str, str, bool], repo: Repo) -> None:
        if name in self._kept:
            return
        try:
            self._kept[name] = await detect(repo)
        finally:
            self._turns.pop(name, None)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
