"""Harbor's environment over local sandboxes: the Dockerfile replayed as layers, or the image approximated."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode, NetworkPolicy

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import Network, SandboxSpec
from rlx.sandboxes.dockerfile import Plan, Refusal, base_of, plan
from rlx.sandboxes.dockerfile.host import read_context
from rlx.sandboxes.harbor import SandboxEnvironment
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.replay import Replay
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.sandboxes.local.terminal import Terminal
from rlx.sandboxes.local.tools import tool_environment, tools_key
from rlx.sandboxes.replay import replayable
from rlx.texts import words

IMPORT_PATH: Final = "rlx.sandboxes.local.harbor:LocalEnvironment"
_LOOPBACK: Final = "127.0.0.1"
_LONGEST_DOCKERFILE: Final = 1024 * 1024


class LocalEnvironment(SandboxEnvironment):
    """Refuses what it cannot keep: an allow-list of hosts, compose, GPUs, images that the host's system is not like."""

    @staticmethod
    def type() -> str:
        return "rlx-local"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        inside = bool(self._place.agent_layers)
        return EnvironmentCapabilities(
            disable_internet=True, network_allowlist=inside, network_allowlist_ipv4_addresses=inside
        )

    def validate_network_policy_support(self, network_policy: NetworkPolicy | None = None) -> None:
        """Harbor adds the model's address to what a task without network allows: that is the forwarder, and no more."""
        super().validate_network_policy_support(network_policy)
        policy = network_policy or self._network_policy
        if policy.network_mode == NetworkMode.ALLOWLIST and set(policy.allowed_hosts) != {_LOOPBACK}:
            raise ValueError("A local sandbox cannot allow some hosts alone.")

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True, fractional_cpus=True)

    @property
    def _kind(self) -> Local:
        """Raises `SandboxError`."""
        if not isinstance(self._place.kind, Local):
            raise SandboxError("A local sandbox is wanted where none are made.")
        return self._place.kind

    async def _made(self) -> LocalSandbox:
        sandbox = self._kind.make(await self._spec())
        self._keep(sandbox)
        await sandbox.start()
        return sandbox

    @property
    def sandbox(self) -> LocalSandbox:
        """The one that was started. Raises `SandboxError`."""
        if not isinstance(self._sandbox, LocalSandbox):
            raise SandboxError("The sandbox was not started.")
        return self._sandbox

    async def terminal(self, argv: Sequence[str], env: Mapping[str, str]) -> Terminal:
        """A command on a terminal, where and as whom an agent's commands run."""
        whom = self._resolve_user(None)
        return await self.sandbox.terminal(
            argv, env=self._merge_env(dict(env)), user=None if whom is None else str(whom)
        )

    async def _spec(self) -> SandboxSpec:
        config = self.task_env_config
        public = self._network_policy.network_mode == NetworkMode.PUBLIC
        network: Network = "public" if public else "none"
        layers: tuple[str, ...] = ()
        env: dict[str, str] = {}
        workdir, user = "/", None
        tools, helping = await asyncio.to_thread(_tools, self._kind, network)
        if self._dockerfile is not None:
            made = await asyncio.to_thread(_planned, self._kind, self._dockerfile, self.environment_dir)
            for note in made.notes:
                self._place.noted(note)
            base = await asyncio.to_thread(self._kind.base)
            building = tool_environment("public") if tools else {}
            replay = Replay(self._kind, made, self.environment_dir, tools=tools, env=building, tell=self._place.told)
            done = await replay.layers(base)
            layers, env = done.layers, dict(done.image.env)
            workdir, user = done.image.workdir, done.image.user
            self._entrypoint = done.image.entrypoint
        else:
            found = base_of(config.docker_image, self._kind.host())
            if isinstance(found, Refusal):
                raise TaskError(words(found.why))
            env = dict(found.env)
            for note in found.notes:
                self._place.noted(note)
        is_agents, memory = not self._place.sandboxes, self._effective_memory_mb
        return SandboxSpec(
            layers=layers,
            tools=(*tools, *(self._place.agent_layers if is_agents else ())),
            env={**helping, **env, **self._persistent_env},
            workdir=config.workdir or workdir or "/",
            user=user,
            network=network,
            forward=self._place.forward,
            cpus=self._effective_cpus,
            memory_mb=memory + self._place.agent_memory_mb if memory and is_agents else memory,
            disk_mb=self._effective_storage_mb,
        )


def _tools(kind: Local, network: Network) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The tool layer where one was prepared, and the variables that make it be used. Blocks."""
    held = kind.layers.hold(tools_key())
    if held is None:
        return (), {}
    held.release()
    return (held.key,), tool_environment(network)


def _planned(kind: Local, dockerfile: Path, folder: Path) -> Plan:
    """Raises `TaskError` with the line that stands in the way. Blocks."""
    if dockerfile.stat().st_size > _LONGEST_DOCKERFILE:
        raise TaskError("The Dockerfile is larger than 1 MiB.")
    try:
        text = dockerfile.read_text("utf-8")
        ignored = folder / ".dockerignore"
        leaving = ignored.read_text("utf-8") if ignored.is_file() else None
    except UnicodeDecodeError as error:
        raise TaskError("The Dockerfile is not UTF-8.") from error
    made = plan(text, read_context(folder), host=kind.host(), dockerignore=leaving)
    if isinstance(made, Refusal):
        at = f"Line {made.line} of the Dockerfile: " if made.line else ""
        raise TaskError(f"{at}{words(made.why)}")
    lacking = replayable(made)
    if lacking is not None:
        raise TaskError(f"Line {lacking[1]} of the Dockerfile: {words(lacking[0])}")
    return made
