"""Where we reach into OpenEnv and Harbor, which offer no way of their own. Each reach is proved by a test.

- `openenv.harbor.rollout.build_trial_config` knows Harbor's own sandboxes only: ours are put into what it returns.
- `Trial.create` makes the trial out of sight: whoever runs it is given it, to be told of its phases.
- `resolve_env_vars` reads this process's environment: a task's `${NAME}` is looked up in the rollout's bindings alone.
- OpenEnv's table of agents lacks those that speak with no model, and ours.
"""

import re
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import harbor.agents.oracle
import harbor.utils.env
import harbor.verifier.verifier
import openenv.harbor.rollout as openenv_rollout
from harbor.models.trial.config import EnvironmentConfig, TrialConfig
from harbor.trial.trial import Trial
from openenv.harbor.seams import SEAMS, Seam

from rlx.agents.registry import AgentEntry, agents
from rlx.errors import BadInput

KNOWN: Final = {"harbor": "0.25.", "openenv": "0.10."}
_TEMPLATE: Final = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_ANY_SANDBOX: Final = "docker"
"""Of Harbor's names one that is put there till ours replaces it. Nothing is asked of it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What of one rollout is reached through the hooks."""

    import_path: str | None
    """`module:Class` of its Harbor environment; None: Harbor's own, by the name of the rollout's sandbox."""
    attach: Callable[[Trial], None]
    bindings: Mapping[str, str]
    for_grader: Mapping[str, str] = field(default_factory=dict)
    """Of the environment of its graders, before what the task says."""


CURRENT: ContextVar[Reach] = ContextVar("reach")
"""Of the rollout that runs in this context."""


@cache
def install() -> None:
    """Once in a process. Raises `BadInput` beside versions that this was not written for."""
    for name, known in KNOWN.items():
        if not version(name).startswith(known):
            raise BadInput(f"{name} {version(name)} is installed, and {known}x is needed.")
    _install_sandboxes()
    _install_trial()
    _install_bindings()
    for entry in agents():
        SEAMS[entry.name] = _seam(entry)


def _install_sandboxes() -> None:
    build = openenv_rollout.build_trial_config

    def build_trial_config(**settings: Any) -> TrialConfig:
        reach = CURRENT.get(None)
        if reach is None:
            return build(**settings)
        own = {"sandbox": _ANY_SANDBOX} if reach.import_path is not None else {}
        config: TrialConfig = build(**{**settings, **own})
        environment = config.environment
        if reach.import_path is not None:
            environment = EnvironmentConfig(import_path=reach.import_path, delete=True)
        verifier = config.verifier.model_copy(update={"env": {**config.verifier.env, **reach.for_grader}})
        return config.model_copy(update={"environment": environment, "verifier": verifier})

    openenv_rollout.build_trial_config = build_trial_config


def _install_trial() -> None:
    create = Trial.create.__func__

    async def create_and_attach(cls: type[Trial], config: TrialConfig) -> Trial:
        trial = await create(cls, config)
        reach = CURRENT.get(None)
        if reach is not None:
            reach.attach(trial)
        return trial

    Trial.create = classmethod(create_and_attach)


def _install_bindings() -> None:
    """In every module that has it by name already; those that are loaded later find it in its own."""
    unsafe = harbor.utils.env.resolve_env_vars
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] in ("harbor", "openenv")]:
        if getattr(module, "resolve_env_vars", None) is unsafe:
            vars(module)["resolve_env_vars"] = resolve_bound


def resolve_bound(env_dict: Mapping[str, str]) -> dict[str, str]:
    """What Harbor's `resolve_env_vars` does, of the rollout's bindings. Raises `ValueError` for a name without one."""
    reach = CURRENT.get(None)
    bindings = reach.bindings if reach is not None else {}
    resolved = {}
    for key, value in env_dict.items():
        match = _TEMPLATE.fullmatch(value)
        if match is None:
            resolved[key] = value
        elif match[1] in bindings:
            resolved[key] = bindings[match[1]]
        elif match[2] is not None:
            resolved[key] = match[2]
        else:
            raise ValueError(f"Environment variable '{match[1]}' is not given to this rollout")
    return resolved


def _seam(entry: AgentEntry) -> Seam:
    known = SEAMS.get(entry.name)
    if known is None:
        known = Seam(name=entry.name, dialect="openai_chat" if entry.needs_model else "none")
    given = known.kwargs

    def kwargs(base_url: str, session: str, model: str) -> dict[str, Any]:
        before = given(base_url, session, model) if given is not None else {}
        return {**before, **_filled(entry.options, base_url, session)}

    switches = {name: value.replace("{", "{{").replace("}", "}}") for name, value in entry.env.items()}
    return replace(
        known,
        import_path=entry.target or known.import_path,
        kwargs=kwargs,
        agent_env={**known.agent_env, **switches},
    )


def _filled(options: Mapping[str, Any], base_url: str, key: str) -> dict[str, Any]:
    return {
        name: value.replace("{base_url}", base_url).replace("{key}", key) if isinstance(value, str) else value
        for name, value in options.items()
    }
