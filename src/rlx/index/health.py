"""What is known of the health of tasks, laid over a catalog that knows nothing of it: per query, as it is now."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rlx.answers.stored import stored
from rlx.index.bits import bits
from rlx.model import Facets, Overlay
from rlx.store.health import Book, EnvHealth, State

KEY: Final = "health"
"""The facet."""
VALUES: Final[Mapping[State, str]] = {"proven": "Proven", "broken": "Broken", "unproven": "Unproven"}
UNPROVEN: Final = VALUES["unproven"]
NOTHING: Final[Book] = {}


def of_environment(known: EnvHealth, revision: str | None) -> str | None:
    """Broken where a task is, proven where one is and none is broken; None where nothing is known at the revision."""
    states = {task.state for task in known.at(revision).values()}
    return next((VALUES[state] for state in ("broken", "proven") if state in states), None)


def of_tasks(known: EnvHealth, revision: str | None) -> dict[str, str]:
    """By ref, what is more than unproven at a revision."""
    return {ref: VALUES[task.state] for ref, task in known.at(revision).items() if task.state != "unproven"}


def laid(known: EnvHealth, revision: str | None, *, is_asked: bool) -> Overlay | None:
    """What a list of an environment's tasks is narrowed by; where nothing is known, only for who asks for it."""
    values = of_tasks(known, revision)
    return Overlay(KEY, values, UNPROVEN) if values or is_asked else None


def with_health(facets: Facets, value: str | None) -> Facets:
    return facets if value is None else {**facets, KEY: (stored(value),)}


class HealthColumn:
    """A facet that most of `count` places have the value `Unproven` of. Meets what `FacetColumn` does."""

    def __init__(self, known: Mapping[int, str], count: int) -> None:
        """`known` is what the places have that are more than unproven."""
        self._known = known
        places = {value: [place for place, own in known.items() if own == value] for value in set(known.values())}
        self._bits = {value: bits(of, count) for value, of in places.items()}
        every = 0
        for own in self._bits.values():
            every |= own
        self._rest = ((1 << count) - 1) & ~every

    @property
    def values(self) -> Collection[str]:
        return (*self._bits, UNPROVEN)

    def of(self, place: int) -> str | None:
        return self._known.get(place)

    def any_of(self, values: Iterable[str]) -> int:
        mask = 0
        for value in values:
            mask |= self._rest if value == UNPROVEN else self._bits.get(value, 0)
        return mask

    def counts_of(self, places: Sequence[int]) -> Mapping[str, int]:
        return Counter(self._known.get(place, UNPROVEN) for place in places)

    def counts_in(self, mask: int) -> Mapping[str, int]:
        found = {value: (own & mask).bit_count() for value, own in self._bits.items()}
        return {**found, UNPROVEN: (self._rest & mask).bit_count()}
