"""Recorded rollouts: whatever framework wrote them down, all that was said is shown, and no answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.answers import MARK
from rlx.answers.rows import table_row
from rlx.errors import BadInput
from rlx.formats.conversation import turns
from rlx.formats.processors.traces import Traces
from rlx.formats.processors.traces.atif import messages, violations
from rlx.formats.processors.traces.measures import graded
from rlx.formats.rows.opening import source_of
from rlx.model import KeyValues, Note, Transcript
from rlx.texts import words
from tests.formats.processors.rowwise import HOSTILE, Read, read, shown_row, table_of


def fixture(hub: Path, *paths: str) -> Read:
    folder = hub / "datasets" / "acme" / "rows-traces"
    texts = [(folder / path).read_text() for path in paths]
    rows = [
        json.loads(text)
        for path, whole in zip(paths, texts, strict=True)
        for text in (whole.splitlines() if path.endswith("l") else [whole])
        if not path.endswith(".traj")
    ] + [json.loads(whole) for path, whole in zip(paths, texts, strict=True) if path.endswith(".traj")]
    return read(Traces(), table_of(rows, paths=paths))


def transcript(found: Read, at: int = 0) -> Transcript:
    blocks = [block for section in found.view(at).sections for block in section.blocks]
    return next(block for block in blocks if isinstance(block, Transcript))


def notes(found: Read, at: int = 0) -> list[str]:
    return [
        words(block.text) for section in found.view(at).sections for block in section.blocks if isinstance(block, Note)
    ]


CHAT = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": "Gone"}]
LONG = [*CHAT, {"role": "user", "content": "On"}, {"role": "assistant", "content": "Done"}]


@pytest.mark.parametrize(
    ("row", "confidence"),
    [
        ({"messages": CHAT, "reward": 1.0}, 0.85),
        ({"conversations": CHAT, "model": "m", "result": None}, 0.85),
        ({"messages": json.dumps(CHAT), "agent": "a"}, 0.85),
        ({"odd": LONG}, 0.5),
        ({"messages": LONG}, 0.5),
        ({"messages": CHAT}, None),
        ({"messages": CHAT[:1], "model": "m"}, None),
        ({"schema_version": "ATIF-v1.0", "steps": []}, 0.85),
        ({"steps": [{"step_id": 1, "source": "agent", "message": "a"}]}, 0.85),
        ({"trajectory": json.dumps({"schema_version": "ATIF-v1.8", "steps": []})}, 0.85),
        ({"trajectory": [{"action": "ls", "observation": "a"}], "info": {}}, 0.85),
        ({"messages": CHAT, "scores": {}, "epoch": 1, "target": "t"}, 0.85),
        ({"prompt": "p", "answer": "a"}, None),
    ],
)
def test_rollouts_are_known_by_who_speaks_and_by_what_is_told_of_them(
    row: dict[str, object], confidence: float | None
) -> None:
    match = Traces().match(table_of([row]))
    assert (match.confidence if match else None) == confidence


def test_a_chat_is_shown_whole_but_for_the_answer_wherever_it_is_said(fixture_hub: Path) -> None:
    found = fixture(fixture_hub, "data/chat.jsonl")
    first, second, picture, silent = found.cards
    assert [card.facets["outcome"] for card in found.cards] == [
        ("Solved",),
        ("Failed",),
        ("Partly solved",),
        ("Not graded",),
    ]
    assert (first.facets["model"], first.facets["agent"], first.facets["tools"]) == (
        ("org/model-x",),
        ("simple",),
        ("bash",),
    )
    assert (first.numbers["reward"], first.numbers["turns"], second.numbers["turns"]) == (1.0, 2.0, 1.0)
    assert first.of == second.of != silent.of
    assert first.title == "mend-sum"
    items = transcript(found).items
    assert [item.kind for item in items] == ["message", "message", "reasoning", "message", "call", "output", "message"]
    assert items[5].text == f"expected {MARK} and got nothing"
    assert items[6].text == f"RLX-SHOWN-TRACES-LAST-TURN: it is {MARK}."
    shown = found.shown()
    for word in ("FIRST-TURN", "REASONING", "COMMAND", "LAST-TURN", "TOOL", "ERROR"):
        assert f"RLX-SHOWN-TRACES-{word}" in shown
    assert "RLX-CANARY" not in shown
    assert "No agent speaks in this row." in notes(found, 3)
    assert picture.numbers["turns"] == 10.0


def test_a_trajectory_of_harbor_is_read_with_its_parallel_calls(fixture_hub: Path) -> None:
    found = fixture(fixture_hub, "data/atif.jsonl")
    card = found.cards[0]
    assert card.numbers == {"reward": 0.5, "tokens": 260.0, "turns": 2.0, "seconds": None, "cost": 0.75}
    assert (card.facets["outcome"], card.facets["model"], card.facets["agent"]) == (
        ("Partly solved",),
        ("org/model-y",),
        ("terminus",),
    )
    items = transcript(found).items
    assert [(item.kind, item.call_id) for item in items if item.kind in ("call", "output")] == [
        ("call", "a"),
        ("output", "a"),
        ("call", "b"),
        ("output", "b"),
    ]
    assert notes(found) == []
    assert {section.id for section in found.view().sections} == {
        "outcome",
        "transcript",
        "tools",
        "grading",
        "metadata",
    }
    assert "RLX-CANARY" not in found.shown()
    assert "RLX-SHOWN-ATIF-LAST" in found.page()


def test_where_a_trajectory_departs_from_its_format_is_told(fixture_hub: Path) -> None:
    told = notes(fixture(fixture_hub, "data/atif.jsonl"), 1)
    assert told == [
        "The trajectory names the version ATIF-v9.9, which is not known here.",
        "The trajectory does not tell which agent it is of.",
        "Steps are not numbered from 1 on: step 2 has the number 3.",
        "Steps come from sources that the format does not know: robot.",
        "One call of a tool has no result.",
        "One result answers no call.",
        "The trajectory tells 50 for total_completion_tokens, and its steps add up to 5.",
        "The trajectory tells 9 for total_steps, and its steps add up to 3.",
    ]


def test_steps_that_are_copied_do_not_count_and_a_sound_trajectory_has_no_faults() -> None:
    step: dict[str, Any] = {"source": "agent", "message": "a", "metrics": {"prompt_tokens": 10}}
    document = {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "a", "version": "1"},
        "steps": [{**step, "step_id": 1, "is_copied_context": True}, {**step, "step_id": 2}],
        "final_metrics": {"total_prompt_tokens": 10},
    }
    assert list(violations(document)) == []
    assert [item.name for item in turns(messages(document))] == ["copied", None]


def test_samples_of_inspect_are_shown_with_what_their_scorers_said(fixture_hub: Path) -> None:
    found = fixture(fixture_hub, "data/inspect.jsonl")
    assert [card.facets["outcome"] for card in found.cards] == [("Solved",), ("Failed",)]
    assert found.cards[0].numbers == {"reward": 1.0, "tokens": 15.0, "turns": 2.0, "seconds": 2.5, "cost": None}
    shown = found.shown()
    assert "RLX-CANARY" not in shown
    assert "RLX-SHOWN-INSPECT-LAST" in shown
    outcome = next(item for item in found.view().sections if item.id == "outcome").blocks[0]
    assert isinstance(outcome, KeyValues)
    assert "scores.match" in {words(row.label) for row in outcome.rows}


def test_a_log_of_inspect_is_a_table_of_its_samples(fixture_hub: Path) -> None:
    lines = (fixture_hub / "datasets/acme/rows-traces/data/inspect.jsonl").read_text().splitlines()
    log = {
        "version": 2,
        "eval": {"model": "m"},
        "samples": [json.loads(line) for line in lines],
        "reductions": [{"a": 1}],
    }
    source = source_of("logs/one.json", json.dumps(log).encode())
    assert (source.shape, source.within, source.count) == ("inside", "samples", 2)
    values = [row.value for row in source.rows(0, 2)]
    policy = Traces().reading(table_of(values), {}).policy  # type: ignore[arg-type]  # rows are objects here
    for value in values:
        masked = table_row(value, path="logs/one.json", shape="inside", within="samples", policy=policy).value.value
        assert "RLX-SHOWN-INSPECT-LAST" in json.dumps(masked)
        assert "RLX-CANARY" not in json.dumps(masked)


def test_what_swe_agent_records_is_shown_without_the_patch_that_it_ends_with(fixture_hub: Path) -> None:
    paths = ("runs/one/org__repo-1.traj", "runs/two/org__repo-1.traj")
    found = fixture(fixture_hub, *paths)
    first = found.cards[0]
    assert first.title == "org__repo-1 · one"
    assert first.brief.startswith("Sums are wrong")
    assert (first.facets["outcome"], first.numbers["tokens"], first.numbers["cost"]) == (("Not graded",), 1000.0, 0.1)
    assert found.cards[1].facets["outcome"] == ("Error",)
    items = transcript(found).items
    assert [item.role for item in items] == ["system", "user", "user", "assistant", "tool", "assistant", "tool"]
    assert (items[1].name, items[2].name) == ("demonstration", None)
    assert [item.kind for item in transcript(found, 1).items] == ["message", "call", "output"] * 2
    shown = found.shown()
    assert "RLX-CANARY" not in shown
    assert "index 1111111" not in shown
    for word in ("THOUGHT", "LISTING", "RESPONSE"):
        assert f"RLX-SHOWN-SWE-{word}" in shown


@pytest.mark.parametrize(
    ("value", "reward"),
    [
        (True, 1.0),
        (0, 0.0),
        ("PASSED", 1.0),
        ("not_resolved", 0.0),
        ("0.25", 0.25),
        ({"reward": {"value": 0.5}}, 0.5),
        ({"match": {"value": "I"}}, 0.0),
        ([0.0, 1.0], 1.0),
        ('{"score": 0.75}', 0.75),
        (MARK, None),
        ("submitted", None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_rewards_of_any_make_are_numbers(value: object, reward: float | None) -> None:
    assert graded(value) == reward


def test_columns_of_rollouts_have_no_roles_to_correct() -> None:
    with pytest.raises(BadInput):
        Traces().reading(table_of([{"messages": LONG}]), {"task": "messages"})


KEYS = st.sampled_from(
    (
        "messages",
        "steps",
        "trajectory",
        "history",
        "conversations",
        "role",
        "content",
        "source",
        "action",
        "observation",
    )
) | st.sampled_from(
    (
        "step_id",
        "message",
        "tool_calls",
        "agent",
        "info",
        "scores",
        "target",
        "final_metrics",
        "metrics",
        "reward",
        "answer",
    )
)
CELLS = st.recursive(
    HOSTILE | st.sampled_from(("assistant", "agent", "user", "ATIF-v1.5", "[{", "text that is long enough to be one")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(KEYS | st.just("schema_version"), CELLS, max_size=7), min_size=1, max_size=3))
def test_anything_is_matched_and_shown_without_an_error(rows: list[dict[str, object]]) -> None:
    table = table_of(rows, paths=("a/x.traj", "b/x.traj.json", "c/y.json"))
    Traces().match(table)
    reading = Traces().reading(table, {})
    for at, value in enumerate(rows):
        row = shown_row(reading, value, at, "a/x.traj")
        card = reading.card(row)
        assert card.title.strip()
        assert reading.view(row).sections


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE)
def test_what_was_read_one_way_may_be_shown_any_other(first: object, second: object) -> None:
    reading = Traces().reading(table_of([{"messages": LONG, "reward": 1}]), {})
    for value in ({"messages": first, "steps": second}, {"trajectory": second, "tools": first}, first):
        reading.view(shown_row(reading, value if isinstance(value, dict) else {"value": value}))


def swe_agent(issue: str, submission: str, *said: str) -> dict[str, Any]:
    asked = (
        f"We're currently solving the following issue.\nISSUE:\n{issue}\n\nINSTRUCTIONS:\nNow, solve it on your own."
    )
    turns_ = [{"role": "user", "agent": "main", "content": asked}]
    turns_ += [{"role": "assistant", "agent": "main", "content": text} for text in said]
    return {"history": turns_, "trajectory": [], "info": {"exit_status": "submitted", "submission": submission}}


def test_attempts_of_swe_agent_are_grouped_by_their_files_and_called_by_their_issue() -> None:
    issue = "TimeDelta serialization is off\nIt rounds down where it should round to the nearest number."
    rows = [swe_agent(issue, "x", "I look.") for _ in range(4)]
    paths = [f"runs/replay__a__b-1__way{at}/a__b-1.traj" for at in range(4)]
    reading = Traces().reading(table_of(rows, paths=paths), {})
    cards = [
        reading.card(shown_row(reading, row, at, path)) for at, (row, path) in enumerate(zip(rows, paths, strict=True))
    ]
    assert len({card.of for card in cards}) == 1
    assert cards[0].of is not None
    assert all(card.brief.startswith("TimeDelta serialization is off") for card in cards)
    other = shown_row(reading, swe_agent("Something else is broken here", "x", "I look."), 4, paths[0])
    assert reading.card(other).of != cards[0].of


def test_a_flag_that_was_handed_in_is_withheld_wherever_it_is_said_and_the_page_says_so() -> None:
    flag = "HTB{RLX-CANARY_15_bR1ght}"
    found = read(Traces(), table_of([swe_agent("Find it.", f"\n{flag}\n", f"submit '{flag}'")], paths=("a.traj",)))
    assert flag not in found.shown()
    assert any("handed in" in text for text in notes(found))


def test_pages_tell_what_was_done_before_what_came_of_it(fixture_hub: Path) -> None:
    ids = [section.id for section in fixture(fixture_hub, "data/chat.jsonl").view().sections]
    assert ids.index("transcript") < ids.index("outcome")
