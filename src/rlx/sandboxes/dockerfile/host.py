"""The facts of this machine and of a folder on it that plans are made from. The only part that looks at either."""

import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path

from rlx.errors import TooLarge
from rlx.sandboxes.dockerfile.bases import PATH, Host
from rlx.sandboxes.dockerfile.context import Entry

_ARCHITECTURES = {"x86_64": "linux/amd64", "amd64": "linux/amd64", "aarch64": "linux/arm64", "arm64": "linux/arm64"}
_TOOLS = (
    "python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 node npm go cargo rustc gcc g++ make ruby"
    " gem bundle perl cpan php java javac tmux asciinema uv uvx git curl"
)
_ASKED = {
    "python3": "--version",
    "node": "--version",
    "go": "version",
    "rustc": "--version",
    "gcc": "-dumpfullversion",
    "ruby": "--version",
    "perl": "-e print substr($^V,1)",
    "php": "--version",
    "java": "--version",
}
_NUMBER = re.compile(r"\d+(?:\.\d+)+|\d+")
_MOST_FILES = 100_000


@cache
def this_host(path: str = PATH) -> Host:
    """The system and the programs that are on `path`; each is asked its version once."""
    tools = {tool: where for tool in _TOOLS.split() if (where := shutil.which(tool, path=path))}
    versions = {tool: _version(where, _ASKED[tool]) if tool in _ASKED else "" for tool, where in tools.items()}
    machine = platform.machine().lower()
    return Host(_system(), _ARCHITECTURES.get(machine, f"linux/{machine}"), versions)


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return platform.system()


def _version(program: str, question: str) -> str:
    try:
        answer = subprocess.run(
            [program, *question.split(" ", 1)], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    found = _NUMBER.search(answer)
    return found[0] if found else ""


def read_context(folder: Path) -> dict[str, Entry]:
    """Everything below a folder, links as links, contents by their SHA-256. Devices and pipes are left out.

    Raises `TooLarge` past 100,000 entries.
    """
    found: dict[str, Entry] = {}
    waiting = [(folder, "")]
    while waiting:
        here, prefix = waiting.pop()
        for item in os.scandir(here):
            status = item.stat(follow_symlinks=False)
            path = f"{prefix}{item.name}"
            mode = stat.S_IMODE(status.st_mode)
            if item.is_symlink():
                found[path] = Entry("link", 0o777, target=os.readlink(item.path))
            elif item.is_dir(follow_symlinks=False):
                found[path] = Entry("folder", mode)
                waiting.append((Path(item.path), f"{path}/"))
            elif item.is_file(follow_symlinks=False):
                found[path] = Entry("file", mode, status.st_size, digest=_digest(Path(item.path)))
            if len(found) > _MOST_FILES:
                raise TooLarge(f"The build context has more than {_MOST_FILES:,} files.")
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
