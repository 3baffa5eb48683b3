"""Rows that verl and SkyRL train on: which reward is picked, what is withheld at any depth, and how they are run."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.formats.frameworks import table as framework_table
from rlx.formats.processors.base import Processor
from rlx.formats.processors.registry import choose
from rlx.formats.processors.skyrl import SkyRL
from rlx.formats.processors.verl import Verl
from rlx.hub.info import TreeEntry
from rlx.model import Messages
from rlx.twins.jsonable import to_json
from tests.formats.processors.rowwise import HOSTILE, SHA, read, table_of

PROMPT = [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "RLX-SHOWN-ASKED: how many?"}]
VERL = {
    "data_source": "openai/gsm8k",
    "agent_name": "tool_agent",
    "prompt": PROMPT,
    "ability": "math",
    "reward_model": {"style": "rule", "ground_truth": "RLX-CANARY-VERL-1"},
    "extra_info": {
        "index": 7,
        "answer": "RLX-CANARY-VERL-2",
        "question": "RLX-SHOWN-ASKED: how many?",
        "need_tools_kwargs": True,
        "tools_kwargs": {"calc": {"create_kwargs": {"ground_truth": "RLX-CANARY-VERL-3"}}},
        "interaction_kwargs": {"name": "gsm", "query": "how many?", "ground_truth": "RLX-CANARY-VERL-4"},
    },
}
SKYRL = {
    "data_source": "synsql",
    "prompt": PROMPT,
    "env_class": "text2sql",
    "reward_spec": {"method": "rule", "ground_truth": "RLX-CANARY-SKYRL-1"},
    "max_turns": 4,
    "extra_info": {"index": 3, "answer": "RLX-CANARY-SKYRL-2"},
}


def sections(processor: Processor, row: dict[str, Any], id_: str) -> str:
    page = read(processor, table_of([row])).page()
    title = {"grading": "How it is graded", "environment": "What it runs in", "metadata": "Metadata"}[id_]
    return page.split(f"## {title}")[1].split("\n## ")[0]


@pytest.mark.parametrize(("processor", "row"), [(Verl(), VERL), (SkyRL(), SKYRL)])
def test_the_prompt_is_shown_and_references_are_withheld_wherever_they_stand(
    processor: Processor, row: dict[str, Any]
) -> None:
    table = table_of([row])
    assert processor.match(table) is not None
    found = read(processor, table)
    shown = found.shown()
    assert "RLX-CANARY" not in shown
    assert "RLX-SHOWN-ASKED" in shown
    prompt = next(section for section in found.view().sections if section.id == "prompt")
    told = next(block for block in prompt.blocks if isinstance(block, Messages))
    assert [message.role for message in told.items] == ["system", "user"]
    texts = {**row, "reward_model": json.dumps(row.get("reward_model")), "extra_info": json.dumps(row["extra_info"])}
    assert "RLX-CANARY" not in read(processor, table_of([texts])).shown()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("openai/gsm8k", "uses its reward function gsm8k"),
        ("aime2025", "uses its reward function math_dapo"),
        ("acme/own", "has no reward function for the data source acme/own"),
        (None, "names no data source"),
    ],
)
def test_the_reward_function_is_the_one_verl_picks(source: str | None, told: str) -> None:
    assert told in sections(Verl(), {**VERL, "data_source": source}, "grading")


def test_a_reward_of_ones_own_is_asked_for_where_verl_has_none() -> None:
    known, own = (read(Verl(), table_of([{**VERL, "data_source": source}])).page() for source in ("taco", "acme/own"))
    assert "reward.custom_reward_function.path=reward.py" in own
    assert "custom_reward_function" not in known


def test_tools_of_a_row_and_its_loop_are_told_without_their_values() -> None:
    told = sections(Verl(), VERL, "environment")
    assert "tool_agent" in told
    assert "calc" in told
    assert "gsm" in told
    assert read(Verl(), table_of([VERL])).cards[0].facets["tools"] == ("calc",)
    plain = {**VERL, "extra_info": {}, "agent_name": None}
    assert "One answer to one prompt" in sections(Verl(), plain, "environment")


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ("text2sql", "The environment class text2sql of SkyRL Gym"),
        ("acme-env", "has no environment class acme-env"),
        (None, "names no environment class"),
    ],
)
def test_the_environment_class_is_told_where_it_is_known(env: str | None, told: str) -> None:
    assert told in sections(SkyRL(), {**SKYRL, "env_class": env}, "grading")


def test_columns_that_an_environment_needs_and_a_row_lacks_are_told() -> None:
    assert "does not start without db_id, data" in sections(SkyRL(), SKYRL, "environment")
    whole = {**SKYRL, "db_id": "shop", "data": "synsql"}
    assert "does not start" not in sections(SkyRL(), whole, "environment")


def test_turns_are_the_rows_own_or_the_environments() -> None:
    assert "Turns at most: 4" in sections(SkyRL(), SKYRL, "environment")
    assert "Turns at most: 5" in sections(SkyRL(), {**SKYRL, "max_turns": None}, "environment")


@pytest.mark.parametrize(("processor", "row", "name"), [(Verl(), VERL, "verl"), (SkyRL(), SKYRL, "skyrl")])
def test_commands_take_the_files_at_the_revision_shown(processor: Processor, row: dict[str, Any], name: str) -> None:
    page = read(processor, table_of([row], paths=("data/a b.parquet",))).page()
    assert f"hf download acme/rows 'data/a b.parquet' --repo-type dataset --revision {SHA} --local-dir data" in page
    assert "'[data/data/a b.parquet]'" in page
    version = framework_table("verl" if name == "verl" else "skyrl").source.version
    assert version in page


@pytest.mark.parametrize(
    ("split", "own", "others", "train", "validate"),
    [
        ("test", "test.parquet", ["train.parquet"], "'[data/train.parquet]'", "'[data/test.parquet]'"),
        ("test", "test.parquet", ["other.parquet"], '"$TRAIN_FILES"', "'[data/test.parquet]'"),
        ("train", "d/train-00000-of-00001.parquet", ["d/test-00000-of-00002.parquet", "e/test-00000-of-00001.parquet"],
         "'[data/d/train-00000-of-00001.parquet]'", "'[data/d/test-00000-of-00002.parquet]'"),
        ("train", "a.parquet", [], "'[data/a.parquet]'", "'[data/a.parquet]'"),
        ("latest", "latest.parquet", [], "'[data/latest.parquet]'", "'[data/latest.parquet]'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("processor", [Verl(), SkyRL()])
def test_trainers_train_on_no_files_that_are_for_testing(
    processor: Processor, split: str, own: str, others: list[str], train: str, validate: str
) -> None:
    table = table_of([VERL if processor.name == "verl" else SKYRL], paths=(own,), split=split)
    known = {path: TreeEntry(path, 100, "0" * 40) for path in [own, *others]}
    found = read(processor, replace(table, files=known))
    keys = ("train_files", "val_files") if processor.name == "verl" else ("train_data", "val_data")
    told = to_json(found.summary())
    page = found.page()
    assert f"data.{keys[0]}={train} data.{keys[1]}={validate}" in page
    assert "no split that is called one to train on" in page or "$TRAIN_FILES" not in page
    assert f"data.{keys[0]}=" in json.dumps(told)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (VERL, "verl"),
        (SKYRL, "skyrl"),
        ({**VERL, "env_class": "gsm8k"}, "skyrl"),
        ({"prompt": PROMPT, "reward_spec": {"ground_truth": "x"}}, "skyrl"),
        ({"prompt": PROMPT, "reward_model": {"ground_truth": "x"}}, "verl"),
        ({"prompt": PROMPT, "data_source": "x", "ability": "math"}, "verl"),
        ({"prompt": PROMPT}, None),
        ({"question": "x", "reward_model": {"style": "rule"}}, None),
        ({"prompt": PROMPT, "reward_model": "acme/reward-model-7b"}, None),
    ],
)
def test_rows_go_to_the_trainer_whose_columns_they_have(row: dict[str, Any], expected: str | None) -> None:
    chosen = choose(table_of([row]), (SkyRL(), Verl()))
    assert (chosen[0].name if chosen else None) == expected


@pytest.mark.parametrize("processor", [Verl(), SkyRL()])
def test_a_tag_alone_claims_a_table_with_a_prompt_less_surely(processor: Processor) -> None:
    match = processor.match(table_of([{"prompt": PROMPT}], tags=(processor.name,)))
    assert match is not None
    assert match.confidence <= 0.6
    with pytest.raises(BadInput):
        processor.reading(table_of([VERL]), {"task": "prompt"})


def test_titles_are_questions_without_what_all_prompts_begin_with() -> None:
    rule = "You are an expert. Think step by step and box the answer.\n"
    rows = [
        {**SKYRL, "prompt": [{"role": "user", "content": f"{rule}{text}"}]}
        for text in ("Who?  Tell.", "Where is it?", "Why so?")
    ]
    assert [card.title for card in read(SkyRL(), table_of(rows)).cards] == ["Who? Tell.", "Where is it?", "Why so?"]


KEYS = st.sampled_from(
    ["prompt", "data_source", "reward_model", "reward_spec", "env_class", "extra_info", "agent_name", "images",
     "max_turns", "tools", "ability"]
)  # fmt: skip
INNER = st.dictionaries(
    st.sampled_from(["ground_truth", "style", "tools_kwargs", "interaction_kwargs", "question", "max_turns", "name"]),
    HOSTILE,
)


@pytest.mark.parametrize("processor", [Verl(), SkyRL()])
@given(rows=st.lists(st.dictionaries(KEYS, HOSTILE | INNER, max_size=6), min_size=1, max_size=4))
def test_no_row_raises(processor: Processor, rows: list[dict[str, Any]]) -> None:
    table = table_of(rows)
    processor.match(table)
    assert read(processor, table).shown()
