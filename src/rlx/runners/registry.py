"""The runners, in one tuple: ours, then what other distributions register under the entry-point group `rlx.runners`.

They are loaded by the worker alone: what a runner imports may be heavy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

from starlette.types import ASGIApp

from rlx.errors import BadInput
from rlx.plugins import registered
from rlx.runners.base import Runner
from rlx.runners.relay import Relay
from rlx.runners.seats.desk import Desk
from rlx.settings import Settings

GROUP = "rlx.runners"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a worker gives its runners."""

    settings: Settings
    url: str
    """Where the worker's own server answers, on loopback."""
    relay: Relay
    mount: Callable[[str, ASGIApp], None]
    """Let that server answer below a path."""
    desk: Desk = field(default_factory=Desk)
    """Where people sit."""
    outside: str | None = None
    """Where agents on other machines find the capture proxy, by way of the site; None: nowhere."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner that is imported when the worker starts."""

    name: str
    target: str
    """`module:attribute`, called with the worker's surroundings."""

    def load(self, surroundings: Surroundings) -> Runner:
        module, _, attribute = self.target.partition(":")
        make: Callable[[Surroundings], Runner] = getattr(import_module(module), attribute)
        return make(surroundings)


RUNNERS: tuple[Entry, ...] = (Entry("harbor", "rlx.runners.harbor.runner:HarborRunner"),)


def entries() -> tuple[Entry, ...]:
    """Every runner by name. Raises `BadInput` when two share one."""
    found = (*RUNNERS, *(Entry(point.name, point.value) for point in registered(GROUP)))
    names = [entry.name for entry in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"Two installed packages register {', '.join(twice)} under {GROUP}.", hint="Uninstall one.")
    return found
