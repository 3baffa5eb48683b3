"""The archetypes and targets: ours, then those that other distributions register under two entry-point groups."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from rlx.errors import BadInput
from rlx.generator.archetypes.base import Archetype
from rlx.generator.targets.base import Target

ARCHETYPE_GROUP = "rlx.archetypes"
TARGET_GROUP = "rlx.generator_targets"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is imported when it is first needed."""

    name: str
    place: str
    """`module:attribute`."""

    def load(self) -> object:
        module, _, attribute = self.place.partition(":")
        return getattr(import_module(module), attribute)


ARCHETYPES = (
    Entry("board_game", "rlx.generator.archetypes.board_game:ARCHETYPE"),
    Entry("guessing", "rlx.generator.archetypes.guessing:ARCHETYPE"),
    Entry("qa", "rlx.generator.archetypes.qa:ARCHETYPE"),
    Entry("workflow", "rlx.generator.archetypes.workflow:ARCHETYPE"),
)
TARGETS = (
    Entry("openenv", "rlx.generator.targets.openenv:TARGET"),
    Entry("ors", "rlx.generator.targets.ors:TARGET"),
    Entry("verifiers", "rlx.generator.targets.verifiers:TARGET"),
    Entry("nemo_gym", "rlx.generator.targets.nemo_gym:TARGET"),
)


@cache
def archetypes() -> dict[str, Archetype]:
    """Every archetype by its name."""
    return {name: _as(Archetype, found) for name, found in _load(ARCHETYPES, ARCHETYPE_GROUP)}


@cache
def targets() -> dict[str, Target]:
    """Every target by its framework's name."""
    return {name: _as(Target, found) for name, found in _load(TARGETS, TARGET_GROUP)}


def archetype(name: str) -> Archetype:
    """Raises `BadInput` for a name that nobody registered."""
    found = archetypes().get(name)
    if found is None:
        raise BadInput(f"There is no archetype {name!r}.", hint=f"There are {', '.join(sorted(archetypes()))}.")
    return found


def _load(ours: Iterable[Entry], group: str) -> Iterable[tuple[str, object]]:
    yield from ((entry.name, entry.load()) for entry in ours)
    yield from ((point.name, point.load()) for point in entry_points(group=group))


def _as[T](kind: type[T], found: object) -> T:
    if not isinstance(found, kind):
        raise BadInput(f"{found!r} was registered, and is no {kind.__name__}.", hint="Remove the plug-in, or mend it.")
    return found
