"""Promises every processor keeps: unique names, evidence for what it claims, and no row that breaks it or leaks."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlx.formats.processors.base import Processor, Table, Unpacking
from rlx.formats.processors.registry import PROCESSORS, processors
from rlx.twins.jsonable import to_json
from tests.formats.processors.rowwise import HOSTILE, read, table_of

COLUMNS = (
    *("prompt", "question", "messages", "conversations", "info", "task", "reward", "completion", "response", "tools"),
    *("responses_create_params", "agent_ref", "reward_model", "extra_info", "data_source", "env_class", "reward_spec"),
    *("repo", "base_commit", "problem_statement", "trajectory", "steps", "schema_version", "history", "traces"),
    *("task_binary", "path", "verifier_metadata", "input", "system_prompt", "metrics", "id", "", "value"),
)
ROWS = st.lists(st.dictionaries(st.sampled_from(COLUMNS), HOSTILE, max_size=8), min_size=1, max_size=3)
TAGS = st.lists(st.sampled_from(("harbor", "verifiers", "nemo-gym", "verl", "skyrl", "traces")), max_size=2)
CANARY = "RLX-CANARY-CONFORMANCE"


def test_names_are_unique_and_every_entry_loads() -> None:
    loaded = processors()
    assert len({processor.name for processor in loaded}) == len(loaded) >= len(PROCESSORS)
    assert [processor.name for processor in loaded[: len(PROCESSORS)]] == [entry.name for entry in PROCESSORS]


@pytest.mark.parametrize("processor", processors(), ids=lambda processor: processor.name)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(rows=ROWS, tags=TAGS)
def test_no_row_breaks_it(processor: Processor, rows: list[dict[str, object]], tags: list[str]) -> None:
    table = table_of(rows, tags=tags)
    match = processor.match(table)
    if match is not None:
        assert 0 < match.confidence <= 1
        assert to_json(match.evidence)
    found = read(processor, table)
    for place, card in enumerate(found.cards):
        assert "\n" not in card.title
        assert all(value for values in card.facets.values() for value in values)
        if not isinstance(found.reading, Unpacking):
            assert json.dumps(to_json(found.view(place)))


@pytest.mark.parametrize("processor", processors(), ids=lambda processor: processor.name)
@pytest.mark.parametrize("key", ["answer", "gold_patch", "solution", "ground_truth", "expected_output"])
def test_no_answer_is_shown(processor: Processor, key: str) -> None:
    task = {"prompt": [{"role": "user", "content": "What?"}], "question": "What?", "id": 1}
    rows = [
        {**task, key: f"{CANARY}-1"},
        {**task, "info": {key: f"{CANARY}-2"}, "extra_info": json.dumps({"deep": [{key: f"{CANARY}-3"}]})},
        {**task, "responses_create_params": {"input": "What?", "metadata": {key: f"{CANARY}-4"}}},
        {**task, "reward_model": {"ground_truth": f"{CANARY}-5"}, "messages": [{"role": "user", key: f"{CANARY}-6"}]},
    ]
    assert CANARY not in read(processor, table_of(rows)).shown()


def test_a_table_of_anything_is_read_by_somebody() -> None:
    table: Table = table_of([{"whatever": 1}])
    assert any(processor.match(table) is not None for processor in processors())
