"""A job: what was asked for, and what became of it."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from rlx.localhub.views import object_id
from rlx.sandboxes.base import Sandbox

type Stage = Literal["SCHEDULING", "RUNNING", "COMPLETED", "CANCELED", "ERROR"]
type Values = dict[Annotated[str, Field(min_length=1, max_length=256)], str | int | float | bool]

PORT: Final = 49983
"""That a sandbox exposes for its own API."""
LABEL: Final = "hf-sandbox"
_MOUNT: Final = "/.hf-sbx-server"
"""Where each sandbox mounts the program that serves its API. Here the hub itself does."""
_MOST_LINES: Final = 10_000
_LONGEST_LINE: Final = 16_384


class Exposed(BaseModel):
    ports: list[int] = Field(default=[], max_length=16)
    portsPublic: list[int] = Field(default=[], max_length=16)


class Mounted(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    path: str = Field(default="", alias="mountPath")


class JobSpec(BaseModel):
    """A job as a client asks for it. What is not here is refused: nothing is left out silently."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: list[str] = Field(max_length=1000)
    arguments: list[str] = Field(default=[], max_length=1000)
    environment: Values = {}
    secrets: Values = Field(default={}, repr=False)
    flavor: Literal["cpu-basic", "cpu-upgrade"] = "cpu-basic"
    timeoutSeconds: int = Field(default=1800, ge=1)
    labels: dict[str, Annotated[str, Field(max_length=100)]] = Field(default={}, max_length=50)
    volumes: list[Mounted] = Field(default=[], max_length=8)
    expose: Exposed = Exposed()
    dockerImage: str | None = Field(default=None, max_length=512)
    spaceId: str | None = Field(default=None, max_length=200)

    @property
    def is_sandbox(self) -> bool:
        return self.labels.get(LABEL) == "1" and PORT in self.expose.ports

    @property
    def mounts(self) -> list[str]:
        """What it would have mounted beside the program that serves a sandbox."""
        return [volume.path for volume in self.volumes if volume.path != _MOUNT]

    @property
    def variables(self) -> Mapping[str, str]:
        """What its processes see."""
        own = {**self.environment, **self.secrets}
        return {name: _text(value) for name, value in own.items() if not (self.is_sandbox and name.startswith("SBX_"))}


@dataclass(slots=True)
class Process:
    """One that a sandbox runs in the background."""

    id: str
    pid: int
    command: str | list[str]
    began: datetime
    task: "asyncio.Task[int]"


@dataclass(slots=True)
class Job:
    id: str
    owner: str
    spec: JobSpec
    created: datetime
    sandbox: Sandbox | None = None
    stage: Stage = "SCHEDULING"
    message: str | None = None
    started: datetime | None = None
    finished: datetime | None = None
    task: "asyncio.Task[None] | None" = None
    touched: float = 0.0
    """When its API was last called, by the loop's clock."""
    processes: dict[str, Process] = field(default_factory=dict)
    logs: "deque[tuple[datetime, str]]" = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    count: int = 0
    """Lines in all, those that are not kept any more included."""
    written: asyncio.Event = field(default_factory=asyncio.Event)
    """Set and made anew whenever there is another line, or the end."""
    _partial: bytes = b""

    @property
    def ended(self) -> bool:
        return self.stage not in ("SCHEDULING", "RUNNING")

    def end(self, stage: Stage, message: str | None = None) -> None:
        self.stage, self.message, self.finished = stage, message, datetime.now(UTC)
        if self._partial:
            self.log(b"\n")
        self._tell()

    def log(self, data: bytes) -> None:
        *lines, rest = (self._partial + data).split(b"\n")
        now = datetime.now(UTC)
        self.logs.extend((now, line[:_LONGEST_LINE].decode("utf-8", "replace")) for line in lines)
        self.count += len(lines)
        self._partial = rest[-_LONGEST_LINE:]
        if lines:
            self._tell()

    def _tell(self) -> None:
        told, self.written = self.written, asyncio.Event()
        told.set()

    def view(self, base_url: str) -> dict[str, object]:
        """As the Hub tells of it: without its secrets, and without what its own API needs."""
        spec = self.spec
        urls = [f"{base_url}/sandboxes/{self.id}--{port}.local" for port in spec.expose.ports]
        owner = {"type": "user", "id": object_id(f"user {self.owner}"), "name": self.owner}
        return {
            "id": self.id,
            "createdAt": _iso(self.created),
            "startedAt": _iso(self.started),
            "finishedAt": _iso(self.finished),
            "dockerImage": spec.dockerImage,
            "spaceId": spec.spaceId,
            "command": spec.command,
            "arguments": spec.arguments,
            "environment": spec.environment,
            "flavor": spec.flavor,
            "labels": spec.labels,
            "volumes": None,
            "status": {"stage": self.stage, "message": self.message, "exposeUrls": urls or None},
            "owner": owner,
            "initiator": owner,
            "expose": {"ports": spec.expose.ports, "portsPublic": []},
        }


def _text(value: str | float | bool) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else f"{value}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
