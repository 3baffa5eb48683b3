"""What `rlx doctor` looks at. Each check answers with a state and a sentence; none prints a token."""

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from rlx import __version__
from rlx.cli.sandbox import kinds
from rlx.errors import RlxError
from rlx.hub.token import machine_token
from rlx.services import Services, local_folder
from rlx.settings import Settings

type State = Literal["ok", "absent", "bad"]
"""`absent`: something optional is not here. `bad`: something needed does not work."""

MINIMUM_PYTHON = (3, 12)


@dataclass(frozen=True, slots=True)
class Check:
    check: str
    state: State
    detail: str


def machine_checks(settings: Settings) -> Iterator[Check]:
    """What needs no network."""
    python: State = "ok" if sys.version_info >= MINIMUM_PYTHON else "bad"
    yield Check("python", python, f"{platform.python_version()} at {sys.executable}")
    yield Check("rlx", "ok", __version__)
    for name in ("huggingface_hub", "fastapi", "pyarrow"):
        found = _version(name)
        yield Check(name, "ok" if found else "bad", found or "not installed; install rl-explorer again")
    yield _writable("store", settings.store)
    yield _writable("cache", settings.cache_dir)
    yield from _sandboxes(settings)
    missing = [name for name in ("harbor", "openenv") if find_spec(name) is None]
    if missing:
        yield Check("run extra", "absent", "not installed: tasks can be read, Harbor's own verdict on them is unknown")
    else:
        yield Check("run extra", "ok", ", ".join(f"{name} {_version(name)}" for name in ("harbor", "openenv")))


async def hub_checks(services: Services) -> list[Check]:
    """Whether the Hub answers, and whose token this machine has."""
    where = services.settings.hub
    try:
        listed = await services.hub.repos("dataset", token=False, limit=1)
    except RlxError as error:
        return [Check("hub", "bad", f"{where}: {error.message}")]
    reached = Check("hub", "ok", f"{where} answers" if listed else f"{where} answers and has no dataset")
    if local_folder(where) is not None:
        return [reached, Check("token", "absent", "not used: the hub is a folder")]
    token = machine_token()
    if token is None:
        return [reached, Check("token", "absent", "none on this machine: public environments only")]
    try:
        return [reached, Check("token", "ok", f"belongs to {await services.hub.whoami(token)}")]
    except RlxError as error:
        return [reached, Check("token", "bad", f"there is one, but {error.message[:1].lower()}{error.message[1:]}")]


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _writable(name: str, folder: Path) -> Check:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(name, "bad", f"{folder} cannot be written: {error.strerror}")
    return Check(name, "ok", f"{folder}, {free / 2**30:,.0f} GiB free")


def _sandboxes(settings: Settings) -> Iterator[Check]:
    """As `rlx sandbox ls` says: each kind finds what it needs itself. Reading does without any."""
    for kind in kinds(settings):
        yield Check(f"sandbox {kind['kind']}", "ok" if kind["runs"] else "absent", str(kind["why"] or "runs here"))
