"""The Markdown of a task: what matters first, links that lead back, what is withheld named with its place."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import name, prose
from rlx.answers.shown import Withheld
from rlx.model import Code, Note, Prompt, RunOption, Section, Setting, Settings, Task
from rlx.texts import say
from rlx.twins.blocks import block_markdown
from rlx.twins.held import by_file
from rlx.twins.parts import Addresses
from rlx.twins.tasks import task_markdown
from rlx.twins.ways import ways
from tests.toy import MAIN, ToyEnvironment

HERE = Addresses("https://explorer.example")
WHY = say("web.withheld_why")
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)


async def toy() -> Task:
    return await ToyEnvironment(MAIN).task("plain")


def option(label: str, **changes: Any) -> RunOption:
    return replace(RunOption("toy", label, name(label), ok=False, reason=name("No.")), **changes)


@pytest.mark.anyio
async def test_links_lead_to_twins_and_only_where_a_site_is_named() -> None:
    task = await toy()
    linked = task_markdown(task, MAIN, at=HERE)
    for url in ("/d/toy/main", "/t/toy/main/plain", "/t/toy/main", "/t/toy/main/tasks/with%20space"):
        assert f"(https://explorer.example{url}?format=md)" in linked
    assert "https://" not in task_markdown(task, MAIN).partition("## ")[0]


@pytest.mark.anyio
async def test_links_stay_at_the_revision_that_is_read() -> None:
    told = task_markdown(await toy(), MAIN, at=Addresses("", "v1/x"))
    assert "(/d/toy/main?revision=v1%2Fx&format=md)" in told


@pytest.mark.anyio
async def test_the_brief_is_left_out_where_the_prompt_begins_with_it() -> None:
    task = await toy()
    assert "\nA toy.\n" in task_markdown(task, MAIN)
    said = replace(task, sections=(Section("prompt", name("Prompt"), (Prompt(prose("# A *toy*.\n\nMore.\n")),)),))
    assert "\nA toy.\n" not in task_markdown(said, MAIN)


@pytest.mark.anyio
async def test_a_problem_with_a_section_of_its_own_is_told_there_alone() -> None:
    task = replace(await toy(), problem=name("It is broken."))
    assert task_markdown(task, MAIN).count("It is broken.") == 1
    own = Section("problem", name("Problem"), (Note(name("It is broken.")),))
    assert task_markdown(replace(task, sections=(own, *task.sections)), MAIN).count("It is broken.") == 1


def test_what_is_withheld_in_one_file_for_one_reason_is_told_together() -> None:
    other = say("web.file_withheld")
    items = (
        Withheld("a.py: line 3", WHY),
        Withheld("a.py: lines 7-9", WHY),
        Withheld("a.py: line 12", other),
        Withheld("solution/ (4)", WHY),
        Withheld("task.toml: env.KEY", WHY),
    )
    assert [(held.where, held.lines) for held in by_file(items)] == [
        ("a.py", ((3, 3), (7, 9))),
        ("a.py", ((12, 12),)),
        ("solution/ (4)", ()),
        ("task.toml: env.KEY", ()),
    ]


@given(st.lists(st.tuples(TEXT, st.integers(1, 10**6), st.integers(0, 50)), max_size=20))
def test_no_place_is_lost_when_places_are_told_together(places: list[tuple[str, int, int]]) -> None:
    items = [Withheld(f"{path}: lines {first}-{first + more}", WHY) for path, first, more in places]
    told = [(held.where, first, last) for held in by_file(items) for first, last in held.lines]
    named = [(path, first, first + more) for path, first, more in places if path]
    assert [place for place in told if place[0]] == named


@given(st.lists(st.sampled_from(["ok", "no", "other"]), max_size=8))
def test_options_are_grouped_by_their_answer_and_none_is_lost(answers: list[str]) -> None:
    options = [option(str(at), ok=answer == "ok", reason=name(answer)) for at, answer in enumerate(answers)]
    groups = ways(options)
    assert sorted(item.sandbox or "" for group in groups for item in group.options) == sorted(
        item.sandbox or "" for item in options
    )
    assert len(groups) == len(set(answers))
    for group in groups:
        assert len({(item.ok, item.reason) for item in group.options}) == 1


@pytest.mark.anyio
async def test_a_way_tells_its_own_notes() -> None:
    same = replace(await toy(), run_options=(option("A"), option("B")))
    assert "- A, B: not here. No.\n" in task_markdown(same, MAIN)
    apart = replace(same, run_options=(option("A", notes=(name("Builds."),)), option("B", warnings=(name("Slow."),))))
    assert "- A, B: not here. No.\n  - A: Builds.\n  - B: Slow.\n" in task_markdown(apart, MAIN)


def test_a_long_stretch_that_is_withheld_is_one_line() -> None:
    text = "a = ‹withheld›\n" + "⋯\n" * 4 + "b = ‹withheld›\n⋯\nc\n"
    told = block_markdown(Code(prose(text), name("x.py"), masked=(1, 2, 3, 4, 5, 6, 7)), "en")
    assert "`x.py` · answers withheld on 7 lines: 1–7" in told
    assert "```python\na = ‹withheld›\n⋯ 4 more lines are withheld\nb = ‹withheld›\n⋯\nc\n```" in told


def test_dots_of_a_files_own_are_kept() -> None:
    assert block_markdown(Code(prose("⋯\n⋯\n")), "en") == "```\n⋯\n⋯\n```"


def test_lines_of_an_excerpt_are_counted_from_its_first() -> None:
    told = block_markdown(Code(prose("x\n‹withheld›\n"), name("t.toml"), masked=(2,), first_line=10), "en")
    assert "an answer withheld on line 11" in told


def test_settings_are_told_beside_what_is_written() -> None:
    items = (
        Setting(name("a.b"), name("900"), name("15 minutes")),
        Setting(name("c"), name("x")),
        Setting(name("d"), None, name("open")),
    )
    assert block_markdown(Settings(items), "en").split("\n") == [
        "- `a.b`: `900` (in force: 15 minutes)",
        "- `c`: `x`",
        "- `d`: absent (in force: open)",
    ]


@pytest.mark.anyio
async def test_every_heading_of_a_task_is_its_own() -> None:
    told = task_markdown(await toy(), MAIN, at=HERE)
    headings = re.findall(
        r"^## .+$", re.sub(r"^(`{3,}).*?^\1$", "", told, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    assert headings[0] == "## Prompt"
    assert headings[-1] == "## Withheld"
    assert len(headings) == len(set(headings))
