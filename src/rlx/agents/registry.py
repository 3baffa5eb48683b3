"""The agents, in one tuple: ours and Harbor's, then what other distributions register under `rlx.agents`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from rlx.errors import BadInput, NotFound

GROUP = "rlx.agents"
HUMAN = "human"
"""The agent that is whoever sits at the terminal."""


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent that a Harbor trial can run."""

    name: str
    target: str | None = None
    """`module:Class` of a Harbor agent; None: OpenEnv knows how Harbor's agent of this name is told of its model."""
    needs_model: bool = True
    calls_tools: bool = False
    """Its model has to take tools."""
    needs_solution: bool = False
    """It follows the task's own solution, of which nothing may be shown."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What its class is made with. In texts `{base_url}` is the model's address, `{key}` the key for it."""
    sandboxes: tuple[str, ...] = ()
    """Kinds of sandboxes it works in. Empty: all."""
    tools: tuple[str, ...] = ()
    """Programs that have to be in the sandbox."""


AGENTS: tuple[AgentEntry, ...] = (
    AgentEntry("oracle", needs_model=False, needs_solution=True),
    AgentEntry("nop", needs_model=False),
    AgentEntry(
        "simple",
        target="rlx.agents.harbor:SimpleAgent",
        calls_tools=True,
        options={"base_url": "{base_url}/v1", "api_key": "{key}"},
    ),
    AgentEntry("terminus-2", options={"record_terminal_session": False}, tools=("tmux",)),
    AgentEntry(HUMAN, target="rlx.runners.harbor.human:HumanAgent", needs_model=False, sandboxes=("local",)),
)


def agents() -> tuple[AgentEntry, ...]:
    """Every agent by name; an entry point names an `AgentEntry`. Raises `BadInput` when two share one."""
    found = [*AGENTS]
    for point in entry_points(group=GROUP):
        module, _, attribute = point.value.partition(":")
        entry: AgentEntry = getattr(import_module(module), attribute)
        found.append(entry)
    names = [entry.name for entry in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"Two installed packages register {', '.join(twice)} under {GROUP}.", hint="Uninstall one.")
    return tuple(found)


def agent(name: str) -> AgentEntry:
    """Raises `NotFound` for a name that nobody registered."""
    known = agents()
    for entry in known:
        if entry.name == name:
            return entry
    raise NotFound(f"No agent {name[:60]!r}.", hint=f"There is {', '.join(entry.name for entry in known)}.")
