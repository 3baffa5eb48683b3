"""The settings of a task as types: what Harbor's own `TaskConfig` of schema 1.0 to 1.4 can say, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlx.formats.harbor.table import Odd

PUBLIC, NO_NETWORK, ALLOWLIST = "public", "no-network", "allowlist"


@dataclass(frozen=True, slots=True)
class Network:
    mode: str
    """public, no-network, allowlist, or a word Harbor does not know."""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Healthcheck:
    command: str
    interval: float = 5.0
    timeout: float = 30.0
    start_period: float = 0.0
    retries: float = 3


@dataclass(frozen=True, slots=True)
class McpServer:
    name: str
    transport: str
    target: str
    """Its address, or the command that starts it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """An `[environment]`: of the task, or of a grader of its own."""

    image: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: float | None = None
    storage_mb: float | None = None
    gpus: float | None = None
    gpu_types: tuple[str, ...] = ()
    tpu: str | None = None
    network: Network = Network(PUBLIC)
    network_said: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    skills_dir: str | None = None
    healthcheck: Healthcheck | None = None
    mcp_servers: tuple[McpServer, ...] = ()
    build_timeout: float = 600.0


@dataclass(frozen=True, slots=True)
class Agent:
    timeout: float | None = None
    """Seconds; None is no limit."""
    user: str | None = None
    network: Network | None = None


@dataclass(frozen=True, slots=True)
class Collect:
    """A command run after the agent, whose output a separate grader may read."""

    command: str
    service: str = "main"


@dataclass(frozen=True, slots=True)
class Verifier:
    timeout: float = 600.0
    user: str | None = None
    network: Network | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    mode: str | None = None
    """shared or separate, when it is said or implied."""
    environment: Surroundings | None = None
    collect: tuple[Collect, ...] = ()

    @property
    def separate(self) -> bool:
        return self.mode == "separate"


@dataclass(frozen=True, slots=True)
class Artifact:
    source: str
    destination: str | None = None
    service: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    agent: Agent
    verifier: Verifier
    min_reward: Mapping[str, float]
    """Score name to the least value that lets the next step begin."""
    healthcheck: Healthcheck | None
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class Package:
    name: str | None = None
    version: str | None = None
    description: str | None = None
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSettings:
    schema: str | None = None
    """As written under either name."""
    source: str | None = None
    package: Package | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    environment: Surroundings = Surroundings()
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    solution_env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    reward_strategy: str = "mean"
    """How a multi-step task's reward is made: mean over steps, or final."""
    artifacts: tuple[Artifact, ...] = ()
    own: Mapping[str, object] = field(default_factory=dict)
    """Keys Harbor does not know, by dotted path of the table they are in."""
    odd: tuple[Odd, ...] = ()

    def separate(self, step: Step | None = None) -> bool:
        """Whether the grader (of a step) has an environment of its own."""
        own = step.verifier.mode if step else None
        return (own or self.verifier.mode) == "separate"

    @property
    def surroundings(self) -> tuple[Surroundings, ...]:
        """Every environment that is described."""
        graders = [self.verifier.environment, *(step.verifier.environment for step in self.steps)]
        return (self.environment, *(grader for grader in graders if grader))

    @property
    def networks(self) -> tuple[tuple[str, Network], ...]:
        """The network of every phase, the environment's first, each with the key that says so."""
        phases: list[tuple[str, Network | None]] = [
            ("environment", self.environment.network),
            ("agent", self.agent.network),
            ("verifier", self.verifier.network),
            ("verifier.environment", self.verifier.environment.network if self.verifier.environment else None),
        ]
        for step in self.steps:
            phases += [(f"steps.{step.name}.agent", step.agent.network)]
            phases += [(f"steps.{step.name}.verifier", step.verifier.network)]
        return tuple((where, network) for where, network in phases if network)
