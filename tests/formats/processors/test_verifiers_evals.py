"""Saved evaluations of Verifiers: results of releases before 0.4, and episodes of later ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.formats.processors.verifiers_evals import VerifiersEvals
from rlx.formats.processors.verifiers_evals_attempts import attempt_of, run_of
from rlx.model import Transcript
from tests.formats.processors.rowwise import HOSTILE, Read, read, shown_row, table_of

RESULTS = "outputs/evals/math--model-x/0a1b2c3d/results.jsonl"
TRACES = "outputs/sums--model-y--null--0a1b2c3d/traces.jsonl"


def fixture(hub: Path, name: str, path: str) -> Read:
    file = hub / "datasets" / "acme" / name / path
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return read(VerifiersEvals(), table_of(rows, paths=(path,)))


def transcript(found: Read, at: int = 0) -> Transcript:
    blocks = [block for section in found.view(at).sections for block in section.blocks]
    return next(block for block in blocks if isinstance(block, Transcript))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (RESULTS, ("math", "model-x", "0a1b2c3d")),
        ("outputs/evals/a-b--org--m-1/run/results.jsonl.gz", ("a-b", "org/m-1", "run")),
        (TRACES, ("sums", "model-y", "0a1b2c3d")),
        ("data/train.jsonl", ("", "", "")),
    ],
)
def test_folders_tell_environment_model_and_run(path: str, expected: tuple[str, str, str]) -> None:
    run = run_of(path)
    assert (run.env, run.model, run.run) == expected


@pytest.mark.parametrize(
    ("row", "path", "confidence"),
    [
        ({"prompt": [], "completion": [], "reward": 1.0}, RESULTS, 0.95),
        ({"prompt": [], "completion": [], "reward": 1.0}, "a.jsonl", 0.9),
        ({"prompt": [], "completion": []}, "a.jsonl", None),
        ({"traces": [{"nodes": []}], "task": {}}, "a.jsonl", 0.95),
        ({"traces": "none", "task": {}}, "a.jsonl", None),
        ({"prompt": "p", "answer": "a"}, RESULTS, None),
    ],
)
def test_attempts_are_known_by_their_columns_and_folders(
    row: dict[str, object], path: str, confidence: float | None
) -> None:
    match = VerifiersEvals().match(table_of([row], paths=(path,)))
    assert (match.confidence if match else None) == confidence


def test_runs_of_which_no_row_can_be_read_are_known_by_their_folders() -> None:
    match = VerifiersEvals().match(table_of([], paths=(RESULTS,)))
    assert match is not None
    assert read(VerifiersEvals(), table_of([], paths=(RESULTS,))).shown()


def test_an_attempt_is_shown_with_its_outcome_and_without_what_it_repeats_of_the_answer(fixture_hub: Path) -> None:
    found = fixture(fixture_hub, "rows-verifiers", RESULTS)
    first, second = found.cards
    assert first.facets["outcome"] == ("Solved",)
    assert second.facets["outcome"] == ("Failed",)
    assert (first.facets["model"], first.facets["category"]) == (("model-x",), ("math",))
    assert first.numbers == {"reward": 1.0, "tokens": None, "turns": 2.0, "seconds": 1.6}
    assert first.of == second.of is not None
    kinds = [item.kind for item in transcript(found).items]
    assert kinds == ["message", "call", "output", "message"]
    page = found.page()
    assert "RLX-SHOWN-VF-ATTEMPT" in page
    assert "RLX-SHOWN-VF-CALL" in page
    assert "- correct_answer: 1" in page
    assert "vf-eval math -m model-x" in page
    assert "RLX-CANARY" not in found.shown()


def test_an_episode_is_shown_as_an_attempt(fixture_hub: Path) -> None:
    found = fixture(fixture_hub, "rows-traces-vf", TRACES)
    card = found.cards[0]
    assert card.numbers == {"reward": 0.25, "tokens": 321.0, "turns": 2.0, "seconds": 12.5}
    assert card.facets["outcome"] == ("Partly solved",)
    assert (card.facets["model"], card.facets["meta:run"]) == (("org/model-y",), ("first",))
    assert card.of == "sums/sum-3"
    page = found.page()
    assert "- format: 1 (weight 0.25)" in page
    assert "RLX-SHOWN-VFT-ATTEMPT" in page
    assert "--no-push" in page
    assert "RLX-CANARY" not in found.shown()


def test_of_task_data_only_what_verifiers_gives_it_is_shown_and_echoes_are_withheld() -> None:
    data = {"prompt": "Add them.", "worked": "RLX-CANARY-VFT-WORKED-2", "expected_total": "RLX-CANARY-VFT-TOTAL-2"}
    told = {"role": "tool", "tool_call_id": "c", "content": "Not RLX-CANARY-VFT-TOTAL-2. RLX-SHOWN"}
    nodes = [{"message": {"role": "user", "content": "Add them."}}, {"parent": 0, "message": told}]
    rows = [{"task": {"data": data}, "traces": [{"nodes": nodes, "task": {"data": data}}]}]
    found = read(VerifiersEvals(), table_of(rows))
    assert "RLX-CANARY" not in found.shown()
    assert "RLX-SHOWN" in found.shown()


def test_branches_that_were_left_are_counted() -> None:
    nodes = [
        {"message": {"role": "user", "content": "Go"}},
        {"parent": 0, "message": {"role": "assistant", "content": "left"}, "sampled": True},
        {"parent": 0, "message": {"role": "assistant", "content": "kept"}, "sampled": True},
    ]
    found = read(VerifiersEvals(), table_of([{"task": {}, "traces": [{"nodes": nodes}]}]))
    assert [item.text for item in transcript(found).items] == ["kept"]
    assert "One message of a branch that was left" in found.page()


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"reward": 1.0}, "Solved"),
        ({"reward": 2}, "Solved"),
        ({"reward": 0.5}, "Partly solved"),
        ({"reward": -1}, "Failed"),
        ({"reward": None}, "Not graded"),
        ({"reward": float("nan")}, "Not graded"),
        ({"reward": 1.0, "error": "Timed out"}, "Error"),
    ],
)
def test_an_outcome_follows_the_reward_and_the_error(row: dict[str, object], outcome: str) -> None:
    card = read(VerifiersEvals(), table_of([{"prompt": "p", "completion": "c", **row}])).cards[0]
    assert card.facets["outcome"] == (outcome,)


def test_a_column_that_may_be_the_answer_itself_is_no_score() -> None:
    rows: list[dict[str, Any]] = [{"prompt": "p", "completion": "c", "reward": 1.0, "correct_answer": 0.5}]
    assert "correct_answer: 0.5" not in read(VerifiersEvals(), table_of(rows)).page()
    rows = [{**rows[0], "answer": "x"}]
    assert "correct_answer: 0.5" in read(VerifiersEvals(), table_of(rows)).page()
    rows = [{**rows[0], "correct_answer": 42}]
    assert "correct_answer: 42" not in read(VerifiersEvals(), table_of(rows)).page()


def test_columns_keep_their_roles() -> None:
    with pytest.raises(BadInput):
        VerifiersEvals().reading(table_of([]), {"task": "prompt"})


COLUMNS = ["prompt", "completion", "reward", "answer", "info", "metrics", "timing", "token_usage", "error", "task"]
NODE = st.fixed_dictionaries(
    {}, optional={"parent": HOSTILE | st.integers(-2, 4), "message": HOSTILE, "sampled": HOSTILE}
)
TRACE = st.fixed_dictionaries(
    {"nodes": st.lists(NODE, max_size=4) | HOSTILE},
    optional=dict.fromkeys(("rewards", "metrics", "agent", "tools", "calls", "timing", "errors", "task"), HOSTILE),
)


@given(st.dictionaries(st.sampled_from([*COLUMNS, "id", "x_ms", "correct_answer"]), HOSTILE, max_size=8))
def test_no_result_breaks_it(row: dict[str, object]) -> None:
    table = table_of([row], paths=(RESULTS,))
    VerifiersEvals().match(table)
    assert read(VerifiersEvals(), table).shown()


@given(st.lists(TRACE | HOSTILE, max_size=3), HOSTILE, HOSTILE)
def test_no_episode_breaks_it(traces: list[object], task: object, run: object) -> None:
    row = {"traces": traces, "task": task, "run": run, "errors": run}
    found = read(VerifiersEvals(), table_of([row], paths=(TRACES,)))
    assert found.shown()
    assert attempt_of(shown_row(found.reading, row)) is not None


def test_attempts_at_one_task_are_told_apart_by_model_run_and_place() -> None:
    row = {"prompt": "Play the game until it is over.", "completion": "ok", "reward": 0.0}
    other = {"prompt": "Write a poem about the sea.", "completion": "ok", "reward": 0.0}
    same = [card.title for card in read(VerifiersEvals(), table_of([row, row, row], paths=(RESULTS,))).cards]
    assert len(set(same)) == 3
    assert same[1] == "Play the game until it is over. · model-x · 0a1b2c3d · #2"
    different = [card.title for card in read(VerifiersEvals(), table_of([row, other], paths=(RESULTS,))).cards]
    assert different == ["Play the game until it is over.", "Write a poem about the sea."]
