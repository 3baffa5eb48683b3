"""An environment of uv for each framework, made on demand and kept by what is installed in it."""

import asyncio
import hashlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlx.errors import BadInput, Upstream
from rlx.generator.targets.base import Target

EXTRAS = ("pytest>=9,<10", "ruff>=0.17", "httpx")
"""What generated tests need, beside the framework."""
_OUTPUT = 20_000
"""Characters of a command's output that are kept, its end."""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    output: str
    """Standard output, then standard error."""


@dataclass(frozen=True, slots=True)
class Frameworks:
    """Where environments are kept."""

    root: Path
    variables: Mapping[str, str]
    """The environment that programs of frameworks start from."""

    async def python(self, target: Target, more: Sequence[str] = ()) -> Path:
        """The Python of a target's environment, made if it is not there. Raises `BadInput` or `Upstream`."""
        wanted = [target.requirement, *EXTRAS, *sorted(more)]
        key = hashlib.sha256("\n".join([*wanted, sys.version]).encode()).hexdigest()[:16]
        home = self.root / f"{target.name}-{key}"
        python = home / "bin" / "python"
        if (home / "ready").exists():
            return python
        uv = shutil.which("uv", path=self.variables.get("PATH"))
        if uv is None:
            raise BadInput("There is no uv, which makes the frameworks' environments.", hint="Install uv, on PATH.")
        making = home.with_name(f"{home.name}.{os.getpid()}")
        base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        await self._make([uv, "venv", "--quiet", "--relocatable", "--python", str(base), str(making)], target)
        pip = [uv, "pip", "install", "--quiet", "--python", str(making / "bin" / "python"), *wanted]
        await self._make(pip, target)
        (making / "ready").touch()
        try:
            making.rename(home)
        except OSError:  # another process made the same one meanwhile
            shutil.rmtree(making)
        return python

    async def _make(self, command: Sequence[str], target: Target) -> None:
        done = await execute(command, self.root, self.variables, seconds=1800)
        if done.code != 0:
            raise Upstream(
                f"The environment for {target.title} could not be made with {target.requirement}: {done.output[-500:]}",
                hint="Is the package index reachable?",
            )


def make_frameworks(root: Path, variables: Mapping[str, str] | None = None) -> Frameworks:
    """Environments under a folder. Programs see PATH, HOME and the like of this process, and no secrets."""
    root.mkdir(parents=True, exist_ok=True)
    names = ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME")
    ours = {name: value for name, value in os.environ.items() if name in names or name.startswith(("UV_", "PIP_"))}
    if "UV" in os.environ:  # `uv run` tells where it is, whether or not it is on PATH
        ours["PATH"] = os.pathsep.join([str(Path(os.environ["UV"]).parent), ours.get("PATH", "")])
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "RAY_AUTH_MODE": "disabled", "NO_COLOR": "1"}
    return Frameworks(root, {**ours, **quiet, **(variables or {})})


async def execute(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], *, seconds: float, given: bytes = b""
) -> Done:
    """Run a program to its end. One that takes longer is killed with all that it started, and has code 124."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=dict(variables),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(given), seconds)
    except TimeoutError:
        return Done(124, f"It took longer than {seconds:g} seconds.")
    finally:
        end_group(process.pid)
        if process.returncode is None:
            await process.wait()
    return Done(process.returncode or 0, _told(out, err))


def end_group(group: int) -> None:
    """Kill a process and what it started, if anything is left of it."""
    import signal
    from contextlib import suppress

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _told(out: bytes, err: bytes) -> str:
    text = out.decode(errors="replace")
    rest = err.decode(errors="replace")[-_OUTPUT:]
    return f"{text}\n{rest}".strip() if rest else text
