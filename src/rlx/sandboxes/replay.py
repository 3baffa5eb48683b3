"""Takes the steps of a Dockerfile's plan in a sandbox, of whatever kind, as `docker build` would.

The sandbox needs bash, tar, find and the usual small programs.
"""

import asyncio
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import ExecResult, Sandbox
from rlx.sandboxes.dockerfile import AnyStep, Copy, Item, Mount, Plan, Run, SetWorkdir, Write
from rlx.store.passing import passing
from rlx.texts import Say, say

STAGED: Final = "/.rlx-copy"
"""Where copied files are before they go to their place; gone after each step."""
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
class Steps:
    """Raises `TaskError` where a step fails, `SandboxError`, `LimitError`."""

    sandbox: Sandbox
    context: Path
    """The folder that the plan was made from."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Of every RUN, before its own."""
    tell: Tell | None = None
    """Hears what commands write."""
    stage: Callable[[int], AbstractAsyncContextManager[Sandbox]] | None = None
    """A started sandbox of an earlier stage, by its index in the plan."""

    async def take(self, step: AnyStep) -> None:
        match step:
            case Run():
                await self._run(step)
            case Copy():
                await self._copy(step)
            case Write():
                await self._write(step)
            case SetWorkdir():
                await _must(self.sandbox, _MAKE + f"{_owned(step.owner, None)}make {shlex.quote(step.path)}", step)

    async def _run(self, step: Run) -> None:
        await self._mount(step)
        command = [*step.argv, step.script] if step.script is not None else list(step.argv)

        def hear(_: str, data: bytes) -> None:
            if self.tell is not None:
                self.tell(data.decode("utf-8", "replace"))

        env = {**self.env, **step.env}
        done = await self.sandbox.exec(command, cwd=step.cwd, env=env, user=step.user, on_output=hear)
        if not done.ok:
            raise TaskError(
                f"Line {step.line} of the Dockerfile failed with exit code {done.code}: {_end(done)}",
                hint="Where it fetches from the network, this machine may not reach that.",
            )
        targets = [shlex.quote(mount.target) for mount in step.mounts]
        if targets:
            await _must(self.sandbox, f"rm -rf -- {' '.join(targets)}", step)

    async def _mount(self, step: Run) -> None:
        """What a RUN mounts is there while it runs, and removed afterwards: so it may hide nothing."""
        for mount in step.mounts:
            target = shlex.quote(mount.target)
            if await self.sandbox.is_dir(mount.target) and mount.kind != "cache":
                await _must(self.sandbox, f"rmdir -- {target}", step)
            await _must(self.sandbox, f"mkdir -p -- {shlex.quote(str(Path(mount.target).parent))}", step)
            with passing("replay-") as folder:
                source = await asyncio.to_thread(self._mounted, mount, folder)
                await self.sandbox.upload(source, mount.target)
            await _must(self.sandbox, f"chown -R {shlex.quote(mount.owner)} -- {target}", step)

    def _mounted(self, mount: Mount, folder: Path) -> Path:
        made = folder / "mounted"
        if mount.kind == "file":
            made.write_text(mount.text)
            made.chmod(mount.mode)
        elif len(mount.items) == 1 and mount.items[0].name == "" and mount.items[0].entry.kind == "file":
            shutil.copyfile(self.context / mount.items[0].source, made)
            made.chmod(mount.mode)
        else:
            made.mkdir(mode=mount.mode)
            _stage_items(mount.items, self.context, made)
        return made

    async def _copy(self, step: Copy) -> None:
        is_folder = False
        match step.origin:
            case "context":
                with passing("replay-") as folder:
                    await asyncio.to_thread(_stage_items, step.items, self.context, folder)
                    await self.sandbox.upload(folder, STAGED)
            case "host":
                found = [f'cp -L -- "$(command -v {shlex.quote(i.source)})" {STAGED}/{shlex.quote(i.name)}'
                         for i in step.items]  # fmt: skip
                await _must(self.sandbox, f"mkdir -p {STAGED} && " + " && ".join(found), step)
            case "stage":
                is_folder = await self._from_stage(step)
        into = "yes" if step.into or is_folder else "no"
        script = _PLACE.format(
            make=_MAKE + _owned(step.owner, step.mode),
            staged=STAGED,
            dest=shlex.quote(step.dest),
            into=into,
            archives=" ".join(shlex.quote(name) for name in step.unpack),
        )
        await _must(self.sandbox, script, step)

    async def _from_stage(self, step: Copy) -> bool:
        """By a tar file, so that links and owners stay what they are. Whether there is a folder among the sources."""
        if step.stage is None or self.stage is None:
            raise SandboxError("A copy from a stage has none to copy from.")
        gather = _GATHER.format(staged=STAGED, patterns=" ".join(_pattern(each) for each in step.patterns))
        with passing("replay-") as folder:
            packed = folder / "files.tar"
            async with self.stage(step.stage) as source:
                is_folder = (await _must(source, gather, step)).strip() == "yes"
                await source.download(f"{STAGED}.tar", packed)
            await self.sandbox.upload(packed, f"{STAGED}.tar")
        unpack = f"mkdir {STAGED} && tar -C {STAGED} -xpf {STAGED}.tar && rm {STAGED}.tar"
        await _must(self.sandbox, unpack, step)
        return is_folder

    async def _write(self, step: Write) -> None:
        with passing("replay-") as folder:
            file = folder / step.name
            file.write_text(step.content)
            file.chmod(step.mode)
            await self.sandbox.upload(folder, STAGED)
        script = _PLACE.format(
            make=_MAKE + _owned(step.owner, None),
            staged=STAGED,
            dest=shlex.quote(step.dest),
            into="yes" if step.into else "no",
            archives="",
        )
        await _must(self.sandbox, script, step)


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


async def _must(sandbox: Sandbox, script: str, step: AnyStep) -> str:
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
