"""Makes layers from a plan of a Dockerfile, step by step in sandboxes, and uses those that are there already.

What a RUN leaves behind is a layer of its own together with what was copied before it. Layers are named by the keys of
the plan and of the host's system, so that no other task or system gets them.
"""

import asyncio
import hashlib
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import ExecResult, Network, SandboxSpec
from rlx.sandboxes.dockerfile import AnyStep, Copy, Image, Item, Mount, Plan, Run, SetWorkdir, Stage, Write
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.texts import Say, say

STAGED: Final = "/.rlx-copy"
"""Where copied files are before they go to their place; gone before a layer is kept."""
_TAIL = 1500
"""Characters of a failed command's output that are told."""

type Tell = Callable[[str], None]


def replayable(plan: Plan) -> tuple[Say, int] | None:
    """What of a plan this sandbox does not do, and the line that asks for it."""
    for stage in plan.stages:
        for step in stage.steps:
            if isinstance(step, Copy) and step.origin == "stage" and (step.parents or step.exclude):
                return say("dockerfile.replay.picking"), step.line
            if isinstance(step, Run) and any(mount.stage is not None for mount in step.mounts):
                return say("dockerfile.replay.mount"), step.line
    return None


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
            for step in steps:
                match step:
                    case Run():
                        await self._run(sandbox, step)
                    case Copy():
                        await self._copy(sandbox, step)
                    case Write():
                        await self._write(sandbox, step)
                    case SetWorkdir():
                        await _must(sandbox, _MAKE + f"{_owned(step.owner, None)}make {shlex.quote(step.path)}", step)
            await sandbox.commit(key)
        finally:
            await sandbox.stop()

    async def _run(self, sandbox: LocalSandbox, step: Run) -> None:
        await self._mount(sandbox, step)
        command = [*step.argv, step.script] if step.script is not None else list(step.argv)

        def hear(_: str, data: bytes) -> None:
            if self._tell is not None:
                self._tell(data.decode("utf-8", "replace"))

        done = await sandbox.exec(command, cwd=step.cwd, env={**self._env, **step.env}, user=step.user, on_output=hear)
        if not done.ok:
            raise TaskError(
                f"Line {step.line} of the Dockerfile failed with exit code {done.code}: {_end(done)}",
                hint="Where it fetches from the network, this machine may not reach that.",
            )
        targets = [shlex.quote(mount.target) for mount in step.mounts]
        if targets:
            await _must(sandbox, f"rm -rf -- {' '.join(targets)}", step)

    async def _mount(self, sandbox: LocalSandbox, step: Run) -> None:
        """What a RUN mounts is there while it runs, and removed afterwards: so it may hide nothing."""
        for mount in step.mounts:
            target = shlex.quote(mount.target)
            if await sandbox.is_dir(mount.target) and mount.kind != "cache":
                await _must(sandbox, f"rmdir -- {target}", step)
            await _must(sandbox, f"mkdir -p -- {shlex.quote(str(Path(mount.target).parent))}", step)
            with tempfile.TemporaryDirectory() as folder:
                source = await asyncio.to_thread(self._mounted, mount, Path(folder))
                await sandbox.upload(source, mount.target)
            await _must(sandbox, f"chown -R {shlex.quote(mount.owner)} -- {target}", step)

    def _mounted(self, mount: Mount, folder: Path) -> Path:
        made = folder / "mounted"
        if mount.kind == "file":
            made.write_text(mount.text)
            made.chmod(mount.mode)
        elif len(mount.items) == 1 and mount.items[0].name == "" and mount.items[0].entry.kind == "file":
            shutil.copyfile(self._context / mount.items[0].source, made)
            made.chmod(mount.mode)
        else:
            made.mkdir(mode=mount.mode)
            _stage_items(mount.items, self._context, made)
        return made

    async def _copy(self, sandbox: LocalSandbox, step: Copy) -> None:
        is_folder = False
        match step.origin:
            case "context":
                with tempfile.TemporaryDirectory() as folder:
                    await asyncio.to_thread(_stage_items, step.items, self._context, Path(folder))
                    await sandbox.upload(Path(folder), STAGED)
            case "host":
                found = [f'cp -L -- "$(command -v {shlex.quote(i.source)})" {STAGED}/{shlex.quote(i.name)}'
                         for i in step.items]  # fmt: skip
                await _must(sandbox, f"mkdir -p {STAGED} && " + " && ".join(found), step)
            case "stage":
                is_folder = await self._from_stage(sandbox, step)
        into = "yes" if step.into or is_folder else "no"
        script = _PLACE.format(
            make=_MAKE + _owned(step.owner, step.mode),
            staged=STAGED,
            dest=shlex.quote(step.dest),
            into=into,
            archives=" ".join(shlex.quote(name) for name in step.unpack),
        )
        await _must(sandbox, script, step)

    async def _from_stage(self, sandbox: LocalSandbox, step: Copy) -> bool:
        """By a tar file, so that links and owners stay what they are. Whether there is a folder among the sources."""
        if step.stage is None:
            raise SandboxError("A copy from a stage names none.")
        source = self._kind.make(SandboxSpec(layers=self._stages[step.stage], tools=self._tools))
        gather = _GATHER.format(staged=STAGED, patterns=" ".join(_pattern(each) for each in step.patterns))
        with tempfile.TemporaryDirectory() as folder:
            packed = Path(folder) / "files.tar"
            try:
                await source.start()
                is_folder = (await _must(source, gather, step)).strip() == "yes"
                await source.download(f"{STAGED}.tar", packed)
            finally:
                await source.stop()
            await sandbox.upload(packed, f"{STAGED}.tar")
        unpack = f"mkdir {STAGED} && tar -C {STAGED} -xpf {STAGED}.tar && rm {STAGED}.tar"
        await _must(sandbox, unpack, step)
        return is_folder

    async def _write(self, sandbox: LocalSandbox, step: Write) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / step.name
            file.write_text(step.content)
            file.chmod(step.mode)
            await sandbox.upload(Path(folder), STAGED)
        script = _PLACE.format(
            make=_MAKE + _owned(step.owner, None),
            staged=STAGED,
            dest=shlex.quote(step.dest),
            into="yes" if step.into else "no",
            archives="",
        )
        await _must(sandbox, script, step)


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


def _stage_items(items: Sequence[Item], context: Path, target: Path) -> None:
    """A copy of what an instruction copies. Blocks."""
    modes: list[tuple[Path, int]] = []
    for item in items:
        place = target / item.name if item.name else target
        match item.entry.kind:
            case "folder":
                place.mkdir(parents=True, exist_ok=True)
                modes.append((place, item.entry.mode))
            case "link":
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(item.entry.target)
            case "file":
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(context / item.source, place)
                place.chmod(item.entry.mode)
    for place, mode in reversed(modes):
        place.chmod(mode | 0o700 if place == target else mode)


def _pattern(path: str) -> str:
    """For the shell: everything quoted but what stands for other characters."""
    rooted = "/" + path.lstrip("/")
    return "".join(each if each in "*?[]" else shlex.quote(each) for each in rooted)


def _owned(owner: str | None, mode: int | None) -> str:
    return f"owner={shlex.quote(owner or '')}\nmode={f'{mode:o}' if mode is not None else ''}\n"


async def _must(sandbox: LocalSandbox, script: str, step: AnyStep) -> str:
    done = await sandbox.exec(["/bin/bash", "-c", script], cwd="/")
    if not done.ok:
        raise TaskError(f"Line {step.line} of the Dockerfile cannot be replayed: {_end(done)}")
    return done.stdout.decode("utf-8", "replace")


def _end(done: ExecResult) -> str:
    """The last that a command wrote."""
    told = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").strip()
    return told[-_TAIL:] or "it said nothing"


_MAKE = r"""set -e
make() {
  [ -d "$1" ] && return 0
  make "$(dirname -- "$1")"
  mkdir -- "$1"
  chmod "${mode:-755}" -- "$1"
  [ -z "$owner" ] || chown -- "$owner" "$1"
}
"""
_PLACE = r"""{make}
cd {staged}
if [ -n "$owner" ]; then find . -mindepth 1 -exec chown -h -- "$owner" {{}} +; fi
if [ -n "$mode" ]; then find . -mindepth 1 ! -type l -exec chmod "$mode" -- {{}} +; fi
dest={dest}
into={into}
one=$(ls -A)
if [ "$into" = no ] && [ ! -d "$dest" ]; then
  make "$(dirname -- "$dest")"
  cp -a --remove-destination -T -- "$one" "$dest"
else
  make "$dest"
  for name in {archives}; do
    if tar -tf "$name" > /dev/null 2>&1; then tar -C "$dest" -xpf "$name"; rm -f -- "$name"; fi
  done
  if [ -n "$(ls -A)" ]; then
    find . -mindepth 1 -maxdepth 1 -print0 | tar --null -T - -cf - | tar -C "$dest" -xpf - --keep-directory-symlink
  fi
fi
cd /
rm -rf {staged}
"""
_GATHER = r"""set -e
shopt -s dotglob nullglob
mkdir {staged}
folder=
for path in {patterns}; do
  if [ -d "$path" ]; then cp -a -- "$path"/. {staged}/; folder=yes; else cp -aH -- "$path" {staged}/; fi
done
tar -C {staged} -cf {staged}.tar .
echo "$folder"
"""
