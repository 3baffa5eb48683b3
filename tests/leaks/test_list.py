"""The hand-derived list of answers in real data: what it covers.

What a model tried is no answer and is shown where rows are read as rollouts, less what its own row withholds; what was
listed of those rows was taken off when they began to be read.
"""

from collections import Counter
from pathlib import Path

from rlx.health.leaks import load

LIST = Path(__file__).parent / "shared-data.json"
HARBOR = """
abundant-ai/SWE-gen-JS abundant-ai/SWE-gen-Rust-oddities abundant-ai/SWE-gen-Go-parquet abundant-ai/SWE-gen-Go-tar
abundant-ai/SWE-gen-Go-zip PrimeIntellect-ai/research-tasks wxj630/terminal-bench-math-modeling
Togetherbench/SWE-Together harbor-framework/harbor-examples harbor-framework/harbor-adapter-templates
harbor-framework/harbor-cookbook harbor-framework/hello-world open-thoughts/tb2-fewshots
rememberlenny/bluecollar-bench witanlabs/mimic-bench kaggle/kaggle-benchmark-starter
"""
PLACES = """
solution/ bug.patch gold.json reference_patch.json oracle_intents.json oracle_session.jsonl original_session.json
canonical_goals.json user_simulation_prompt.md fix_summary.md scoring_table.md expected_result.json item.json
eval_inputs.jsonl expected_decision solution_explanation verification_explanation difficulty_explanation
session_resolution_reasoning EXPECTED_NAME test_final_state.py here-document golden_patch instance_dict
metadata.solution ground_truth_code reference_passage expected_action injection.target_args checklist
canonical_solution info.submission nl_assertions
"""


def test_the_list_is_long_and_its_texts_are_distinctive() -> None:
    answers = load(LIST)
    assert len(answers) >= 400
    assert all(len(answer.text) >= 12 and answer.repo and answer.where for answer in answers)
    assert max(Counter((answer.repo, answer.text) for answer in answers).values()) == 1


def test_the_list_covers_every_harbor_set_and_most_sets_of_rows() -> None:
    repos = {answer.repo for answer in load(LIST)}
    assert set(HARBOR.split()) <= repos
    assert len(repos) > 100


def test_the_list_covers_every_place_in_which_answers_were_seen() -> None:
    places = "\n".join(answer.where for answer in load(LIST))
    assert [place for place in PLACES.split() if place not in places] == []
