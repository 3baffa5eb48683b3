"""What came of rollouts, over all of them: rewards, turns and tokens in ranges, and how each task was solved."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from rlx.answers import Shown, name
from rlx.formats.processors.base import RowCard
from rlx.model import Count, Facets, Row, Section, Shares, Stats
from rlx.texts import Say, say

SOLVED: Final = "Solved"
"""The value of the facet `outcome` of a rollout that reached what its task asks."""
REWARDS: Final = ("<0", "0", "0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1", "1", ">1")
TURNS: Final = ("0", "1", "2–5", "6–10", "11–20", "21–50", "≥51")
TOKENS: Final = ("<1k", "1k–4k", "4k–16k", "16k–64k", "≥64k")
_QUARTERS: Final = (0.25, 0.5, 0.75, 1.0)
_LAST_TURN: Final = (0, 1, 5, 10, 20, 50)
_LEAST_TOKENS: Final = (1_000, 4_000, 16_000, 64_000)
_MAX_NAME: Final = 60
_LISTED: Final = 12
"""Tasks whose attempts are drawn."""
_RANGES: Final = {"reward": REWARDS, "turns": TURNS, "tokens": TOKENS}


@dataclass(frozen=True, slots=True)
class Attempts:
    """Rollouts of one task."""

    label: Shown
    refs: tuple[str, ...]
    solved: int
    graded: int
    """Those whose reward is known."""
    mean: float | None


@dataclass(frozen=True, slots=True)
class Outcomes:
    rollouts: int
    rewards: tuple[float, ...]
    turns: tuple[float, ...]
    tokens: tuple[float, ...]
    outcomes: Mapping[str, int]
    tasks: tuple[Attempts, ...]
    """Of tasks that are told, the least solved first."""

    def of(self, ref: str) -> Attempts | None:
        """The attempts at the task that `ref` is one at."""
        return next((task for task in self.tasks if ref in task.refs), None)


def is_rollout(card: RowCard) -> bool:
    return "reward" in card.numbers or "outcome" in card.facets


def measured_facets(card: RowCard) -> Facets:
    """The ranges in which a rollout's numbers fall."""
    found = {}
    for key, ranged in (("reward", reward_range), ("turns", turn_range), ("tokens", token_range)):
        number = card.numbers.get(key)
        if number is not None:
            found[key] = (name(ranged(number)),)
    return found


def reward_range(reward: float) -> str:
    if reward < 0 or reward > 1:
        return REWARDS[0 if reward < 0 else -1]
    if reward in (0, 1):
        return REWARDS[1 if reward == 0 else -2]
    return REWARDS[2 + bisect_left(_QUARTERS, reward)]


def turn_range(turns: float) -> str:
    return TURNS[bisect_left(_LAST_TURN, turns)]


def token_range(tokens: float) -> str:
    return TOKENS[bisect_right(_LEAST_TOKENS, tokens)]


def outcomes_of(rows: Iterable[tuple[str, RowCard]]) -> Outcomes | None:
    """Of every rollout by its ref; None where there is none."""
    rollouts = [(ref, card) for ref, card in rows if is_rollout(card)]
    if not rollouts:
        return None
    by_task: dict[str, list[tuple[str, RowCard]]] = {}
    for ref, card in rollouts:
        if card.of is not None:
            by_task.setdefault(card.of, []).append((ref, card))
    labels = _labels([attempts[0][1].title for attempts in by_task.values()])
    tasks = [_attempts(label, attempts) for label, attempts in zip(labels, by_task.values(), strict=True)]
    tasks.sort(key=lambda task: (task.solved / len(task.refs), task.mean or 0.0))
    return Outcomes(
        rollouts=len(rollouts),
        rewards=_numbers(rollouts, "reward"),
        turns=_numbers(rollouts, "turns"),
        tokens=_numbers(rollouts, "tokens"),
        outcomes=Counter(str(value) for _, card in rollouts for value in card.facets.get("outcome", ())),
        tasks=tuple(tasks),
    )


def task_labels(outcomes: Outcomes) -> Mapping[str, Shown]:
    """By ref, what its task is called, where tasks were tried more than once: they are told apart by it."""
    if len(outcomes.tasks) < 2 or all(len(task.refs) < 2 for task in outcomes.tasks):
        return {}
    return {ref: task.label for task in outcomes.tasks for ref in task.refs}


def outcome_sections(outcomes: Outcomes) -> Iterator[Section]:
    """Figures, and how each task was solved."""
    figures = [
        *_figure("reward", outcomes.rewards, reward_range),
        *_figure("turns", outcomes.turns, turn_range),
        *_figure("tokens", outcomes.tokens, token_range),
        *(_solved(outcomes) if task_labels(outcomes) else ()),
    ]
    if figures:
        yield Section("overview", say("rows.section.overview"), tuple(figures))
    facts = tuple(_facts(outcomes))
    if facts:
        yield Section("results", say("rows.section.results"), (Stats(facts),))


def _figure(key: str, numbers: Sequence[float], ranged: Callable[[float], str]) -> Iterator[Shares]:
    if not numbers:
        return
    counts = Counter(map(ranged, numbers))
    scale = _RANGES[key]
    places = [place for place, item in enumerate(scale) if counts[item]]
    parts = tuple(Count(name(item), counts[item], (key, item)) for item in scale[places[0] : places[-1] + 1])
    note = say("rows.middle", mean=_short(_mean(numbers)), middle=_short(median(numbers)))
    yield Shares(say(f"facet.{key}"), parts, len(numbers), note, ordered=True)


def _facts(outcomes: Outcomes) -> Iterator[Row]:
    yield Row(say("rows.rollouts"), name(f"{outcomes.rollouts:,}"))
    if outcomes.rewards:
        yield Row(say("rows.mean_reward"), name(_short(_mean(outcomes.rewards))), _of(outcomes, outcomes.rewards))
    solved = outcomes.outcomes.get(SOLVED)
    if solved is not None:
        yield Row(say("rows.solved"), name(f"{100 * solved / outcomes.rollouts:.0f} %"))
    if outcomes.tasks:
        yield Row(say("rows.tasks_tried"), name(f"{len(outcomes.tasks):,}"))


def _of(outcomes: Outcomes, numbers: Sequence[float]) -> Say | None:
    return None if len(numbers) == outcomes.rollouts else say("rows.told_of", n=len(numbers), total=outcomes.rollouts)


def _solved(outcomes: Outcomes) -> Iterator[Shares]:
    rated = [task for task in outcomes.tasks if task.graded]
    parts = tuple(
        Count(task.label, round(100 * task.solved / task.graded), ("task", str(task.label))) for task in rated[:_LISTED]
    )
    cut = len(rated) > _LISTED
    note = say("rows.hardest", n=_LISTED, total=len(rated)) if cut else say("rows.solved_note")
    yield Shares(say("rows.pass_rate"), parts, 100, note)


def _attempts(label: Shown, attempts: Sequence[tuple[str, RowCard]]) -> Attempts:
    rewards = [reward for _, card in attempts if (reward := card.numbers.get("reward")) is not None]
    solved = sum(SOLVED in card.facets.get("outcome", ()) for _, card in attempts)
    refs = tuple(ref for ref, _ in attempts)
    graded = len(rewards) or sum("outcome" in card.facets for _, card in attempts)
    return Attempts(label, refs, solved, graded, _mean(rewards) if rewards else None)


def _labels(titles: Sequence[str]) -> list[Shown]:
    """Titles cut short and told apart."""
    seen: Counter[str] = Counter()
    labels = []
    for title in titles:
        short = title[:_MAX_NAME].strip() or "-"
        seen[short] += 1
        labels.append(name(short if seen[short] == 1 else f"{short} ({seen[short]})"))
    return labels


def _numbers(rollouts: Iterable[tuple[str, RowCard]], key: str) -> tuple[float, ...]:
    return tuple(number for _, card in rollouts if (number := card.numbers.get(key)) is not None)


def _mean(numbers: Sequence[float]) -> float:
    """Without the overflow of a sum of very large ones."""
    return sum(number / len(numbers) for number in numbers)


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
