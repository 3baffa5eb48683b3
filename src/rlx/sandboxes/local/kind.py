"""The kind `local`: whether this machine can, what it keeps on disk, and new sandboxes."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rlx.errors import BadInput, SandboxError
from rlx.sandboxes.base import Impossible, Possible, SandboxSpec
from rlx.sandboxes.dockerfile import Host
from rlx.sandboxes.dockerfile.host import this_host
from rlx.sandboxes.local import machine
from rlx.sandboxes.local.boxes import reap
from rlx.sandboxes.local.layers import LayerStore
from rlx.sandboxes.local.loop import tending_loop
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.sandboxes.local.system import base_key, build_base
from rlx.sandboxes.local.tools import prepared_programs
from rlx.settings import Settings
from rlx.texts import Say


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """What an operator may choose."""

    public_network: bool = True
    """Let sandboxes that ask for it reach HTTP and HTTPS servers through a proxy of ours."""
    cgroups: bool = True
    """Make control groups where that is possible."""
    layers: int = 20 * 1024**3
    """Bytes of layers that are kept, the latest used first."""


class Local:
    """Sandboxes below `<cache>/sandboxes`. One object may serve many threads and loops."""

    name = "local"

    def __init__(self, settings: Settings, options: LocalOptions | None = None) -> None:
        self.folder: Path = settings.cache_dir / "sandboxes"
        self.options = options or LocalOptions(settings.sandbox_network, layers=settings.sandbox_layers)
        self.layers = LayerStore(self.folder / "layers")
        self._base = threading.Lock()

    def can_run(self) -> Possible | Impossible:
        lacking = machine.missing()
        if lacking is not None:
            return lacking
        sandbox = self.make(SandboxSpec())

        async def probe() -> Possible | Impossible:
            try:
                await sandbox.start()
                done = await sandbox.exec("true")
                return Possible(_of_any(sandbox.notes)) if done.ok else machine.explain(f"true exits {done.code}")
            except SandboxError as error:
                return machine.explain(error.message)
            finally:
                await sandbox.stop()

        return asyncio.run_coroutine_threadsafe(probe(), tending_loop()).result()

    def make(self, spec: SandboxSpec) -> LocalSandbox:
        if not spec.workdir.startswith("/") or "\0" in spec.workdir:
            raise BadInput(f"The working folder {spec.workdir!r} is not absolute.")
        if spec.network == "public" and not self.options.public_network:
            raise BadInput("The network is closed to sandboxes here.", hint="Its operator may open it.")
        return LocalSandbox(self, spec)

    def base(self) -> str:
        """The key of the base layer, which is built when this host's system has none yet. Blocks."""
        everybody = machine.everybody()
        key = base_key(everybody=everybody)
        with self._base:
            held = self.layers.hold(key)
            if held is None:
                with self.layers.making(key) as folder:
                    build_base(folder, everybody=everybody)
            else:
                held.release()
        return key

    def host(self) -> Host:
        """This machine as its sandboxes show it: the prepared tools are among its programs. Blocks."""
        found = this_host()
        return replace(found, tools={**found.tools, **prepared_programs(self.layers)})

    def reap(self) -> int:
        """Remove what killed workers left, and layers past what is kept. Returns how many sandboxes and layers."""
        return reap(self.folder / "boxes") + self.layers.sweep() + len(self.layers.prune(self.options.layers))


def _of_any(notes: Sequence[Say]) -> tuple[Say, ...]:
    """Without what was told of the one sandbox's network: each has its own."""
    return tuple(note for note in notes if not note.key.startswith("sandbox.note.network."))
