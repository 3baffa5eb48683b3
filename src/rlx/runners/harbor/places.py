"""Where a trial's sandbox is made: by a kind of ours, or by one of Harbor's own environments."""

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harbor.environments.factory import _load_environment_class
from harbor.models.environment_type import EnvironmentType

from rlx.errors import SandboxError, TaskError
from rlx.runners.base import Run
from rlx.runners.workers import began_at
from rlx.sandboxes.base import SandboxKind
from rlx.sandboxes.docker.compose import dangerous_file
from rlx.sandboxes.hf import lost
from rlx.sandboxes.hf.harbor import IMPORT_PATH as HF_PATH
from rlx.sandboxes.hf.kind import HF, Account
from rlx.sandboxes.local.harbor import IMPORT_PATH as LOCAL_PATH
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.registry import sandbox_kind
from rlx.settings import Settings
from rlx.texts import say, words

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Where:
    kind: SandboxKind
    import_path: str | None
    """`module:Class` of the environment; None: Harbor's own of the kind's name."""


def where(run: Run, local: Local, settings: Settings) -> Where:
    """Raises `SandboxError` where a rollout lacks what its sandbox needs."""
    name = run.rollout.sandbox or local.name
    if name == local.name:
        return Where(local, LOCAL_PATH)
    if name == HF.name:
        token = run.handed.hub_token
        if token is None:
            raise SandboxError(words(say("sandbox.hf.token")), hint=words(say("sandbox.hf.token_hint")))
        labels = {lost.HOST: _host(settings), lost.WORKER: _worker(os.getpid()), lost.ROLLOUT: run.rollout.id}
        return Where(HF(settings, Account(token, labels, _is_alive)), HF_PATH)
    return Where(sandbox_kind(name, settings), None)


def check_outside(run: Run, name: str) -> None:
    """Before Harbor makes a sandbox itself. Raises `TaskError` for a compose file that reaches out of its containers,
    `SandboxError` where Harbor says that the environment cannot run here. Blocks.
    """
    found = dangerous_file(run.task)
    if found is not None:
        raise TaskError(words(say("sandbox.named.compose", path=str(found[0]), what=found[1])))
    try:
        _load_environment_class(EnvironmentType(name)).preflight()
    except SystemExit as refused:
        raise SandboxError(f"Harbor says: {str(refused)[:500]}") from refused
    except (ImportError, ValueError) as error:
        raise SandboxError(f"Harbor cannot load its environment {name}: {str(error)[:500]}") from error


def _host(settings: Settings) -> str:
    told = f"{platform.node()}\n{settings.store.absolute()}"
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def _worker(pid: int) -> str:
    """Of a process of this machine, and of none that has its number later."""
    return f"{_boot()}-{pid}-{began_at(pid)}"


def _is_alive(worker: str) -> bool:
    pid = worker.split("-")[1] if worker.count("-") == 2 else ""
    return pid.isdigit() and worker == _worker(int(pid))


def _boot() -> str:
    try:
        return _BOOT.read_text()[:8]
    except OSError:
        return "0"
