"""Rows of every real set are read by the processor that the table names, and what it calls an answer is withheld.

The samples are the first rows of each set, long texts cut; the table (`tests/formats/rows/shared_processors.json`)
was written from the whole files before any processor.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlx.answers.rows import table_row
from rlx.answers.shown import ARCHIVE, MARK
from rlx.formats.kinds import bare_tags
from rlx.formats.processors.base import Correctable, ShownRow, Table, Unpacking
from rlx.formats.processors.registry import choose, processors
from rlx.formats.rows.media import Numbered
from rlx.formats.rows.tables import as_object
from rlx.ids import parse_key
from rlx.twins.jsonable import to_json

HERE = Path(__file__).parent
TABLE: dict[str, dict[str, Any]] = json.loads((HERE.parent / "rows" / "shared_processors.json").read_text())
SAMPLES = [json.loads(line) for line in (HERE / "shared_samples.jsonl").read_text().splitlines()]
IDS = [f"{sample['repo']} {sample['split']}" for sample in SAMPLES]


def whole(value: Any) -> Any:
    """A value of the sample file, with its bytes."""
    if isinstance(value, dict):
        if value.keys() == {"__bytes__"}:
            return base64.b64decode(value["__bytes__"])
        return {key: whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


def table_of(sample: Mapping[str, Any]) -> Table:
    return Table(
        key=parse_key(sample["repo"]),
        sha="0" * 40,
        config=sample["config"],
        split=sample["split"],
        paths=tuple(sample["paths"]),
        tags=bare_tags(sample["tags"]),
        card={},
        files={},
        columns=tuple(sample["columns"]),
        sample=tuple(as_object(Numbered().named(whole(row))) for row in sample["rows"]),
    )


def split_of(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    splits: Sequence[Mapping[str, Any]] = TABLE[sample["repo"]]["splits"]
    return next(item for item in splits if (item["config"], item["split"]) == (sample["config"], sample["split"]))


def at(value: Any, path: str) -> Iterator[Any]:
    """What stands at a dotted path, through lists and JSON in strings; the mark where it is withheld on the way."""
    if value in (MARK, ARCHIVE) or not path:
        yield value
        return
    if isinstance(value, str):
        try:
            yield from at(json.loads(value), path)
        except ValueError:
            return
    elif isinstance(value, list):
        for item in value:
            yield from at(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            if path == key or path.startswith(f"{key}."):
                yield from at(item, path[len(key) + 1 :])


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    elif isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            yield from leaves(json.loads(value))
        except ValueError:
            yield value
    elif value not in (None, "", MARK, ARCHIVE):
        yield value


def masked(sample: Mapping[str, Any]) -> list[tuple[Any, ShownRow]]:
    """Each row as it is, and as its processor is handed it."""
    table = table_of(sample)
    chosen = choose(table, processors())
    assert chosen is not None
    policy = chosen[0].reading(table, {}).policy
    rows = []
    for number, raw in enumerate(map(whole, sample["rows"])):
        found = table_row(Numbered().named(as_object(raw)), path=sample["paths"][0], policy=policy)
        assert isinstance(found.value.value, dict)
        row = ShownRow(f"{table.id}/{number}", found.value.value, found.value, sample["paths"][0], number)
        rows.append((raw, row))
    return rows


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_the_processor_that_the_table_names_reads_it_and_says_why(sample: Mapping[str, Any]) -> None:
    expected = split_of(sample)
    chosen = choose(table_of(sample), processors())
    assert chosen is not None
    processor, match = chosen
    assert processor.name in {expected["processor"], *expected.get("also", ())}
    assert to_json(match.evidence)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_what_the_table_calls_an_answer_is_withheld(sample: Mapping[str, Any]) -> None:
    exposed = [
        (path, leaf)
        for _, row in masked(sample)
        for path in TABLE[sample["repo"]]["answers"]
        for value in at(dict(row.value), path)
        for leaf in leaves(value)
    ]
    assert exposed == []


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_what_only_looks_like_an_answer_is_shown(sample: Mapping[str, Any]) -> None:
    hidden = [
        path
        for raw, row in masked(sample)
        for path in TABLE[sample["repo"]].get("shown", ())
        if any(True for value in at(raw, path) for _ in leaves(value))
        and not any(True for value in at(dict(row.value), path) for _ in leaves(value))
    ]
    assert hidden == []


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_every_row_makes_a_card_and_a_page(sample: Mapping[str, Any]) -> None:
    table = table_of(sample)
    chosen = choose(table, processors())
    assert chosen is not None
    reading = chosen[0].reading(table, {})
    for _, row in masked(sample):
        assert reading.card(row).title.strip()
        view = reading.view(row)
        if isinstance(reading, Unpacking):
            continue  # its page is that of the files in the row
        assert {section.id for section in view.sections} & {"prompt", "transcript", "outcome", "row"}


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_a_column_that_the_table_gives_a_role_is_offered_for_it(sample: Mapping[str, Any]) -> None:
    table = table_of(sample)
    chosen = choose(table, processors())
    assert chosen is not None
    reading = chosen[0].reading(table, {})
    if not isinstance(reading, Correctable):
        return
    told = split_of(sample)["roles"]
    for role in ("task", "id", "title"):
        columns = [path for path in told.get(role, ()) if "." not in path]
        if columns and role in reading.offered:
            assert reading.roles.get(role) in columns, (role, columns)
