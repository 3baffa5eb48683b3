"""The agents, in one tuple: ours and Harbor's, then what other distributions register under `rlx.agents`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from rlx.errors import BadInput, NotFound
from rlx.plugins import registered

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
    protocol: Literal["chat", "responses", "anthropic", "google"] = "chat"
    """What it speaks with its model; the capture proxy says it to the model as chat."""
    installed: Literal["npm", "PyPI"] | None = None
    """It works inside of the sandbox, and its installer fetches it from there. Local ones take a prepared layer."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What its commands find in their environment: the documented switches of what it sends and fetches by itself."""


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
    AgentEntry(
        "mini-swe-agent",
        target="rlx.runners.harbor.installed:PreparedMiniSweAgent",
        calls_tools=True,
        tools=("bash",),
        installed="PyPI",
        env={
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MSWEA_GLOBAL_CONFIG_DIR": "/tmp/mswea-config",  # noqa: S108  # in the sandbox
            "MSWEA_SILENT_STARTUP": "1",
        },
    ),
    AgentEntry(
        "opencode",
        target="rlx.runners.harbor.installed:PreparedOpenCode",
        calls_tools=True,
        tools=("bash",),
        installed="npm",
        env={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
    ),
    AgentEntry(
        "pi",
        target="rlx.runners.harbor.installed:PreparedPi",
        calls_tools=True,
        tools=("bash",),
        installed="npm",
        env={"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
    ),
    AgentEntry("qwen-coder", calls_tools=True, installed="npm"),
    AgentEntry("codex", calls_tools=True, installed="npm", protocol="responses"),
    AgentEntry("claude-code", calls_tools=True, installed="npm", protocol="anthropic"),
    AgentEntry("gemini-cli", calls_tools=True, installed="npm", protocol="google"),
    AgentEntry("vibe", calls_tools=True, installed="PyPI"),
    AgentEntry("openhands-sdk", calls_tools=True, installed="PyPI"),
)


def agents() -> tuple[AgentEntry, ...]:
    """Every agent by name; an entry point names an `AgentEntry`. Raises `BadInput` when two share one."""
    found = [*AGENTS]
    for point in registered(GROUP):
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
