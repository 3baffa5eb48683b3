"""The tables of a repository, each with the processor that reads it, and their rows as a reader may see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio.to_thread

from rlx.answers import name
from rlx.answers.rows import table_row
from rlx.answers.shown import Json
from rlx.errors import BadInput
from rlx.formats.kinds import bare_tags
from rlx.formats.processors.base import SAMPLED, Match, Processor, Reading, Roles, RowCard, ShownRow, Table, Unpacking
from rlx.formats.processors.registry import choose
from rlx.formats.rows.layout import Split
from rlx.formats.rows.media import Numbered, named
from rlx.formats.rows.splits import Found, Place, SplitPage, SplitRows
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.model import TaskCard, Text
from rlx.texts import Say, say

SAMPLE_BYTES: Final = 1024 * 1024
"""Of the rows by which a table is recognised, after the first one."""
COUNTED: Final = 64
"""Files of a split that are looked into for a count; of more, the card's own count is believed."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row before and after the policy. `value` is hostile and never shown."""

    shown: ShownRow
    value: Mapping[str, object]
    media: tuple[object, ...] = ()
    broken: Text | None = None
    """Why it has no value."""


@dataclass(slots=True)
class OpenTable:
    """One split that was looked into."""

    table: Table
    rows: SplitRows
    processor: Processor
    match: Match
    reading: Reading
    told: int | None = None
    """Rows in all, as the card has it."""
    refused: tuple[tuple[str, Say], ...] = ()
    """Files none of whose rows can be had."""
    count: int | None = None
    """Rows in all; None while that is unknown."""
    known: int = 0
    """Rows that can be read."""
    trouble: Say | None = None
    _counted: bool = field(default=False)

    @property
    def id(self) -> str:
        return self.table.id

    @property
    def length(self) -> int:
        """Rows that are listed: all, or those that are known so far."""
        return self.known if self.count is None else self.count

    def ref(self, at: int) -> str:
        return f"{self.id}/{at}"

    async def raw(self, offset: int, limit: int, *, all_columns: bool = True) -> list[RawRow]:
        """Rows from `offset`, masked; fewer than `limit` where they are long or the table ends."""
        columns = None if all_columns or isinstance(self.reading, Unpacking) else self.reading.columns
        page = await self.rows.page(offset, limit, columns=columns)
        self.refused, self.trouble = page.refused, page.trouble
        self.known = max(self.known, page.known)
        self.count = page.count if page.count is not None else self.count
        return await anyio.to_thread.run_sync(self._masked, offset, page.rows)

    async def cards(self, offset: int, limit: int) -> list[TaskCard]:
        """At most `limit` of the list's rows from `offset`."""
        found: list[TaskCard] = []
        limit = min(limit, self.length - offset)
        while len(found) < limit:
            rows = await self.raw(offset + len(found), limit - len(found), all_columns=False)
            if not rows:
                break
            found += await anyio.to_thread.run_sync(_task_cards, self, rows)
        return found

    async def look(self, patience: float = 0.5) -> None:
        """Get to know how many rows there are."""
        if self.count is None and len(self.rows.files) <= COUNTED:
            self.count = await self.rows.count(patience=patience)
        if self.count is None and self.told is not None:
            self.count = self.told
        self.known = max(self.known, self.count or 0)

    def _masked(self, offset: int, places: Sequence[Place]) -> list[RawRow]:
        return [self._row(offset + number, place) for number, place in enumerate(places)]

    def _row(self, at: int, place: Place) -> RawRow:
        row = place.row
        numbered = Numbered()
        value = as_object(row.value)
        masked = table_row(
            numbered.named(value),
            path=place.path,
            shape=place.shape if isinstance(row.value, Mapping) else "",
            within=place.within,
            policy=self.reading.policy,
        )
        shown = masked.value.value
        told: Mapping[str, Json] = shown if isinstance(shown, dict) else {"value": shown}
        line = ShownRow(self.ref(at), told, masked.value, place.path, at, masked.withheld, row.note)
        return RawRow(line, value, tuple(numbered.found), row.broken)


def card_of(table: OpenTable, row: RawRow) -> RowCard:
    """What lists say of a row."""
    if row.broken is not None:
        return RowCard(name(row.shown.ref), name(""), problem=row.broken)
    if isinstance(table.reading, Unpacking):
        try:
            return table.reading.opened(row.shown, row.value).card
        except BadInput as error:
            return replace(table.reading.card(row.shown), problem=name(error.message))
    return table.reading.card(row.shown)


def task_card(table: OpenTable, row: RawRow) -> TaskCard:
    card = card_of(table, row)
    title = card.title if card.title.strip() else name(row.shown.ref)
    facets = {**card.facets, "split": (name(table.id),)} if len(table.table.splits) > 1 else card.facets
    return TaskCard(row.shown.ref, title, card.brief, facets, card.problem)


def _task_cards(table: OpenTable, rows: Sequence[RawRow]) -> list[TaskCard]:
    return [task_card(table, row) for row in rows]


async def open_table(
    repo: Repo, found: Found, split: Split, processors: Sequence[Processor], files: Mapping[str, TreeEntry]
) -> OpenTable:
    """Look into one split and settle who reads it. Raises what reading the Hub raises."""
    rows, page, table = await look_into(repo, found, split, files, tags=bare_tags(repo.info.tags))
    chosen = await anyio.to_thread.run_sync(choose, table, processors)
    if chosen is None:
        raise BadInput(f"Nothing here reads the rows of {table.id} of {repo.key}.")
    processor, match = chosen
    reading = await anyio.to_thread.run_sync(processor.reading, table, {})
    opened = OpenTable(table, rows, processor, match, reading, _told(repo.info.card, split))
    opened.refused, opened.known, opened.count, opened.trouble = page.refused, page.known, page.count, page.trouble
    await opened.look()
    return opened


async def look_into(
    repo: Repo, found: Found, split: Split, files: Mapping[str, TreeEntry], *, tags: frozenset[str]
) -> tuple[SplitRows, SplitPage, Table]:
    """The first rows of a split, as processors see them. Raises what reading the Hub raises."""
    rows = await found.open(split)
    page = await rows.page(0, SAMPLED)
    sample = await anyio.to_thread.run_sync(_sample, page.rows)
    table = Table(
        key=repo.key,
        sha=repo.sha,
        config=split.config,
        split=split.name,
        paths=split.paths,
        tags=tags,
        card=repo.info.card,
        files=files,
        columns=page.columns,
        sample=tuple(sample),
        splits=tuple(_id(item) for item in found.layout.splits),
    )
    return rows, page, table


def _sample(places: Sequence[Place]) -> list[Mapping[str, object]]:
    """The first rows, as far as they are not too long together: they are kept, and looked at by every processor."""
    rows: list[Mapping[str, object]] = []
    size = 0
    for place in places:
        if place.row.broken is None:
            row = as_object(named(place.row.value))
            size += weight(row)
            if rows and size > SAMPLE_BYTES:
                break
            rows.append(row)
    return rows


def weight(value: object) -> int:
    """About how much a value holds: its texts and its parts."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(16 + weight(item) for item in value.values())
    return sum(8 + weight(item) for item in value) if isinstance(value, list | tuple) else 8


def corrected(table: OpenTable, roles: Roles) -> OpenTable:
    """The same table, its columns in the roles that a visitor gave them. Raises `BadInput`."""
    return replace(table, reading=table.processor.reading(table.table, roles))


def as_object(value: object) -> Mapping[str, object]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {"value": value}


def refused_texts(table: OpenTable) -> list[Text]:
    return [say("rows.refused", path=path, why=why) for path, why in table.refused]


def _id(split: Split) -> str:
    return split.name if split.config == "default" else f"{split.config}/{split.name}"


def _told(card: Mapping[str, object], split: Split) -> int | None:
    """What the card says of a split's length."""
    told = card.get("dataset_info")
    for info in told if isinstance(told, list) else [told]:
        if not isinstance(info, Mapping) or str(info.get("config_name", "default")) != split.config:
            continue
        splits = info.get("splits")
        for item in splits if isinstance(splits, list) else []:
            number = item.get("num_examples") if isinstance(item, Mapping) else None
            if isinstance(item, Mapping) and item.get("name") == split.name and type(number) is int and number >= 0:
                return number
    return None
