"""The kinds of sandboxes, in one tuple: ours, then what other distributions register under `rlx.sandboxes`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from rlx.errors import BadInput, NotFound
from rlx.plugins import registered
from rlx.sandboxes.base import SandboxKind
from rlx.sandboxes.named import OTHERS, environments, named
from rlx.settings import Settings

GROUP = "rlx.sandboxes"


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind that is imported when it is first needed."""

    name: str
    target: str
    """`module:attribute`, called with the settings of the process."""

    def load(self, settings: Settings) -> SandboxKind:
        module, _, attribute = self.target.partition(":")
        make: Callable[[Settings], SandboxKind] = getattr(import_module(module), attribute)
        return make(settings)


SANDBOXES: tuple[Entry, ...] = (
    Entry("local", "rlx.sandboxes.local.kind:Local"),
    Entry("docker", "rlx.sandboxes.docker.kind:Docker"),
    Entry("hf", "rlx.sandboxes.hf.kind:HF"),
)


def entries() -> tuple[Entry, ...]:
    """Every kind by name. Raises `BadInput` when two share one."""
    found = (*SANDBOXES, *(Entry(point.name, point.value) for point in registered(GROUP)))
    names = [entry.name for entry in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"Two installed packages register {', '.join(twice)} under {GROUP}.", hint="Uninstall one.")
    return found


def sandbox_kind(name: str, settings: Settings) -> SandboxKind:
    """One that is registered, or of Harbor's others. Raises `NotFound` for a name that neither knows."""
    known = entries()
    for entry in known:
        if entry.name == name:
            return entry.load(settings)
    if name in environments():
        return named(name, settings)
    raise NotFound(f"No sandbox {name[:60]!r}.", hint=f"There is {', '.join(entry.name for entry in known)}. {OTHERS}")
