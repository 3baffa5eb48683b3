"""The layer of one agent: its pinned files unpacked, and a program that starts it. No code of theirs runs meanwhile."""

import io
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from rlx.errors import BadInput, NotFound, Upstream
from rlx.sandboxes.local.arguments import PROGRAM, PYTHON
from rlx.sandboxes.local.installed.recipes import Part, Recipe, python_tag, recipes
from rlx.sandboxes.local.layers import LayerStore
from rlx.sandboxes.local.machine import runtime
from rlx.sandboxes.local.registries import Fetch, Pinned, download

COMMAND: Final = "rlx sandbox prepare --agent"
LARGEST: Final = 1024 * 1024 * 1024
"""Bytes that one file may unpack to."""
_AT_ONCE: Final = 8
_LAUNCHER: Final = """\
#!/bin/sh
# What the agent runs finds what the task has, and nothing of this folder.
PATH="${{PATH#{home}/bin:}}"; export PATH
{start} "$@"
"""
_PYTHON_START: Final = """\
RLX_LIBRARIES="${{LD_LIBRARY_PATH-}}"; LD_LIBRARY_PATH="{python}/lib"; export RLX_LIBRARIES LD_LIBRARY_PATH
exec {python}/{program} -I -B {home}/start.py"""
_START: Final = """\
import os
import sys

libraries = os.environ.pop("RLX_LIBRARIES", "")
os.environ.pop("LD_LIBRARY_PATH", None)
if libraries:
    os.environ["LD_LIBRARY_PATH"] = libraries
sys.path.insert(0, {packages!r})
sys.argv[0] = {agent!r}
from {module} import {attribute}

sys.exit({attribute}())
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    key: str
    version: str
    bytes: int
    memory_mb: int


def recipe_of(agent: str) -> Recipe:
    """Raises `NotFound` for an agent that nothing is pinned for."""
    found = recipes().get(agent)
    if found is None:
        raise NotFound(f"No files are pinned for an agent {agent[:60]!r}.", hint=f"There is {', '.join(recipes())}.")
    return found


def prepared(layers: LayerStore, agent: str) -> Prepared | None:
    """The layer of an agent, where there is one. Blocks for moments. Raises `NotFound`."""
    recipe = recipe_of(agent)
    size = layers.size(recipe.key)
    return None if size is None else Prepared(recipe.key, recipe.version, size, recipe.memory_mb)


def prepare(layers: LayerStore, agent: str, *, fetch: Fetch | None = None) -> Prepared:
    """Make the layer of an agent when there is none.

    Blocks. Raises `NotFound`, `BadInput` for a machine that nothing is pinned for, and `Upstream` when a file cannot be
    had or is another than the one that was pinned.
    """
    recipe = recipe_of(agent)
    if recipe.lacking:
        raise BadInput(
            f"{agent} has no pinned {', '.join(recipe.lacking[:3])} for {python_tag()} on this processor.",
            hint="Run it in the sandbox docker, where it is installed anew.",
        )
    if layers.size(recipe.key) is None:
        make(layers, recipe, fetch=fetch)
    made = prepared(layers, agent)
    if made is None:
        raise Upstream(f"The layer of {agent} was made and is gone again.", hint=f"{COMMAND} {agent}")
    return made


def make(layers: LayerStore, recipe: Recipe, *, fetch: Fetch | None = None) -> None:
    """Fetch, check, unpack. Blocks. Raises `Upstream`."""

    def get(pinned: Pinned) -> bytes:
        return download(pinned, fetch=fetch)

    with layers.making(recipe.key) as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        home = folder / "root" / recipe.home.removeprefix("/")
        (home / "bin").mkdir(parents=True)
        for part, data in zip(recipe.parts, pool.map(get, [part.pinned for part in recipe.parts]), strict=True):
            _unpack(part, data, home / part.into)
        _write_launcher(recipe, home)
        if recipe.entry:
            _compile(home / "lib", recipe)


def _unpack(part: Part, data: bytes, into: Path) -> None:
    total = 0
    for name, content, mode in _of_wheel(data) if part.pinned.registry == "pypi" else _of_package(data):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not _wanted(part, name):
            continue
        total += len(content)
        if total > LARGEST:
            raise Upstream(f"{part.pinned.name} unpacks to more than {LARGEST:,} bytes.")
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode)


def _wanted(part: Part, name: str) -> bool:
    kept = not part.only or any(fnmatchcase(name, pattern) for pattern in part.only)
    return kept and not any(fnmatchcase(name, pattern) for pattern in part.without)


def _of_wheel(data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Its packages, as pip lays them; programs come from the launcher alone."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = info.filename
            top, _, rest = name.partition("/")
            if top.endswith(".data"):
                kind, _, name = rest.partition("/")
                if kind not in ("purelib", "platlib"):
                    continue
            if not info.is_dir() and name:
                yield name, archive.read(info), 0o644


def _of_package(data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Regular files below the one folder that a packed package has."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                yield member.name.partition("/")[2], file.read(), 0o755 if member.mode & 0o100 else 0o644


def _write_launcher(recipe: Recipe, home: Path) -> None:
    if recipe.entry:
        module, _, attribute = recipe.entry.partition(":")
        start = _START.format(packages=f"{recipe.home}/lib", agent=recipe.agent, module=module, attribute=attribute)
        (home / "start.py").write_text(start)
        command = _PYTHON_START.format(python=PYTHON, program=PROGRAM, home=recipe.home)
    else:
        command = " ".join(["exec", *(f"{recipe.home}/{path}" for path in recipe.command)])
    launcher = home / "bin" / recipe.agent
    launcher.write_text(_LAUNCHER.format(home=recipe.home, start=command))
    launcher.chmod(0o755)


def _compile(packages: Path, recipe: Recipe) -> None:
    """Or every start would compile them anew. What does not compile is not for this version, and is not imported."""
    found = runtime()
    if found is None:
        return
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    paths = ["-s", str(packages), "-p", f"{recipe.home}/lib", str(packages)]
    command = [str(found.program), "-I", "-m", "compileall", *options, *paths]
    subprocess.run(command, capture_output=True, timeout=600, check=False, env={"PATH": "/usr/bin:/bin"})
