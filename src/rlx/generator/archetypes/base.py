"""What an archetype offers: a specification of its kind, its domain module, and calls to try it with.

The folder of an archetype holds `__init__.py` with `ARCHETYPE`, and `templates/` with two templates of Jinja2, which
get `spec` (`EnvSpec`) and `options` (its options over the archetype's defaults):

- `domain.py.j2`: the domain module. After its imports it says `{% include "episode.py.j2" %}`, which gives it
  `IllegalAction`, `Step` and `Episode`, and imports `dataclass` and `Any` for that. Then it defines
  `class {{ spec.class_name }}(Episode)`: `__init__(self, task: dict[str, Any])` gets a task with its given and hidden
  keys in one mapping, and there is one method for each tool with the tool's parameters, typed, that returns text for
  the model. A method raises `IllegalAction` for what the rules forbid, adds to `self.reward` and sets `self.done`. The
  bounds and choices of parameters are checked here: frameworks pass on what has the right type. Python 3.10, standard
  library, deterministic, no clock, no network unless the backend says so.
- `test_domain.py.j2`: its tests, which the generated project runs with pytest.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlx.generator.spec import EnvSpec, Scalar


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind:
    """A game or a job of an archetype that a description can name."""

    named: str
    """A regular expression of its names in lower case, in English and Korean."""
    covers: str
    """A regular expression of whole words that its rules answer for. A description with others is asked about."""
    make: Callable[[], EnvSpec]


@dataclass(frozen=True, slots=True)
class Archetype:
    name: str
    says: str
    """What environments are of this kind, as one sentence that can follow "because"."""
    example: Callable[[], EnvSpec]
    """A complete specification: what a description leaves open is taken from here."""
    options: Mapping[str, Scalar | list[Scalar]]
    """What can be varied, with its default."""
    script: Callable[[EnvSpec], Sequence[Call]]
    """A sensible way through the first task of the first split, for smoke rollouts: the scripted model plays it."""
    guess: Callable[[EnvSpec, random.Random, Mapping[str, Any]], Call]
    """A call that may well be legal, for a task with all its keys; parity plays many, and spoils some."""
    problems: Callable[[EnvSpec], Sequence[str]] = lambda spec: ()
    """Why this archetype's module cannot serve a specification; each says how to mend it."""
    turns: str | None = None
    """The option that a limit in a description sets, where not every call is a turn. Calls may be twice as many."""
    kinds: Sequence[Kind] = ()
    """What descriptions can name. Empty: it is never chosen for one."""

    def options_of(self, spec: EnvSpec) -> dict[str, Scalar | list[Scalar]]:
        return {**self.options, **spec.options}
