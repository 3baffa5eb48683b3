"""An environment of rows keeps the contract at any size, and never shows more than its processor's policy."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest

from rlx.answers import DENY, Policy, ShownJson, name, prose, record
from rlx.errors import BadInput, NotFound
from rlx.formats.processors.base import Match, Processor, Reading, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.support import support
from rlx.formats.rows.environment import RowsEnvironment, reader_version
from rlx.formats.rows.row_index import FIRST_ROWS, quotas
from rlx.formats.rows.splits import find_splits
from rlx.hub.repo import Repo
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Blob, Listing, Prompt, Section, Support, TaskQuery
from rlx.texts import say, words
from tests.formats.rows.conftest import KEY, Hub

pytestmark = pytest.mark.anyio

type Make = Callable[[Mapping[str, bytes]], Hub]
SECRET = "the answer nobody may see"


@dataclass(frozen=True)
class ToyReading:
    roles: Roles
    offered: Mapping[str, Sequence[str]]
    policy: Policy = DENY
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        text = str(row.value.get(self.roles["task"], ""))
        kind = row.value.get("kind")
        return RowCard(name(text), name(""), {"category": (name(str(kind)),)} if kind else {}, search=text)

    def view(self, row: ShownRow) -> TaskView:
        text = prose(str(row.value.get(self.roles["task"], "")))
        section = Section("prompt", say("rows.section.prompt"), (Prompt(text),))
        return TaskView((section,), (), (), _support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        return SummaryView((), (), _support())


def _support() -> Support:
    known = say("rows.support.unknown")
    return support("rows", "Toy", lifecycle=known, reward=known, evidence=known)


class Toy:
    """Reads any table; its task is the column `prompt`."""

    name = "toy"
    framework = "rows"
    version = 1

    def match(self, table: Table) -> Match | None:
        return Match(0.1, say("rows.support.browse"))

    def reading(self, table: Table, roles: Roles) -> Reading:
        for column in roles.values():
            if column not in table.columns:
                raise BadInput(f"No column {column!r}.")
        return ToyReading({"task": "prompt", **roles}, {"task": table.columns})


class Secretive(Toy):
    """Shows of a row its kind alone."""

    def reading(self, table: Table, roles: Roles) -> Reading:
        return ToyReading({"task": "kind"}, {}, Policy("kind", columns=frozenset({"", "kind"})))


@asynccontextmanager
async def opened(
    hub: Hub, *, background: bool = False, processors: Sequence[Processor] = (Toy(),)
) -> AsyncIterator[RowsEnvironment]:
    async with hub.opened(background=background) as client:
        repo = Repo(client, await client.info(KEY, token=False), False)
        environment = RowsEnvironment(repo, processors, await find_splits(repo))
        await environment.begin()
        yield environment


def lines(count: int, first: int = 0) -> bytes:
    rows = (
        {"prompt": f"Task number {n}", "kind": "odd" if n % 2 else "even", "answer": f"{SECRET} {n}"}
        for n in range(first, first + count)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


async def test_rows_of_every_split_are_tasks_with_refs_that_name_them(hub: Make) -> None:
    async with opened(hub({"train.jsonl": lines(3), "test.jsonl": lines(2)})) as environment:
        page = await environment.tasks(TaskQuery())
        assert [card.ref for card in page.items] == ["train/0", "train/1", "train/2", "test/0", "test/1"]
        summary = await environment.summary()
        assert (summary.tasks, [subset.id for subset in summary.subsets]) == (5, ["train", "test"])
        task = await environment.task("test/0")
        assert (task.previous, task.next, task.position, task.total) == ("train/2", "test/1", 3, 5)
        assert await environment.canonical("/test/00/") == "test/0"
        only = await environment.tasks(TaskQuery(subset="test", limit=1, offset=1))
        assert ([card.ref for card in only.items], only.total) == (["test/1"], 2)


@pytest.mark.parametrize("ref", ["train/3", "train/-1", "train/x", "other/0", "train", "", "train/٣", f"train/{9**30}"])
async def test_a_ref_of_no_row_is_not_found(hub: Make, ref: str) -> None:
    async with opened(hub({"train.jsonl": lines(3)})) as environment:
        with pytest.raises(NotFound):
            await environment.task(ref)


async def test_answers_are_neither_shown_nor_searched_nor_counted(hub: Make) -> None:
    async with opened(hub({"train.jsonl": lines(4)})) as environment:
        assert (await environment.tasks(TaskQuery(text="nobody may see"))).total == 0
        assert (await environment.tasks(TaskQuery(text="number 2"))).total == 1
        blob = await environment.files("train/2", "row.json")
        assert isinstance(blob, Blob)
        assert blob.text is not None
        assert SECRET not in blob.text
        assert "Task number 2" in blob.text
        assert blob.masked
        told = await environment.task("train/2")
        assert any("answer" in item.where for item in told.withheld)
        assert SECRET not in repr(told) + repr(await environment.summary())
        unknown = await environment.tasks(TaskQuery(filters={"meta:answer": (f"{SECRET} 1",)}))
        assert (unknown.total, [item.key for item in unknown.unknown]) == (0, ["meta:answer"])


async def test_a_table_longer_than_what_is_looked_at_first_is_listed_whole_and_says_what_is_searched(hub: Make) -> None:
    total = FIRST_ROWS + 50
    async with opened(hub({"train.jsonl": lines(total)})) as environment:
        page = await environment.tasks(TaskQuery(offset=total - 2, limit=10))
        assert ([card.ref for card in page.items], page.total) == ([f"train/{total - 2}", f"train/{total - 1}"], total)
        assert page.note is not None
        assert str(FIRST_ROWS) in words(page.note)
        found = await environment.tasks(TaskQuery(filters={"category": ("odd",)}))
        assert (found.total, found.note) == (FIRST_ROWS // 2, page.note)
        assert [value.n for facet in page.facets for value in facet.values] == [FIRST_ROWS // 2] * 2


async def test_the_rest_is_looked_at_behind_the_requests(hub: Make) -> None:
    total = FIRST_ROWS + 50
    async with opened(hub({"train.jsonl": lines(total)}), background=True) as environment:
        with anyio.fail_after(60):
            await environment.filled()
        found = await environment.tasks(TaskQuery(filters={"category": ("odd",)}))
        assert (found.total, found.note) == (total // 2, None)
        assert (await environment.summary()).progress is None


async def test_a_broken_row_is_a_task_that_says_so(hub: Make) -> None:
    data = lines(2) + b'{"prompt": "cut\n' + lines(1, 9)
    async with opened(hub({"train.jsonl": data})) as environment:
        cards = (await environment.tasks(TaskQuery())).items
        assert [card.problem is not None for card in cards] == [False, False, True, False]
        task = await environment.task("train/2")
        assert task.problem is not None
        assert [section.id for section in task.sections] == ["odd"]
        assert (await environment.task("train/3")).title == "Task number 9"


async def test_roles_of_columns_are_corrected_for_one_reader_alone(hub: Make) -> None:
    async with opened(hub({"train.jsonl": lines(3)})) as environment:
        other = await environment.corrected({"task": "kind"})
        assert (await other.task("train/1")).title == "odd"
        assert (await environment.task("train/1")).title == "Task number 1"
        assert [(role.role, role.column) for role in (await other.summary()).roles] == [("task", "kind")]
        with pytest.raises(BadInput):
            await environment.corrected({"task": "nothing"})


async def test_media_in_a_row_are_files_of_it_unless_they_are_withheld(hub: Make) -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" + "A" * 600
    row = {"answer": picture, "prompt": "What is it?", "image": picture}
    async with opened(hub({"train.jsonl": json.dumps(row).encode()})) as environment:
        listing = await environment.files("train/0")
        assert isinstance(listing, Listing)
        (folder, file) = listing.entries
        assert (folder.path, file.path) == ("media", "row.json")
        inside = await environment.files("train/0", "media")
        assert isinstance(inside, Listing)
        assert [entry.path for entry in inside.entries] == ["media/1.png"]
        blob = await environment.files("train/0", "media/1.png")
        assert isinstance(blob, Blob)
        assert blob.data is not None
        assert blob.data.startswith(b"\x89PNG")
        with pytest.raises(NotFound):
            await environment.files("train/0", "media/0.png")


async def test_rows_that_hold_no_files_become_no_folder(hub: Make, tmp_path_factory: pytest.TempPathFactory) -> None:
    async with opened(hub({"train.jsonl": lines(1)})) as environment:
        with pytest.raises(BadInput, match="no files"):
            await environment.materialize("train/0", tmp_path_factory.mktemp("out"))


def test_short_tables_leave_what_they_do_not_need_to_the_others() -> None:
    assert quotas([10, 1000, 1000], 300) == [10, 145, 145]
    assert quotas([5, 5], 300) == [5, 5]
    assert quotas([], 300) == []


@pytest.mark.parametrize("path", ["answers.jsonl", "solutions/train.jsonl", "data/gold/train-00000-of-00001.jsonl"])
async def test_rows_of_a_file_that_is_withheld_are_not_read(hub: Make, path: str) -> None:
    card = f"---\nconfigs:\n- config_name: default\n  data_files: {path}\n---\n".encode()
    async with opened(hub({path: lines(3), "README.md": card})) as environment:
        summary = await environment.summary()
        assert summary.tasks is None
        assert summary.why is not None
        assert path in repr(summary.sections)
        with pytest.raises(NotFound):
            await environment.task("train/0")


async def test_a_file_of_rows_is_shown_under_the_policy_of_its_rows_too(hub: Make) -> None:
    async with opened(hub({"train.jsonl": lines(2)}), processors=(Secretive(),)) as environment:
        blob = await environment.files(None, "train.jsonl")
        assert isinstance(blob, Blob)
        assert blob.text is not None
        assert "Task number" not in blob.text
        assert SECRET not in blob.text
        assert "odd" in blob.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("train.json", [{"prompt": "Task number 1", "kind": "odd"}] * 3),
        ("train.json", {"data": [{"prompt": "Task number 1", "kind": "odd"}] * 3}),
        ("train.json", {key: {"prompt": "Task number 1", "kind": "odd"} for key in "abc"}),
    ],
    ids=["list", "inside", "map"],
)
async def test_a_policy_holds_wherever_a_document_keeps_its_rows(hub: Make, path: str, told: object) -> None:
    async with opened(hub({path: json.dumps(told).encode()}), processors=(Secretive(),)) as environment:
        blob = await environment.files("train/1", "row.json")
        assert isinstance(blob, Blob)
        assert blob.text is not None
        assert "Task number" not in blob.text
        assert "odd" in blob.text
        whole = await environment.files(None, path)
        assert isinstance(whole, Blob)
        assert whole.text is not None
        assert "Task number" not in whole.text
        assert "odd" in whole.text


async def test_names_of_splits_are_spelled_so_that_refs_lead_to_them(hub: Make) -> None:
    config = 'config_name: "/a\\n\\x01b/"'
    card = f'---\nconfigs:\n- {config}\n  data_files:\n  - split: "\\ttrain/"\n    path: train.jsonl\n---\n'.encode()
    async with opened(hub({"train.jsonl": lines(2), "README.md": card})) as environment:
        refs = [card.ref for card in (await environment.tasks(TaskQuery())).items]
        assert refs == ["ab/train/0", "ab/train/1"]
        assert (await environment.task(await environment.canonical(refs[1]))).ref == refs[1]


async def test_splits_that_are_opened_later_have_the_roles_too(hub: Make) -> None:
    files = {f"data/s{n:02}-00000-of-00001.jsonl": lines(2) for n in range(30)}
    async with opened(hub(files)) as environment:
        other = await environment.corrected({"task": "kind"})
        assert (await other.task("s29/1")).title == "odd"
        assert (await environment.task("s29/1")).title == "Task number 1"


async def test_rows_of_very_many_values_do_not_keep_the_environment_from_opening(hub: Make) -> None:
    heavy = [{"prompt": f"Task {n}", "x": [{"a": n, "b": n}] * 4000} for n in range(60)]
    data = "".join(json.dumps(row) + "\n" for row in heavy).encode()
    async with opened(hub({"train.jsonl": data})) as environment:
        (table,) = environment.tables
        assert 0 < len(table.table.sample) < 20
        assert (await environment.tasks(TaskQuery(offset=59))).items[0].ref == "train/59"


async def test_what_is_kept_of_rows_is_told_apart_by_who_read_them(hub: Make) -> None:
    async with opened(hub({"train.jsonl": lines(1)})) as environment:
        ours = environment.reader_version
    newer = Toy()
    newer.version = 2
    assert reader_version([Toy()]) == ours
    assert len({ours, reader_version([newer]), reader_version([Toy(), newer]), reader_version([])}) == 4
