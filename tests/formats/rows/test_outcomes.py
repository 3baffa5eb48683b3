"""What came of rollouts is counted over all of them, and told by task where tasks were tried more than once."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import name
from rlx.formats.processors.base import RowCard
from rlx.formats.rows.outcomes import (
    REWARDS,
    SOLVED,
    TOKENS,
    TURNS,
    measured_facets,
    outcome_sections,
    outcomes_of,
    reward_range,
    task_labels,
    token_range,
    turn_range,
)
from rlx.model import Shares

NUMBERS = st.floats(allow_nan=False)


def card(title: str, reward: float | None, of: str | None = None) -> RowCard:
    solved = reward is not None and reward >= 1
    outcome = "Not graded" if reward is None else SOLVED if solved else "Failed"
    return RowCard(name(title), name(""), {"outcome": (name(outcome),)}, numbers={"reward": reward}, of=of)


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        (-0.1, "<0"),
        (0, "0"),
        (0.1, "0–0.25"),
        (0.25, "0–0.25"),
        (0.3, "0.25–0.5"),
        (0.99, "0.75–1"),
        (1, "1"),
        (9, ">1"),
    ],
)
def test_a_reward_falls_in_its_range(reward: float, expected: str) -> None:
    assert reward_range(reward) == expected


@pytest.mark.parametrize(("turns", "expected"), [(0, "0"), (1, "1"), (2, "2–5"), (5, "2–5"), (6, "6–10"), (51, "≥51")])
def test_turns_fall_in_their_range(turns: int, expected: str) -> None:
    assert turn_range(turns) == expected


@pytest.mark.parametrize(("tokens", "expected"), [(0, "<1k"), (1000, "1k–4k"), (64_000, "≥64k")])
def test_tokens_fall_in_their_range(tokens: int, expected: str) -> None:
    assert token_range(tokens) == expected


@given(NUMBERS)
def test_every_number_has_a_range(number: float) -> None:
    assert reward_range(number) in REWARDS
    assert turn_range(number) in TURNS
    assert token_range(number) in TOKENS


def test_attempts_are_gathered_by_their_task_the_least_solved_first() -> None:
    rows = [("a/0", card("Easy", 1, "e")), ("a/1", card("Hard", 0, "h")), ("a/2", card("Easy", 0.5, "e"))]
    rows += [("a/3", card("Hard", None, "h")), ("a/4", card("No task told", 1))]
    found = outcomes_of(rows)
    assert found is not None
    assert [(task.label, task.refs, task.solved, task.graded) for task in found.tasks] == [
        ("Hard", ("a/1", "a/3"), 0, 1),
        ("Easy", ("a/0", "a/2"), 1, 2),
    ]
    assert task_labels(found) == {"a/0": "Easy", "a/2": "Easy", "a/1": "Hard", "a/3": "Hard"}
    sections = {section.id: section for section in outcome_sections(found)}
    histogram, rates = sections["overview"].blocks
    assert isinstance(histogram, Shares)
    assert [(str(part.label), part.n) for part in histogram.parts] == [
        *(("0", 1), ("0–0.25", 0), ("0.25–0.5", 1), ("0.5–0.75", 0), ("0.75–1", 0), ("1", 2)),
    ]
    assert isinstance(rates, Shares)
    assert [(part.n, part.filter) for part in rates.parts] == [(0, ("task", "Hard")), (50, ("task", "Easy"))]


def test_tasks_of_one_title_are_told_apart() -> None:
    rows = [(f"a/{n}", card("Same", 1, str(n % 2))) for n in range(4)]
    found = outcomes_of(rows)
    assert found is not None
    assert {task.label for task in found.tasks} == {"Same", "Same (2)"}


def test_tasks_tried_once_are_not_told_apart() -> None:
    found = outcomes_of([(f"a/{n}", card(f"Task {n}", 1, str(n))) for n in range(3)])
    assert found is not None
    assert task_labels(found) == {}
    (overview, _) = outcome_sections(found)
    assert len(overview.blocks) == 1


def test_rows_that_are_no_rollouts_have_no_outcomes() -> None:
    assert outcomes_of([("a/0", RowCard(name("A task"), name("")))]) is None
    assert measured_facets(RowCard(name("A task"), name(""), numbers={"reward": None})) == {}


@given(st.lists(st.tuples(st.none() | NUMBERS, st.sampled_from("abc")), min_size=1))
def test_no_number_breaks_the_figures(rows: list[tuple[float | None, str]]) -> None:
    found = outcomes_of((f"a/{n}", card("T", reward, of)) for n, (reward, of) in enumerate(rows))
    assert found is not None
    for section in outcome_sections(found):
        for block in section.blocks:
            if isinstance(block, Shares):
                assert all(math.isfinite(part.n) for part in block.parts)
