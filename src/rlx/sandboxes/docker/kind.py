"""Whether a Docker engine answers here with all that Harbor needs of it, and else what stands in the way."""

import json
import os
import re
import shutil
import subprocess
from typing import Any, Final

from rlx.sandboxes.base import Impossible, Possible, Sandbox, SandboxSpec
from rlx.sandboxes.outside import Outside
from rlx.settings import Settings
from rlx.texts import Say, say

SECONDS: Final = 10.0
_LITTLE: Final = 10 * 1024**3
"""Bytes of disk below which images are likely not to fit."""
_DENIED: Final = re.compile(r"permission denied", re.IGNORECASE)
_AWAY: Final = re.compile(r"cannot connect|is the docker daemon running|no such host|refused|timeout", re.IGNORECASE)
_MAJOR: Final = re.compile(r"v?(\d+)\.")


class Docker:
    """`path` is where the program is looked for."""

    name = "docker"

    def __init__(self, settings: Settings, path: str | None = None) -> None:
        self._path = path

    def can_run(self) -> Possible | Impossible:
        program = shutil.which("docker", path=self._path)
        if program is None:
            return _cannot("program")
        told, error = _asked(program, "info", "--format", "{{json .}}")
        info = _object(told)
        problem = error or next(iter(info.get("ServerErrors") or ()), None)
        if problem is not None:
            return _explain(str(problem))
        if info.get("OSType", "linux") != "linux":
            return _cannot("system")
        version, _ = _asked(program, "compose", "version", "--short")
        major = _MAJOR.match(version)
        if major is None or int(major[1]) < 2:
            return _cannot("compose")
        return Possible(tuple(_notes(info)))

    def make(self, spec: SandboxSpec) -> Sandbox:
        return Outside(self.name, Possible()).make(spec)


def _asked(program: str, *arguments: str) -> tuple[str, str | None]:
    """What it prints, and what it complains of where it fails."""
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return "", f"timeout after {SECONDS:.0f} seconds"
    except OSError as error:
        return "", error.strerror or "it cannot be started"
    printed = done.stdout.decode("utf-8", "replace").strip()
    complained = done.stderr.decode("utf-8", "replace").strip()
    return printed, None if done.returncode == 0 else complained or f"exit code {done.returncode}"


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _explain(problem: str) -> Impossible:
    line = " ".join(problem.splitlines()[-1].split())[:200]
    if _DENIED.search(problem):
        return _cannot("permission")
    if _AWAY.search(problem):
        return Impossible(say("sandbox.docker.engine", where=os.environ.get("DOCKER_HOST", "")[:100] or "unix socket",
                              text=line), say("sandbox.docker.engine_hint"))  # fmt: skip
    return Impossible(say("sandbox.docker.failed", text=line), say("sandbox.docker.engine_hint"))


def _cannot(what: str) -> Impossible:
    return Impossible(say(f"sandbox.docker.{what}"), say(f"sandbox.docker.{what}_hint"))


def _notes(info: dict[str, Any]) -> list[Say]:
    notes = [say("sandbox.docker.note", version=str(info.get("ServerVersion") or "?")[:40])]
    root = info.get("DockerRootDir")
    if isinstance(root, str) and os.path.isdir(root):
        free = shutil.disk_usage(root).free
        if free < _LITTLE:
            notes.append(say("sandbox.docker.disk", gib=round(free / 1024**3, 1)))
    return notes
