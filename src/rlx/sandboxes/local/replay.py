"""Makes layers from a plan of a Dockerfile, step by step in sandboxes, and uses those that are there already.

What a RUN leaves behind is a layer of its own together with what was copied before it. Layers are named by the keys of
the plan and of the host's system, so that no other task or system gets them.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rlx.errors import SandboxError
from rlx.sandboxes.base import Network, SandboxSpec
from rlx.sandboxes.dockerfile import AnyStep, Copy, Image, Plan, Run, SetWorkdir, Stage, Write
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.sandboxes.replay import Steps, Tell


@dataclass(frozen=True, slots=True)
class Replayed:
    layers: tuple[str, ...]
    """The lowest first."""
    image: Image
    made: int
    """How many of the layers were not there before."""


class Replay:
    """Of one plan. Raises `TaskError` where a command of it fails, `SandboxError`, `LimitError`."""

    def __init__(
        self,
        kind: Local,
        plan: Plan,
        context: Path,
        *,
        network: Network = "public",
        tools: Sequence[str] = (),
        env: Mapping[str, str] = MappingProxyType({}),
        tell: Tell | None = None,
    ) -> None:
        """`context` is the folder that the plan was made from; `tools` are keys of prepared layers below it all, and
        `env` what they need to be told; `tell` hears what commands write."""
        self._kind = kind
        self._plan = plan
        self._context = context
        self._network: Network = network if kind.options.public_network else "none"
        self._tools = tuple(tools)
        self._env = env
        self._tell = tell
        self._made = 0
        self._stages: dict[int, tuple[str, ...]] = {}

    async def layers(self, base: str) -> Replayed:
        """`base` is the key of the host's system as it is under all layers."""
        base = "\n".join((base, *self._tools))
        for index, stage in enumerate(self._plan.stages):
            self._stages[index] = await self._stage(stage, base)
        return Replayed(self._stages[len(self._plan.stages) - 1], self._plan.image, self._made)

    async def _stage(self, stage: Stage, base: str) -> tuple[str, ...]:
        below: tuple[str, ...] = ()
        for steps in _groups(stage.steps):
            key = _key(base, steps[-1])
            async with _making(key):
                if not await asyncio.to_thread(self._has, key):
                    await self._make(key, steps, below)
                    self._made += 1
            below = (*below, key)
        return below

    def _has(self, key: str) -> bool:
        layer = self._kind.layers.hold(key)
        if layer is not None:
            layer.release()
        return layer is not None

    async def _make(self, key: str, steps: Sequence[AnyStep], below: tuple[str, ...]) -> None:
        closed = any(isinstance(step, Run) and not step.network for step in steps)
        sandbox = self._kind.make(
            SandboxSpec(layers=below, tools=self._tools, network="none" if closed else self._network)
        )
        try:
            await sandbox.start()
            taking = Steps(sandbox, self._context, self._env, self._tell, self._stage_made)
            for step in steps:
                await taking.take(step)
            await sandbox.commit(key)
        finally:
            await sandbox.stop()

    @asynccontextmanager
    async def _stage_made(self, index: int) -> AsyncIterator[LocalSandbox]:
        """A sandbox of a stage that is finished."""
        source = self._kind.make(SandboxSpec(layers=self._stages[index], tools=self._tools))
        try:
            await source.start()
            yield source
        finally:
            await source.stop()


def _groups(steps: Sequence[AnyStep]) -> list[list[AnyStep]]:
    """Steps that become one layer: up to each RUN, and what is left after the last."""
    groups: list[list[AnyStep]] = [[]]
    for step in steps:
        if isinstance(step, Run | Copy | Write | SetWorkdir):
            groups[-1].append(step)
        if isinstance(step, Run):
            groups.append([])
    return [group for group in groups if group]


def _key(base: str, step: AnyStep) -> str:
    if step.key is None:
        raise SandboxError("A file of the build context has no digest.")
    return "image-" + hashlib.sha256(f"{base}\n{step.key}".encode()).hexdigest()[:48]


_BUSY: dict[str, tuple[asyncio.Lock, int]] = {}


@asynccontextmanager
async def _making(key: str) -> AsyncIterator[None]:
    """One at a time for a key, of this process; those that wait find it made."""
    lock, waiting = _BUSY.get(key, (asyncio.Lock(), 0))
    _BUSY[key] = lock, waiting + 1
    try:
        async with lock:
            yield
    finally:
        lock, waiting = _BUSY[key]
        if waiting == 1:
            del _BUSY[key]
        else:
            _BUSY[key] = lock, waiting - 1
