"""The workers of this machine: small files that tell where each is, and what it alone is told over loopback.

A worker's file holds the key of its control route, so that only who may read the folder reaches it.
"""

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx2

from rlx.settings import Settings

_log = logging.getLogger(__name__)

SECONDS = 3.0
"""That a worker may take to answer."""


@dataclass(frozen=True, slots=True)
class WorkerCard:
    """A worker that is ready."""

    id: str
    pid: int
    began: int
    """When that process began: see `began_at`."""
    port: int
    key: str = field(repr=False)
    runners: tuple[str, ...]
    agents: tuple[str, ...]
    sandboxes: Mapping[str, int]
    """How many rollouts in each kind of sandbox it runs at once."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a rollout needs and no record may hold. Kept in the memory of workers till it has ended."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    any_address: bool = False
    """The model's address may be one of this machine or network."""
    judge_url: str | None = None
    judge_key: str | None = field(default=None, repr=False)
    """Of a judge that is somebody's own endpoint, as `base_url` and `api_key` are of the agent's model."""
    hub_folder: str | None = None
    """Of a hub that is a folder, whose router is asked in the worker's own process."""
    hub_token: str | None = field(default=None, repr=False)
    bindings: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What `${NAME}` stands for in the task's settings."""


def workers_folder(settings: Settings) -> Path:
    """Where workers of a store write their files."""
    name = hashlib.sha256(str(settings.store.absolute()).encode()).hexdigest()[:12]
    return settings.cache_dir / "workers" / name


def announce(folder: Path, card: WorkerCard) -> Path:
    """Say that a worker is ready."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{card.id}.json"
    temporary = folder / f".{card.id}.{secrets.token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(card), file)
    temporary.replace(path)
    return path


def cards(folder: Path) -> list[WorkerCard]:
    """Workers that said they are ready, dead ones among them."""
    found = []
    for path in sorted(folder.glob("[!.]*.json")) if folder.is_dir() else ():
        with suppress(OSError, ValueError, TypeError):
            told = json.loads(path.read_text())
            told |= {"runners": tuple(told["runners"]), "agents": tuple(told["agents"])}
            found.append(WorkerCard(**told))
    return found


def began_at(pid: int) -> int:
    """When a process began, in ticks since the machine did; 0 for one that is not there, or has ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if told[0] in "ZX" else int(told[19])


def is_alive(card: WorkerCard) -> bool:
    """Whether its process is still there; its number may be another's by now."""
    return card.began != 0 and began_at(card.pid) == card.began


def living(folder: Path) -> list[WorkerCard]:
    """Workers that run."""
    return [card for card in cards(folder) if is_alive(card)]


async def hand_over(workers: list[WorkerCard], rollout: str, handed: Handed | None) -> int:
    """Tell workers that there is a rollout, and what it needs. Returns how many heard it."""
    heard = 0
    body = asdict(handed) if handed else {}
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
        for card in workers:
            url = f"http://127.0.0.1:{card.port}/control/rollouts/{rollout}"
            try:
                answer = await client.put(url, json=body, headers={"authorization": f"Bearer {card.key}"})
            except httpx2.HTTPError as error:
                _log.warning("Worker %s does not answer: %s", card.id, type(error).__name__)
                continue
            heard += answer.status_code == 204
    return heard
