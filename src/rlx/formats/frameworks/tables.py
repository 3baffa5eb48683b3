"""The tables of frameworks, typed. They are ours, so what is wrong in one is a fault and raises."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, overload

type Name = Literal["nemo_gym", "verl", "skyrl", "reasoning_gym", "verifiers"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table comes from."""

    package: str
    version: str
    date: str
    """When it was read from the package."""


@dataclass(frozen=True, slots=True)
class NeMoServer:
    """A resources server of NeMo Gym: it verifies what an agent did, and may offer tools."""

    name: str
    domain: str = ""
    about: str = ""
    """What its tasks are, in the words of the package."""
    checks: str = ""
    """How it verifies, in the words of the package."""
    judge: bool = False
    """A model judges."""
    tools: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    """Fields of a row that the verifier reads."""
    prompt: tuple[str, ...] = ()
    """Fields of a row that the prompt was made of."""
    beside: tuple[str, ...] = ()
    """Fields for metrics, or that tell where the row comes from."""
    config: str = ""
    """The configuration that `gym env start --resources-server` takes: `mcqa` or `mcqa/flavour`."""


@dataclass(frozen=True, slots=True)
class NeMoAgent:
    """An agent as a configuration of NeMo Gym names it."""

    name: str
    kind: str
    """The package of its loop: `simple_agent`."""
    server: str = ""
    """The resources server that verifies its work; none where the agent does it itself."""
    config: str = ""
    """The file that declares it, in the package."""
    max_steps: int | None = None


@dataclass(frozen=True, slots=True)
class NeMoGym:
    source: Source
    python: str
    """Versions of Python it runs on."""
    servers: Mapping[str, NeMoServer]
    agents: Mapping[str, NeMoAgent]
    datasets: Mapping[str, tuple[str, ...]]
    """Repository on the Hub to the agents whose configurations name it."""
    loops: Mapping[str, str]
    """By `NeMoAgent.kind`, what it does in the words of the package."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """A reward function of verl, and the values of `data_source` it is used for."""

    name: str
    about: str = ""
    sources: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verl:
    source: Source
    python: str
    scorers: Mapping[str, Scorer]
    agent_loops: Mapping[str, str]
    """`agent_name` of a row to what it does."""

    def scorer(self, data_source: str) -> Scorer | None:
        """The reward function that verl picks, in its order; None: there is none, and it must be given one."""
        for scorer in self.scorers.values():
            if data_source in scorer.sources or any(data_source.startswith(item) for item in scorer.prefixes):
                return scorer
        return None


@dataclass(frozen=True, slots=True)
class SkyRLEnv:
    name: str
    """`env_class` of a row."""
    about: str = ""
    needs: tuple[str, ...] = ()
    """Columns of a row without which it does not start."""
    tools: tuple[str, ...] = ()
    turns: int | None = None
    """Where the row does not tell; None: as the row or the trainer tells."""


@dataclass(frozen=True, slots=True)
class SkyRL:
    source: Source
    python: str
    envs: Mapping[str, SkyRLEnv]


@dataclass(frozen=True, slots=True)
class ReasoningTask:
    name: str
    """`task` or `source_dataset` of a row."""
    group: str
    """algebra, games, logic…"""
    about: str = ""
    exact: bool = False
    """An answer must equal the one that is kept; else a program checks it."""


@dataclass(frozen=True, slots=True)
class ReasoningGym:
    source: Source
    python: str
    tasks: Mapping[str, ReasoningTask]


@dataclass(frozen=True, slots=True)
class Taskset:
    name: str
    """As `vf-eval <name>` takes it."""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Verifiers:
    source: Source
    python: str
    tasksets: Mapping[str, Taskset]
    harnesses: tuple[str, ...]


@overload
def table(name: Literal["nemo_gym"]) -> NeMoGym: ...
@overload
def table(name: Literal["verl"]) -> Verl: ...
@overload
def table(name: Literal["skyrl"]) -> SkyRL: ...
@overload
def table(name: Literal["reasoning_gym"]) -> ReasoningGym: ...
@overload
def table(name: Literal["verifiers"]) -> Verifiers: ...
@cache
def table(name: Name) -> NeMoGym | Verl | SkyRL | ReasoningGym | Verifiers:
    """What is known of a framework. Read once."""
    return made(name, tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8")))


def made(name: Name, told: Mapping[str, Any]) -> NeMoGym | Verl | SkyRL | ReasoningGym | Verifiers:
    """A table from its TOML. Raises `KeyError` and `TypeError` for what does not belong in it."""
    source = Source(told["source"], told["version"], told["date"])
    match name:
        case "nemo_gym":
            return NeMoGym(
                source,
                told["python"],
                _entries(NeMoServer, told["servers"]),
                _entries(NeMoAgent, told["agents"]),
                {repo: tuple(agents) for repo, agents in told["datasets"].items()},
                told["loops"],
            )
        case "verl":
            return Verl(source, told["python"], _entries(Scorer, told["scorers"]), told["agent_loops"])
        case "skyrl":
            return SkyRL(source, told["python"], _entries(SkyRLEnv, told["envs"]))
        case "reasoning_gym":
            return ReasoningGym(source, told["python"], _entries(ReasoningTask, told["tasks"]))
        case "verifiers":
            return Verifiers(source, told["python"], _entries(Taskset, told["tasksets"]), tuple(told["harnesses"]))


def _entries[T](kind: Callable[..., T], told: Mapping[str, Mapping[str, Any]]) -> Mapping[str, T]:
    return {
        name: kind(name=name, **{key: tuple(item) if isinstance(item, list) else item for key, item in entry.items()})
        for name, entry in told.items()
    }
