"""The second pass over a dataset, and its manifests."""

from collections.abc import Callable
from typing import Any

import pytest

from rlx.formats.harbor.dataset import absent, manifests
from rlx.formats.harbor.reader import HarborReader
from rlx.index.records import Counts, Finished
from rlx.texts import Say, words

type Files = dict[str, str | bytes]


def tasks(simple: Files, *folders: str, **instructions: str) -> Files:
    files: Files = {}
    for folder in folders:
        files |= {f"{folder}/{path}": data for path, data in simple.items()}
        files[f"{folder}/instruction.md"] = instructions.get(folder.rpartition("/")[2], f"Do what {folder} says.")
    return files


def test_a_paragraph_that_many_share_is_no_brief(simple: Files, finish: Callable[[Files], Finished]) -> None:
    shared = "You are an expert who is careful and thorough in all things."
    texts = {name: f"{shared}\n\nSolve puzzle {name}." for name in ("a", "b", "c", "d")}
    found = finish(tasks(simple, "t/a", "t/b", "t/c", "t/d", **texts))
    assert [str(card.brief) for card in found.cards] == [f"Solve puzzle {name}." for name in "abcd"]


def test_a_lonely_task_keeps_its_first_paragraph(simple: Files, finish: Callable[[Files], Finished]) -> None:
    (card,) = finish(tasks(simple, "a")).cards
    assert card.brief == "Do what a says."


def test_namesakes_are_called_by_their_path(simple: Files, finish: Callable[[Files], Finished]) -> None:
    found = finish(tasks(simple, "adapters/x/template", "adapters/y/template", "adapters/z/other"))
    assert [str(card.title) for card in found.cards] == ["x/template", "y/template", "other"]


def test_groups_are_a_facet_and_subsets_when_they_gather_tasks(
    simple: Files, finish: Callable[[Files], Finished]
) -> None:
    grouped = finish(tasks(simple, "tasks/math/a", "tasks/math/b", "tasks/text/c"))
    assert grouped.subsets
    assert "group" in grouped.facet_order
    assert grouped.tile == "group"
    apart = finish(tasks(simple, "x/a", "y/b", "z/c"))
    assert not apart.subsets


def test_tasks_that_a_manifest_lists_and_nobody_has_are_said(
    simple: Files, finish: Callable[[Files], Finished]
) -> None:
    files = tasks(simple, "tasks/a", "tasks/b")
    files["dataset.toml"] = (
        '[dataset]\nname = "org/set"\nauthors = [{ name = "Ada" }]\n'
        '[[tasks]]\nname = "org/a"\ndigest = "sha256:0"\n[[tasks]]\nname = "org/elsewhere"\n'
    )
    found = finish(files)
    header: Any = found.header.value
    (manifest,) = header["manifests"]
    assert (manifest["name"], manifest["listed"], manifest["absent"]) == ("org/set", 2, 1)
    assert manifest["missing"] == ["org/elsewhere"]


@pytest.mark.parametrize(
    ("data", "listed"),
    [
        (b'[{"name": "x", "tasks": [{"name": "a", "path": "tasks/a"}, {"name": "b"}]}]', ("tasks/a", "b")),
        (b'{"git_url": "u", "recipes": [{"name": "a", "path": "recipes/a"}]}', ("recipes/a",)),
        (b"[1, null, []]", None),
        (b"[" * 100_000, ()),
        (b"not json", ()),
    ],
)
def test_registries_of_any_shape_are_read(data: bytes, listed: tuple[str, ...] | None) -> None:
    found = manifests({"registry.json": data})
    assert [item.listed for item in found] == ([] if listed is None else [listed])


def test_a_manifest_that_does_not_parse_says_so() -> None:
    (found,) = manifests({"dataset.toml": b"a = {"})
    assert found.problem


def test_listed_tasks_are_matched_by_folder_name_or_path() -> None:
    (found,) = manifests({"registry.json": b'[{"tasks": [{"path": "tasks/a"}, {"name": "org/b"}, {"name": "c"}]}]'})
    assert absent(found, {"tasks/a", "deep/b"}) == ("c",)


def test_the_summary_names_problems_and_says_how_it_is_read(simple: Files, finish: Callable[[Files], Finished]) -> None:
    files = tasks(simple, "t/a", "t/b", "t/c")
    files["t/a/task.toml"] = "x = {{ y }}"
    del files["t/b/instruction.md"]
    view = HarborReader().summary_view(finish(files).header, Counts(3, {}))
    problems = next(section for section in view.sections if section.id == "problems")
    said = [words(block.text) for block in problems.blocks if hasattr(block, "text") and isinstance(block.text, Say)]
    assert said == ["One task has a task.toml that cannot be parsed.", "One task cannot be run by Harbor as it is."]
    assert words(view.how[0]) == "3 folders hold a task.toml, t/a the first."


def test_withheld_places_are_counted_over_all_tasks(simple: Files, finish: Callable[[Files], Finished]) -> None:
    found = finish(tasks(simple, "t/a", "t/b"))
    assert "solution/ × 2" in {item.where for item in found.withheld}
