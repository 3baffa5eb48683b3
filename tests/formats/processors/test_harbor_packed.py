"""Rows of packed Harbor tasks: recognised by what is in them, masked whatever they hold, never raising."""

import base64
import gzip
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import whole
from rlx.answers.rows import table_row
from rlx.answers.shown import ARCHIVE
from rlx.errors import BadInput, Forbidden, NotFound
from rlx.formats.packed.budget import RefusedArchive
from rlx.formats.packed.task import PackedTask, folder_name
from rlx.formats.processors.base import ShownRow, Table, Unpacking
from rlx.formats.processors.harbor_packed import BLOBS, HarborPacked, PackedRows
from rlx.ids import EnvKey
from rlx.index.records import Counts
from rlx.twins.jsonable import to_json
from tests.formats.packed.making import TASK, tar, zipped

BLOB = gzip.compress(tar(TASK), mtime=0)
FORMS: Mapping[str, object] = {
    "bytes": BLOB,
    "base64": base64.b64encode(BLOB).decode(),
    "base64 in lines": base64.encodebytes(BLOB).decode(),
    "numbers": list(BLOB),
    "an object of bytes": {"bytes": BLOB, "path": "one.tar.gz"},
    "zip": zipped(TASK),
    "in a folder": tar({f"one/{path}": data for path, data in TASK.items()}),
}


def table(*rows: Mapping[str, object], tags: frozenset[str] = frozenset()) -> Table:
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return Table(
        key=EnvKey("dataset", "acme", "packed"),
        sha="0" * 40,
        config="default",
        split="train",
        paths=("data/train.parquet",),
        tags=tags,
        card={},
        files={},
        columns=columns,
        sample=rows,
    )


def shown(reading: PackedRows, row: Mapping[str, object]) -> ShownRow:
    masked = table_row(row, path="data/train.parquet", policy=reading.policy)
    value = masked.value.value
    assert isinstance(value, dict)
    return ShownRow("train/0", value, masked.value, "data/train.parquet", 0, masked.withheld)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["task_binary", "bundle"])
def test_archives_are_recognised_by_column_and_contents(form: str, column: str) -> None:
    row = {"path": "tasks/one", column: FORMS[form]}
    match = HarborPacked().match(table(row))
    assert match is not None
    assert match.confidence == 0.8
    tagged = HarborPacked().match(table({"path": "x", column: None}, row, tags=frozenset({"harbor"})))
    assert tagged is not None
    assert tagged.confidence == 0.97
    opened = HarborPacked().reading(table(row), {}).opened(shown(HarborPacked().reading(table(row), {}), row), row)
    assert dict(opened.contents()) == TASK
    assert opened.card.title == "Count"


@pytest.mark.parametrize(
    "row",
    [
        {"task_binary": None},
        {"task_binary": ""},
        {"task_binary": "no base64 at all!"},
        {"task_binary": b"bytes of something"},
        {"task_binary": [1, 2, 300]},
        {"archive": tar({"data.csv": b"1"})},
        {"tar": zipped({"../evil": b""})},
        {"blob": BLOB},
        {},
    ],
)
def test_other_rows_are_not(row: Mapping[str, object]) -> None:
    assert HarborPacked().match(table(row)) is None


def test_an_archive_is_left_out_where_the_row_itself_is_shown_and_is_not_called_withheld() -> None:
    for value in FORMS.values():
        row = {"task_id": "one", "task_binary": value, "note": "fine"}
        line = shown(HarborPacked().reading(table(row), {}), row)
        assert line.value["task_binary"] == ARCHIVE
        assert line.value["note"] == "fine"
        assert line.withheld == ()


def test_roles_are_not_for_choosing() -> None:
    with pytest.raises(BadInput):
        HarborPacked().reading(table({"task_binary": BLOB}), {"blob": "task_binary"})


def test_a_reading_meets_the_contract_of_rows_that_are_opened() -> None:
    reading = HarborPacked().reading(table({"task_binary": BLOB}), {})
    assert isinstance(reading, Unpacking)
    cards = [reading.opened(shown(reading, {"task_binary": BLOB}), {"task_binary": BLOB}).card]
    summary = reading.summary(reading.facts(cards), Counts(1, {}))
    assert summary.support.framework == "harbor"
    assert len(summary.how) == 1
    assert to_json(reading.summary(whole(None), Counts(0, {})).how)


def test_files_follow_the_policy_of_a_task() -> None:
    files = {
        **TASK,
        "environment/bug.patch": b"RLX-CANARY",
        "environment/odd.bin": b"\0\1",
        "environment/a.txt": b"A\xff",
    }
    task = PackedTask(files, "one")
    for path in ("solution/solve.sh", "environment/bug.patch"):
        with pytest.raises(Forbidden):
            task.file(path)
    for path in ("nothing", "../one/task.toml", "environment", ""):
        with pytest.raises(NotFound):
            task.file(path)
    assert task.file("environment/odd.bin").data == b"\0\1"
    assert task.file("environment/a.txt").encoding_note is not None
    assert {entry.path for entry in task.entries if entry.withheld} == {"solution/solve.sh", "environment/bug.patch"}


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("a/b/one", "one"),
        ("one/", "one"),
        (7, "7"),
        ("..", ""),
        (".hidden", ""),
        ("a\0b", ""),
        (None, ""),
        ("x" * 300, ""),
    ],
)
def test_a_row_is_called_by_the_last_part_of_what_names_it(told: object, name: str) -> None:
    assert folder_name(told) == name


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.binary(max_size=600)
    | st.sampled_from(list(FORMS.values())),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.just("bytes"), inner, max_size=3)
    ),
    max_leaves=6,
)
rows = st.dictionaries(st.sampled_from([*BLOBS, "path", "task_id", "id", "name", "x"]), values, max_size=5)


@given(st.lists(rows, max_size=3), rows)
def test_no_row_makes_it_raise(sample: list[dict[str, object]], row: dict[str, object]) -> None:
    processor, seen = HarborPacked(), table(*sample)
    processor.match(seen)
    reading = processor.reading(seen, {})
    line = shown(reading, row)
    assert all(not isinstance(line.value.get(column), list | dict) for column in BLOBS if column in seen.columns)
    cards = [reading.card(line)]
    assert to_json(reading.view(line).glance) is not None
    with suppress(RefusedArchive):
        opened = reading.opened(line, row)
        cards.append(opened.card)
        page = str(to_json(opened.view.sections)) + str(to_json(opened.card))
        assert "RLX-CANARY" not in page
    reading.summary(reading.facts(cards), Counts(len(cards), {}))


@given(
    st.dictionaries(
        st.sampled_from(
            [*TASK, "task.toml", "environment/data.jsonl", "environment/x.parquet", "a.zip", "tests/x.json"]
        ),
        st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
        max_size=6,
    )
)
def test_no_files_make_a_task_raise(files: dict[str, bytes]) -> None:
    task = PackedTask({"task.toml": b"", **files}, "one")
    assert to_json(task.view.sections) is not None
    assert task.card.search is not None
    for path in files:
        with suppress(Forbidden):
            blob = task.file(path)
            assert (blob.text is None) != (blob.data is None)
