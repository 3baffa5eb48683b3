"""An environment of uv for each framework, made on demand and kept by what is installed in it."""

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlx.errors import BadInput, Upstream
from rlx.generator.check.processes import execute
from rlx.generator.targets.base import Target

EXTRAS = ("pytest>=9,<10", "ruff>=0.17", "httpx")
"""What generated tests need, beside the framework."""


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
