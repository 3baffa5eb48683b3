"""A task's files in two revisions: what is told, and that a diff holds nothing that was masked."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import Masked, file_text
from rlx.answers.stored import stored, stored_json
from rlx.index.changes import MAX_DIFF, compare_task
from rlx.index.records import TaskRecord
from rlx.model import FileEntry, TaskCard

texts = st.dictionaries(st.sampled_from("abcd"), st.text("xy\n", max_size=12), max_size=4)


def record(files: Mapping[str, str], *, kept: bool = True) -> TaskRecord:
    card = TaskCard("t", stored("t"), stored(""), {})
    entries = tuple(FileEntry(path, len(text)) for path, text in sorted(files.items()))
    held = {path: Masked(stored(text)) for path, text in files.items()} if kept else {}
    return TaskRecord(card, "", stored_json({}), held, entries)


@given(texts, texts)
def test_every_file_that_differs_is_named_once_and_no_other(old: dict[str, str], new: dict[str, str]) -> None:
    found = {item.path: item.kind for item in compare_task("t", record(old), record(new)).files}
    expected = dict.fromkeys(new.keys() - old.keys(), "added") | dict.fromkeys(old.keys() - new.keys(), "removed")
    expected |= {path: "changed" for path in old.keys() & new.keys() if old[path] != new[path]}
    assert found == expected


def test_every_file_of_a_task_that_one_revision_lacks_is_added_or_removed() -> None:
    task = record({"a": "1", "b": "2"})
    assert [(item.path, item.kind, item.diff) for item in compare_task("t", None, task).files] == [
        ("a", "added", None),
        ("b", "added", None),
    ]
    assert {item.kind for item in compare_task("t", task, None).files} == {"removed"}


def test_files_whose_contents_are_not_kept_are_compared_by_size() -> None:
    found = compare_task("t", record({"a": "1", "b": "22"}, kept=False), record({"a": "2", "b": "3"}, kept=False))
    assert [(item.path, item.diff) for item in found.files] == [("b", None)]


def test_a_long_diff_is_cut_and_says_so() -> None:
    old = "\n".join(f"old {n}" for n in range(900))
    new = "\n".join(f"new {n}" for n in range(900))
    (change,) = compare_task("t", record({"a": old}), record({"a": new})).files
    assert change.cut
    assert len(str(change.diff).splitlines()) == MAX_DIFF


def test_a_diff_of_masked_texts_holds_no_answer() -> None:
    def masked(value: str, name: str) -> TaskRecord:
        data = f'def test_{name}():\n    expected = "{value}"\n    assert run() == expected\n'.encode()
        text = file_text("tests/test_outputs.py", data, task_root="")
        assert isinstance(text, Masked)
        made = record({})
        entry = FileEntry("tests/test_outputs.py", len(data))
        return TaskRecord(made.card, "", made.settings, {entry.path: text}, (entry,))

    (change,) = compare_task("t", masked("FIRST-SECRET", "a"), masked("SECOND-SECRET", "b")).files
    assert "test_b" in str(change.diff)
    assert "SECRET" not in str(change.diff)
