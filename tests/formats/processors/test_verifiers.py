"""Rows that environments of Verifiers load: v0 rows, task data, rows of reasoning-gym."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.formats.processors.verifiers import Verifiers
from rlx.model import Messages, Prompt, Tools
from tests.formats.processors.rowwise import HOSTILE, SHA, read, table_of

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
ROW = {
    "prompt": [{"role": "user", "content": "What is six times seven?"}],
    "answer": "RLX-CANARY-V0-ANSWER-1",
    "info": {"tools": [TOOL], "answer": "RLX-CANARY-V0-INFO-1", "source": "RLX-SHOWN-SOURCE"},
    "task": "sums",
}
DATA = {
    "idx": 3,
    "name": "sum-3",
    "prompt": "What is six times seven?",
    "system_prompt": "Be brief.",
    "workdir": "/app",
    "image": "acme/sums:1",
    "timeout": {"agent": 60},
    "worked": "RLX-CANARY-DATA-WORKED-1",
}


@pytest.mark.parametrize(
    ("row", "tags", "confidence"),
    [
        (ROW, (), 0.7),
        (ROW, ("verifiers",), 0.92),
        (DATA, (), 0.85),
        ({"question": "q?", "answer": "a"}, (), None),
        ({"question": "q?", "answer": "a"}, ("verifiers",), 0.92),
        ({"problem_statement": "It crashes", "docker_image": "acme/x"}, ("verifiers",), 0.92),
        ({"problem_statement": "It crashes", "docker_image": "acme/x"}, (), None),
        ({**ROW, "responses_create_params": {}}, ("verifiers",), None),
        ({**ROW, "reward_model": {}}, ("verifiers",), None),
        ({**ROW, "completion": [], "reward": 1}, ("verifiers",), None),
        ({"text": "prose"}, ("verifiers",), None),
    ],
)
def test_rows_are_known_by_their_shape_or_by_the_tag(
    row: dict[str, object], tags: tuple[str, ...], confidence: float | None
) -> None:
    match = Verifiers().match(table_of([row], tags=tags))
    assert (match.confidence if match else None) == confidence


def test_a_row_shows_messages_and_tools_and_withholds_answer_and_info() -> None:
    found = read(Verifiers(), table_of([ROW]))
    blocks = found.view().sections[0].blocks
    assert isinstance(blocks[0], Messages)
    assert isinstance(blocks[1], Tools)
    assert found.cards[0].facets["tools"] == ("look",)
    assert "RLX-CANARY" not in found.shown()
    assert "RLX-SHOWN-SOURCE" in found.page()


def test_task_data_shows_what_verifiers_gives_it_and_nothing_of_the_environments_own() -> None:
    found = read(Verifiers(), table_of([DATA]))
    messages = found.view().sections[0].blocks[0]
    assert isinstance(messages, Messages)
    assert [item.role for item in messages.items] == ["system", "user"]
    assert found.cards[0].title == "sum-3"
    assert "acme/sums:1" in found.page()
    assert "--env.agent.runtime.type docker" in found.page()
    assert "RLX-CANARY" not in found.shown()


def test_rows_of_reasoning_gym_say_which_generator_scores_them(fixture_hub: Path) -> None:
    path = fixture_hub / "datasets" / "acme" / "rows-reasoning" / "data" / "train.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = read(Verifiers(), table_of(rows))
    assert [card.facets["meta:generator"] for card in found.cards] == [("word_sequence_reversal",), ("count_primes",)]
    assert isinstance(found.view().sections[0].blocks[0], Prompt)
    page = found.page(1)
    assert "reasoning_gym.get_score_answer_fn('count_primes')" in page
    assert f"hf://datasets/acme/rows@{SHA}/data/train.jsonl" in page
    assert '"n": 9' in page
    assert "RLX-CANARY" not in found.shown()


@pytest.mark.parametrize("column", ["info", "metadata"])
@pytest.mark.parametrize("written", [json.dumps, dict])
def test_what_reasoning_gym_tells_of_the_way_to_an_answer_is_withheld(column: str, written: Any) -> None:
    told = {"source_dataset": "gcd", "difficulty": {"n": 2}, "factors": ["RLX-CANARY-RG-WAY-1"]}
    row = {"question": "What is the gcd?", "answer": "RLX-CANARY-RG-ANSWER-9", column: written(told)}
    shown = read(Verifiers(), table_of([row])).shown()
    assert "RLX-CANARY" not in shown
    assert '"n": 2' in shown
    assert "RLX-CANARY" not in read(Verifiers(), table_of([{"": "first", **row}])).shown()


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ({"verifiers": {"environment": "acme/sums"}}, "vf-eval acme/sums "),
        ({"env_id": "sums@1.2"}, "vf-eval sums@1.2 "),
        ({"environment": "x; rm -rf ~"}, "vf-eval <environment-id> "),
        ({"environment": ["x"]}, "vf-eval <environment-id> "),
        ({}, "vf-eval <environment-id> "),
    ],
)
def test_the_environment_is_the_cards_or_nobodys(card: dict[str, object], told: str) -> None:
    page = read(Verifiers(), table_of([ROW], card=card)).page()
    assert told in page
    assert "--no-push" in page
    assert "--client.api-key-var KEY_VAR" in page


def test_columns_keep_their_roles() -> None:
    with pytest.raises(BadInput):
        Verifiers().reading(table_of([ROW]), {"task": "answer"})


@given(st.dictionaries(st.sampled_from([*ROW, *DATA, "question", "metadata", ""]), HOSTILE, max_size=10), st.booleans())
def test_no_row_breaks_it(row: dict[str, object], tagged: bool) -> None:
    table = table_of([row, {"question": "q", "answer": "a", "info": row}], tags=("verifiers",) if tagged else ())
    Verifiers().match(table)
    assert read(Verifiers(), table).shown()
