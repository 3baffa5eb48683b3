"""Requests of NeMo Gym in every form they are published in, and who verifies them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.formats.frameworks import table
from rlx.formats.processors.nemo_gym import NeMoGym
from rlx.formats.processors.nemo_gym.commands import selector
from rlx.formats.processors.nemo_gym.servers import Known, known
from rlx.ids import EnvKey
from rlx.model import Code, Messages, Prompt, Tools
from rlx.twins.jsonable import to_json
from tests.formats.processors.rowwise import HOSTILE, Read, read, table_of

TOOL = {
    "type": "function",
    "name": "move",
    "parameters": {"type": "object", "properties": {"target": {"type": "string", "description": "RLX-SHOWN-TARGET"}}},
}
ASKED = {"input": [{"role": "user", "content": "What is RLX-SHOWN-ASKED in all?"}], "tools": [TOOL]}
REF = {"type": "responses_api_agents", "name": "mcqa_simple_agent"}
ROW = {"responses_create_params": ASKED, "agent_ref": REF, "expected_answer": "RLX-CANARY-NEMO-1", "uuid": "u-1"}


def messages(found: Read, at: int = 0) -> Messages:
    section = next(section for section in found.view(at).sections if section.id == "prompt")
    return next(block for block in section.blocks if isinstance(block, Messages))


def section_text(found: Read, id_: str) -> str:
    page = found.page()
    titles = {"prompt": "What the agent gets", "grading": "How it is graded", "run": "Run it with NeMo Gym"}
    return page.split(f"## {titles[id_]}")[1].split("\n## ")[0]


def test_a_request_is_shown_whole_and_the_answer_withheld() -> None:
    match = NeMoGym().match(table_of([ROW]))
    assert match is not None
    assert match.confidence == 0.95
    shown = read(NeMoGym(), table_of([ROW])).shown()
    assert "RLX-SHOWN-ASKED" in shown
    assert "RLX-SHOWN-TARGET" in shown
    assert "RLX-CANARY" not in shown


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"responses_create_params": json.dumps(ASKED)}, ["What is RLX-SHOWN-ASKED in all?"]),
        ({"responses_create_params": {"input": "A plain text."}}, ["A plain text."]),
        ({"responses_create_params": {"input": [], "instructions": "Be brief."}, "problem_statement": "Mend this part"},
         ["Be brief.", "Mend this part"]),
        ({"responses_create_params": {"input": [], "metadata": {"problem_statement": "Mend it.", "golden_patch": "x"}}},
         ["Mend it."]),
        ({"responses_create_params": {"input": [{"role": "developer", "content": "Obey."}, {"role": "user", "content":
         [{"type": "input_text", "text": "Look here now."}]}]}}, ["Obey.", "Look here now."]),
        ({"responses_create_params": {"input": [
            {"role": "user", "content": "Open the door."},
            {"type": "function_call", "name": "move", "arguments": '{"target": "door"}', "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": "It is stuck."},
            {"role": "assistant", "content": "Shall I go on?"},
         ]}, "expected_action": {"name": "push"}}, ["Open the door.", "", "It is stuck.", "Shall I go on?"]),
    ],
)  # fmt: skip
def test_what_the_agent_gets_is_found_in_every_form_of_a_request(row: dict[str, Any], said: list[str]) -> None:
    found = read(NeMoGym(), table_of([row]))
    assert [message.text for message in messages(found).items] == said
    assert found.cards[0].title.strip()


def test_steps_that_are_sent_one_after_another_are_told_one_by_one() -> None:
    steps = [
        {"step_description_prompt": f"Step {n} asks this.", "ground_truth_code": "RLX-CANARY-CODE-1"} for n in (1, 2)
    ]
    found = read(NeMoGym(), table_of([{"responses_create_params": {"input": []}, "sub_steps": steps}]))
    assert "Step 1 asks this." in section_text(found, "prompt")
    assert "Step 2 asks this." in section_text(found, "prompt")
    assert "RLX-CANARY" not in found.shown()


def test_a_row_that_only_names_its_task_says_so() -> None:
    rows = [{"responses_create_params": {"input": []}, "task_idx": number} for number in range(3)]
    found = read(NeMoGym(), table_of(rows))
    assert [card.title for card in found.cards] == ["task_idx 0", "task_idx 1", "task_idx 2"]
    assert "task_idx names a task that the framework keeps" in section_text(found, "prompt")


def test_a_placeholder_is_explained() -> None:
    row = {"responses_create_params": {"input": []}, "_hf_placeholder": {"row": 7}}
    found = read(NeMoGym(), table_of([row]))
    assert found.cards[0].problem is not None
    assert "a script of the publisher puts it in" in found.page()


def test_a_preamble_that_all_share_is_no_title_and_equal_requests_are_told_apart_by_an_id() -> None:
    rule = "Put the letter in a box and write nothing else at all.\n"
    rows = [
        {"responses_create_params": {"input": f"{rule}{text}"}} for text in ("Who was it?", "Where was it?", "Why?")
    ]
    assert [card.title for card in read(NeMoGym(), table_of(rows)).cards] == ["Who was it?", "Where was it?", "Why?"]
    same = [{"responses_create_params": {"input": "Deal me in."}, "uuid": f"u-{n}"} for n in range(3)]
    assert [card.title for card in read(NeMoGym(), table_of(same)).cards] == [f"Deal me in · u-{n}" for n in range(3)]


def test_a_title_that_is_cut_before_an_id_says_so() -> None:
    asked = "Transcribe the audio with proper punctuation and capitalization in all of its parts."
    rows = [{"responses_create_params": {"input": asked}, "sample_id": f"s-{n}"} for n in range(3)]
    titles = [card.title for card in read(NeMoGym(), table_of(rows)).cards]
    assert titles == [f"Transcribe the audio with proper punctuation and… · s-{n}" for n in range(3)]


def test_pictures_that_come_from_a_folder_are_told_of() -> None:
    row = {**ROW, "verifier_metadata": {"media_dir": "media/cells", "ideal": "RLX-CANARY-IDEAL-1"}}
    found = read(NeMoGym(), table_of([row]))
    assert "the folder media/cells, which verifier_metadata.media_dir names" in section_text(found, "prompt")
    assert "RLX-CANARY" not in found.shown()


def test_grading_is_told_in_the_same_words_on_rows_and_on_the_environment() -> None:
    row = {**ROW, "responses_create_params": {"input": "Which?"}, "options": [{"A": "one"}, {"B": "two"}]}
    found = read(NeMoGym(), table_of([row]))
    told = json.dumps(to_json(found.summary()))
    assert found.cards[0].facets["graded"] == ("Reference answer",)
    assert "Graded by: Reference answer" in found.page()
    assert "value.graded.reference_answer" in told or "Reference answer" in told
    assert "A program checks" not in told
    assert "The letter that is chosen is compared with the one in expected_answer." in section_text(found, "grading")


def test_the_environment_has_the_commands_for_all_rows_and_a_row_those_for_itself() -> None:
    found = read(NeMoGym(), table_of([ROW, ROW]))
    (section,) = [item for item in found.summary().sections if item.id == "run-there"]
    code = next(block.text for block in section.blocks if isinstance(block, Code))
    assert "--input data/rows.jsonl" in code
    assert "sed" not in code
    assert "sed -n '1p' data/rows.jsonl > data/row.jsonl" in section_text(found, "run")


@pytest.mark.parametrize(
    ("named", "repo", "columns", "server", "agent"),
    [
        ("mcqa_simple_agent", "acme/x", (), "mcqa", "mcqa_simple_agent"),
        ("mcqa", "acme/x", (), "mcqa", "mcqa_simple_agent"),
        ("mcqa_agent_of_tomorrow", "acme/x", (), "mcqa", None),
        (None, "nvidia/Nemotron-RL-knowledge-mcqa", (), "mcqa", "mcqa_simple_agent"),
        (None, "acme/nemo-gym-arc_agi", (), "arc_agi", "arc_agi_simple_agent"),
        (None, "acme/rows", ("options", "expected_answer", "grading_mode", "uuid"), "mcqa", "mcqa_simple_agent"),
        ("somebody", "acme/rows", ("a", "b"), None, None),
        (None, "acme/rows", (), None, None),
    ],
)
def test_who_verifies_is_known_by_the_surest_sign(
    named: str | None, repo: str, columns: tuple[str, ...], server: str | None, agent: str | None
) -> None:
    found = known(named, repo, frozenset(columns))
    assert (found.server.name if found.server else None) == server
    assert (found.agent.name if found.agent else None) == agent


def test_every_agent_of_the_table_has_an_option_that_loads_its_configuration() -> None:
    told = table("nemo_gym")
    for agent in told.agents.values():
        option, _, value = (selector(agent, None) or "").partition(" ")
        name_, _, flavour = value.partition("/")
        expected = {
            "--environment": f"environments/{name_}/config.yaml",
            "--benchmark": f"benchmarks/{name_}/{flavour or 'config'}.yaml",
            "--resources-server": f"resources_servers/{name_}/configs/{flavour or name_}.yaml",
            "--config": value,
        }
        assert expected[option] == agent.config


def test_commands_name_the_row_the_server_and_the_agent() -> None:
    found = read(NeMoGym(), table_of([ROW, ROW], paths=("data/train.jsonl",)))
    told = found.page(1)
    version = table("nemo_gym").source.version
    for line in (
        f"uv pip install 'nemo-gym=={version}'",
        "gym dataset download --repo-id acme/rows --artifact data/train.jsonl --output data/rows.jsonl",
        "sed -n '2p' data/rows.jsonl > data/row.jsonl",
        "gym env start --resources-server mcqa --model-type openai_model",
        "gym eval run --no-serve --agent mcqa_simple_agent",
    ):
        assert line in told
    parquet = read(NeMoGym(), table_of([ROW], paths=("data/train.parquet",))).page()
    assert "--split train" in parquet
    assert "--artifact" not in parquet


def test_a_judge_and_a_demonstrated_step_are_told() -> None:
    judged = {**ROW, "agent_ref": {"name": "abstention"}}
    assert read(NeMoGym(), table_of([judged])).cards[0].facets["graded"] == ("Model judge",)
    pivot = {**ROW, "expected_action": {"name": "push", "arguments": "RLX-CANARY-NEMO-2"}}
    assert "One step is asked for" in section_text(read(NeMoGym(), table_of([pivot])), "grading")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"pass_rate": 0.25}, "0.25"),
        ({"pass_rate_passed": 3, "pass_rate_total": 8}, "3 of 8"),
        ({"qwen_235b_info": {"rewards": [1.0, 0.0, 0.5]}}, "2 of 3"),
        ({"pass_rate": "often"}, None),
    ],
)
def test_a_pass_rate_is_told_where_the_row_has_one(row: dict[str, Any], told: str | None) -> None:
    page = read(NeMoGym(), table_of([{**ROW, **row}])).page()
    assert (f"Pass rate told: {told}" in page) if told else "Pass rate told" not in page


def test_examples_of_a_puzzle_are_shown_where_the_whole_set_is_known_to_be_of_puzzles() -> None:
    row = {
        **ROW,
        "agent_ref": {"name": "arc_agi_simple_agent"},
        "train": [{"input": [[1]], "output": [[77777]]}],
        "expected_output": [[88888]],
    }
    puzzles = replace(table_of([row]), key=EnvKey("dataset", "acme", "nemo-gym-arc_agi"))
    shown = json.dumps(read(NeMoGym(), puzzles).rows[0].value)
    assert "77777" in shown
    assert "88888" not in shown
    mixed = json.dumps(read(NeMoGym(), table_of([row])).rows[0].value)
    assert "77777" not in mixed


@pytest.mark.parametrize("rows", [[], [{"prompt": "x"}], [{"prompt": "x"}, {"prompt": "y"}, ROW]])
def test_rows_without_a_request_are_left_to_others(rows: list[dict[str, Any]]) -> None:
    assert NeMoGym().match(table_of(rows, tags=("nemo-gym",))) is None


def test_roles_are_the_frameworks_own() -> None:
    with pytest.raises(BadInput):
        NeMoGym().reading(table_of([ROW]), {"task": "uuid"})


def test_tools_are_told_as_tools() -> None:
    section = next(item for item in read(NeMoGym(), table_of([ROW])).view().sections if item.id == "prompt")
    tools = next(block for block in section.blocks if isinstance(block, Tools))
    assert [tool.name for tool in tools.items] == ["move"]
    assert not any(isinstance(block, Prompt) for block in section.blocks)


def test_a_korean_page_says_the_same() -> None:
    assert "에이전트가 한 일을 검증하는 리소스 서버: mcqa." in read(NeMoGym(), table_of([ROW])).page(language="ko")


KEYS = st.sampled_from(
    ["responses_create_params", "agent_ref", "task_source", "sub_steps", "pass_rate", "verifier_metadata", "question",
     "expected_action", "qwen_235b_info", "_hf_placeholder", "id", "image"]
)  # fmt: skip
PARAMS = st.dictionaries(st.sampled_from(["input", "tools", "instructions", "metadata", "temperature"]), HOSTILE)


@given(st.lists(st.dictionaries(KEYS, HOSTILE | PARAMS, max_size=6), max_size=4))
def test_no_row_raises(rows: list[dict[str, Any]]) -> None:
    table_ = table_of(rows)
    NeMoGym().match(table_)
    assert len(read(NeMoGym(), table_).shown()) > 0


@given(st.text(max_size=60), st.text(max_size=60), st.frozensets(st.text(max_size=20), max_size=6))
def test_whatever_a_row_names_is_looked_up_without_fault(named: str, repo: str, columns: frozenset[str]) -> None:
    assert isinstance(known(named, repo, columns), Known)
