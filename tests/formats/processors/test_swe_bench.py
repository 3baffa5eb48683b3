"""Rows in the shape of SWE-bench and its kin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.processors.swe_bench import SweBench
from rlx.model import Links, Prompt
from tests.formats.processors.rowwise import HOSTILE, SHA, read, table_of

COMMIT = "a" * 40
ROW = {
    "repo": "acme/tools",
    "instance_id": "acme__tools-7",
    "base_commit": COMMIT,
    "problem_statement": "Crash on start\n\nIt crashes:\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-RLX-SHOWN-1\n```",
    "hints_text": "RLX-CANARY-SWE-HINTS-1",
    "patch": "diff --git a/x b/x\n+RLX-CANARY-SWE-PATCH-1",
    "test_patch": "RLX-CANARY-SWE-TEST-1",
    "FAIL_TO_PASS": '["RLX-CANARY-SWE-F2P-1"]',
    "PASS_TO_PASS": ["RLX-CANARY-SWE-P2P-1"],
    "version": "1.2",
    "eval_notes": "RLX-CANARY-SWE-NOTES-1",
}
MULTI = {
    "org": "acme",
    "repo": "tools",
    "number": 7,
    "title": "fix: RLX-CANARY-MULTI-TITLE-1",
    "body": "RLX-CANARY-MULTI-BODY-1",
    "base": {"label": "acme:main", "sha": COMMIT},
    "resolved_issues": [{"number": 6, "title": "Crash on start", "body": "It crashes. RLX-SHOWN-2"}],
    "fix_patch": "RLX-CANARY-MULTI-PATCH-1",
    "f2p_tests": {"RLX-CANARY-MULTI-F2P-1": {"run": "FAIL"}},
    "instance_id": "acme__tools-7",
}
WHOLE = {**ROW, "image": "acme/img:1", "eval_script": "RLX-CANARY-SWE-EVAL-1", "log_parser": "pytest", "eval_type": "x"}


@pytest.mark.parametrize("row", [ROW, MULTI, WHOLE])
def test_an_issue_is_shown_whole_and_all_that_tells_its_solution_is_withheld(row: dict[str, object]) -> None:
    table = table_of([row])
    match = SweBench().match(table)
    assert match is not None
    assert match.confidence == 0.9
    shown = read(SweBench(), table).shown()
    assert "RLX-CANARY" not in shown
    assert "RLX-SHOWN" in shown


@pytest.mark.parametrize(
    "columns",
    [{"problem_statement": "x"}, {"problem_statement": "x", "base_commit": COMMIT}, {"prompt": "x", "patch": "y"},
     {**ROW, "responses_create_params": {}}, {**ROW, "problem_statement": ""}],
)  # fmt: skip
def test_what_lacks_an_issue_a_commit_or_tests_is_left_to_others(columns: dict[str, object]) -> None:
    assert SweBench().match(table_of([columns])) is None


def test_the_issue_gives_the_title_and_the_repository_the_category() -> None:
    cards = [read(SweBench(), table_of([row])).cards[0] for row in (ROW, MULTI)]
    assert [card.title for card in cards] == ["Crash on start", "Crash on start"]
    assert [card.facets["category"] for card in cards] == [("acme/tools",), ("acme/tools",)]
    assert cards[0].facets["graded"] == ("Tests",)


def test_the_repository_is_a_link_to_its_commit() -> None:
    sections = {section.id: section for section in read(SweBench(), table_of([MULTI])).view().sections}
    links = [item.url for block in sections["environment"].blocks if isinstance(block, Links) for item in block.items]
    assert links == [f"https://github.com/acme/tools/tree/{COMMIT}"]
    assert isinstance(sections["prompt"].blocks[0], Prompt)


@pytest.mark.parametrize("repo", ["javascript:alert(1)", "acme/tools?x=y", "../..", "a/b/c", 7, None])
def test_a_repository_that_is_none_gets_no_link(repo: object) -> None:
    assert "github.com" not in read(SweBench(), table_of([{**ROW, "repo": repo}])).page()


def test_commands_pin_the_revision_and_follow_the_harness_that_reads_such_rows() -> None:
    old, new, multi = (read(SweBench(), table_of([row])).page() for row in (ROW, WHOLE, MULTI))
    assert f"--repo-type dataset --revision {SHA}" in old
    assert "--filter '^acme__tools\\-7$'" in old
    assert "swebench==4.1.0" in old
    assert "swebench==5.0.2" in new
    assert "`acme/img:1`" in new
    assert "uvx" not in multi


def test_an_id_cannot_leave_its_place_in_a_command() -> None:
    page = read(SweBench(), table_of([{**ROW, "instance_id": "x; rm -rf ~ `id` $(id)"}])).page()
    assert "uvx" not in page


@given(st.dictionaries(st.sampled_from([*ROW, *MULTI, "image", "difficulty", ""]), HOSTILE, max_size=12))
def test_no_row_breaks_it(row: dict[str, object]) -> None:
    table = table_of([{**ROW, **row}])
    SweBench().match(table)
    assert read(SweBench(), table).shown()
