"""Any table of prompts: columns play the roles their names and values suggest, and a visitor may correct them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.formats.processors.base import Correctable
from rlx.formats.processors.prompts import Prompts
from rlx.formats.processors.prompts.preambles import own_words, preambles, said
from rlx.formats.processors.prompts.roles import ROLES
from rlx.ids import EnvKey
from rlx.model import Messages, Note, Prompt, Steps
from rlx.texts import catalog, words
from tests.formats.processors.rowwise import HOSTILE, read, table_of

PREAMBLE = "You are a careful solver. Think step by step and give the answer only.\n"
SUMS = [
    {"qid": n, "question": f"{PREAMBLE}How many are {n} and {n}?", "answer": f"RLX-CANARY-SUM-{n}", "level": "easy"}
    for n in range(5)
]
COLUMNS = st.dictionaries(
    st.sampled_from(["prompt", "question", "answer", "messages", "info", "tests", "id", "title", "", "x.y", "\ud800"]),
    HOSTILE,
    max_size=6,
)


def roles(rows: list[dict[str, object]]) -> dict[str, str]:
    return dict(Prompts().reading(table_of(rows), {}).roles)


def test_every_table_is_read_with_little_confidence_and_says_by_what_column() -> None:
    match = Prompts().match(table_of(SUMS))
    assert match.confidence == 0.1
    assert words(match.evidence) == "The column question is named like a task."
    assert (
        words(Prompts().match(table_of([{"n": 1}])).evidence) == "It is a table, and no column of it reads like a task."
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"task_id": "H/0", "prompt": "def add(a, b):", "canonical_solution": "x", "test": "y"}, ("prompt", "test")),
        ({"text": "Write a function.", "code": "def f()", "task_id": 11, "test_list": ["a"]}, ("text", "test_list")),
        ({"invocation": "List all the files", "cmd": "ls"}, ("invocation", "cmd")),
        ({"input": [{"role": "user", "content": "What is this?"}], "target": "a claim"}, ("input", "target")),
        ({"index": 1, "query": "Write an outline of a paper.", "checklist": ["a", "b"]}, ("query", "checklist")),
        ({"user_scenario": {"instructions": "Cancel the booking."}, "evaluation_criteria": {"actions": [1]}},
         (None, "evaluation_criteria")),
        ({"meta": {"agent_instructions": "Sign up for mail."}, "task_name": "Mail"}, ("meta.agent_instructions", None)),
        ({"a": "A very long text that nobody named.", "b": "short"}, ("a", None)),
    ],
)  # fmt: skip
def test_roles_follow_names_then_values(row: dict[str, object], expected: tuple[str, str | None]) -> None:
    found = roles([row])
    assert (found.get("task"), found.get("grading")) == expected


def test_a_task_is_called_by_what_tells_it_apart() -> None:
    cards = read(Prompts(), table_of(SUMS)).cards
    assert [card.title for card in cards[:2]] == ["How many are 0 and 0?", "How many are 1 and 1?"]
    assert cards[0].facets["difficulty"] == ("easy",)
    assert cards[0].facets["graded"] == ("Reference answer",)


def test_a_preamble_is_cut_only_where_words_are_left() -> None:
    shared = preambles([f"{PREAMBLE}{n} and {n}" for n in range(3)])
    assert own_words(f"{PREAMBLE}4 and 4", shared) == "4 and 4"
    assert own_words(PREAMBLE, shared) == PREAMBLE
    assert preambles(["Something else entirely", "Another thing", "A third"]) == ()


def test_a_function_to_complete_is_called_by_what_it_says_it_does() -> None:
    assert said('import os\n\ndef f(x):\n    """ Add one to x.\n    >>> f(1)\n    2\n    """\n') == "Add one to x."
    assert said("Define a function.") == "Define a function."


def test_a_row_shows_its_task_and_names_what_is_withheld() -> None:
    found = read(Prompts(), table_of(SUMS))
    blocks = {section.id: section.blocks for section in found.view().sections}
    assert isinstance(blocks["prompt"][0], Prompt)
    assert blocks["prompt"][0].text == SUMS[0]["question"]
    assert "Withheld: `answer`" in found.page()
    assert "RLX-CANARY" not in found.shown()


def test_of_a_conversation_the_last_turn_of_the_model_is_withheld() -> None:
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Name a colour."},
        {"role": "assistant", "content": "RLX-CANARY-COLOUR-1"},
    ]
    found = read(Prompts(), table_of([{"messages": talk}]))
    block = found.view().sections[0].blocks[0]
    assert isinstance(block, Messages)
    assert [item.role for item in block.items] == ["system", "user"]
    assert "a reply that is withheld" in found.page()
    roles = dict(found.reading.roles) if isinstance(found.reading, Correctable) else {}
    assert (roles["task"], roles["answer"]) == ("messages", "messages")
    again = read(Prompts(), found.table, roles)
    assert again.page() == found.page()
    assert found.cards[0].title == "Name a colour."
    assert "RLX-CANARY" not in found.shown()


def test_a_system_prompt_stands_before_the_task() -> None:
    block = read(Prompts(), table_of([{"system_prompt": "Be brief.", "prompt": "Name a colour."}])).view().sections[0]
    assert isinstance(block.blocks[0], Messages)
    assert [(item.role, item.text) for item in block.blocks[0].items] == [
        ("system", "Be brief."),
        ("user", "Name a colour."),
    ]


def test_what_sets_a_puzzle_up_is_withheld_where_it_tells_the_answer() -> None:
    name = "RLX-CANARY-FILE-1"
    rows: list[dict[str, object]] = [
        {"description": "Which file grows?", "start": f"touch {name}", "evaluation": {"match": name}}
    ]
    found = read(Prompts(), table_of(rows))
    assert "RLX-CANARY" not in found.shown()
    assert roles(rows) == {
        "task": "description", "grading": "evaluation", "environment": "start", "answer": "evaluation.match"
    }  # fmt: skip
    assert "What sets it up is withheld" in found.page()
    assert read(Prompts(), table_of(rows), {"environment": "start"}).shown() == found.shown()
    for role in ("task", "title", "context"):
        with pytest.raises(BadInput):
            Prompts().reading(table_of(rows), {role: "start"})


CHOICES = ("the left one", "the right one", "neither of them")


@settings(max_examples=20)
@given(right=st.lists(st.sampled_from(CHOICES), min_size=1, max_size=6), role=st.sampled_from(ROLES))
def test_no_role_of_a_column_tells_whether_it_is_the_answer(right: list[str], role: str) -> None:
    named = dict(zip(("first", "second", "third"), CHOICES, strict=True))
    tables = [
        table_of([{"question": "Which of the three is it?", **named, "answer": one} for one in answers])
        for answers in (right, ["something else"] * len(right))
    ]
    for roles in ({"environment": "third"}, {role: "third"}, {"environment": "third", "context": "first"}):
        found = []
        for table in tables:
            try:
                found.append(read(Prompts(), table, roles).shown())
            except BadInput as error:
                found.append(error.message)
        assert found[0] == found[1]


def test_what_a_simulated_user_is_told_is_nothing_that_the_agent_gets() -> None:
    told = {"task_instructions": "Insist on a refund.", "reason_for_call": "You want to cancel the booking."}
    rows = [
        {"user_scenario": {"persona": None, "instructions": {**told, "domain": "air"}}, "description": {"notes": "x"}}
    ]
    found = read(Prompts(), table_of(rows))
    blocks = {section.id: section.blocks for section in found.view().sections}
    assert [words(block.text) for block in blocks["prompt"] if isinstance(block, Note)] == [
        "No text of the row is given to the agent: it talks with a simulated user, who is told what stands below."
    ]
    assert len(blocks["prompt"]) == 1
    assert [block.text for block in blocks["user"] if isinstance(block, Prompt)] == [*told.values(), "air"]
    assert found.cards[0].title == "You want to cancel the booking."
    assert "6 words" in found.page()
    assert "metadata" not in blocks


@pytest.mark.parametrize(
    ("row", "repo", "sentence"),
    [
        ({"prompt": "def add(a, b):", "canonical_solution": "RLX-CANARY-1", "test": "RLX-CANARY-2"}, "rows",
         "The program in test scores an answer."),
        ({"question": "How many are one and one?", "answer": "RLX-CANARY-3"}, "gsm8k",
         "The answer is compared with what answer holds, exactly."),
    ],
)  # fmt: skip
def test_what_scores_an_answer_is_told_alike_wherever_it_is_told(
    row: dict[str, object], repo: str, sentence: str
) -> None:
    table = replace(table_of([row]), key=EnvKey("dataset", "acme", repo))
    found = read(Prompts(), table)
    steps = [block for section in found.view().sections for block in section.blocks if isinstance(block, Steps)]
    assert words(steps[0].items[0]) == sentence
    assert words(found.view().support.reward) == sentence
    assert words(found.summary().support.reward) == sentence
    assert "is not in the table" not in found.shown()
    assert "RLX-CANARY" not in found.shown()


def test_roles_are_offered_and_corrected() -> None:
    rows = [{"prompt": "The first text of these", "other": "The second text of these", "secretly": "RLX-CANARY-NOTE-1"}]
    table = table_of(rows)
    reading = Prompts().reading(table, {"task": "other"})
    assert reading.roles["task"] == "other"
    assert set(reading.offered["task"]) == {"prompt", "other", "secretly"}
    assert "RLX-CANARY" not in read(Prompts(), table, {"answer": "secretly"}).shown()
    assert "RLX-CANARY" in read(Prompts(), table).shown()


@pytest.mark.parametrize(
    "wrong",
    [{"colour": "prompt"}, {"task": "nowhere"}, {"task": "answer"}, {"title": "answer"}, {"context": "info.solution"},
     {"task": "prompt", "answer": "prompt"}, {"environment": "answer"}],
)  # fmt: skip
def test_what_is_no_role_no_column_or_an_answer_is_refused(wrong: dict[str, str]) -> None:
    table = table_of([{"prompt": "Add one and one.", "answer": "2", "info": {"solution": "two"}}])
    with pytest.raises(BadInput):
        Prompts().reading(table, wrong)


def test_rows_of_an_object_are_called_by_their_keys() -> None:
    table = table_of([{"": "first", "prompt": "Add one and one."}, {"": "second", "prompt": "Add two and two."}])
    assert Prompts().reading(table, {}).roles["id"] == ""


def test_the_fixtures_of_plain_tables_show_no_answer(fixture_hub: Path) -> None:
    folder = fixture_hub / "datasets" / "acme" / "rows-text"
    for path in [*folder.glob("*.jsonl"), *folder.glob("*/*.jsonl")]:
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
        assert "RLX-CANARY" not in read(Prompts(), table_of(rows[:20])).shown()


@given(st.lists(COLUMNS, max_size=4), st.sets(st.sampled_from(["task", "id", "title", "answer", "grading", "nothing"])))
def test_no_rows_break_it(rows: list[dict[str, object]], asked: set[str]) -> None:
    table = table_of(rows)
    assert Prompts().match(table).confidence == 0.1
    assert read(Prompts(), table).shown()
    for role in asked:
        try:
            assert read(Prompts(), table, {role: "prompt"}).shown()
        except BadInput:
            assert role == "nothing" or "prompt" not in table.columns or role != "grading"


def test_every_text_is_there_in_every_language() -> None:
    english, korean = catalog("en"), catalog("ko")
    assert {key for key in english if key.startswith("prompts.") and not key.endswith("_one")} == {
        key for key in korean if key.startswith("prompts.")
    }
