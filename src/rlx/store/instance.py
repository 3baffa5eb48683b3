"""What operators set for an instance: `admin/settings.json` in the store, re-read when it changes.

The explorer only reads it. It is written whole, by `save`, so that a reader sees the old one or the new one. A file
that cannot be read leaves the last good settings in force and is logged once.
"""

import logging
import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlx.ids import EnvKey, parse_key

_log = logging.getLogger(__name__)

FILE = "admin/settings.json"


class Banner(BaseModel):
    """One line over the explore page, with one link."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]{1,40}$")
    """Names it in the cookie of a visitor who closed it."""
    text: str = Field(max_length=280)
    label: str = Field(max_length=60)
    url: str = Field(pattern=r"^(https://|/)[^\s\"'<>]{0,400}$")


class Collection(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]{1,40}$")
    title: str = Field(max_length=80)
    environments: tuple[str, ...] = ()
    """Environment keys."""


ANNOUNCED = Collection(
    id="announced",
    title="Named in the announcement",
    environments=(
        "harborframework/terminal-bench-2.1",
        "AweAI-Team/BeyondSWE-harbor",
        "Lego-X/Terminal-Lego-15k",
        "PrimeIntellect/Reverse-Text-RL",
        "PrimeIntellect/Multi-SWE-RL-Verified",
        "PrimeIntellect/R2E-Gym-Subset-Verified",
        "PrimeIntellect/Scale-SWE-Verified",
        "nvidia/Nemotron-RL-agent-workplace_assistant",
        "nvidia/Nemotron-RL-instruction_following-structured_outputs",
    ),
)
"""Environments that the announcement of RL environments on the Hub names."""


class Instance(BaseModel):
    """Every field has the value of an instance nobody has configured."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1
    banner: Banner | None = None
    hidden: frozenset[str] = frozenset()
    """Keys of environments that are not shown, listed or served."""
    pinned: tuple[str, ...] = ()
    """Keys that come first while sorting by trending."""
    featured: tuple[str, ...] = ()
    """Keys indexed first and shown as picks."""
    curated: str = "FineEnvs"
    """The organisation whose servers come first among OpenEnv Spaces."""
    collections: tuple[Collection, ...] = (ANNOUNCED,)
    rollouts_enabled: bool = True
    max_active: int = Field(default=24, ge=1, le=200)
    max_per_visitor: int = Field(default=4, ge=1, le=20)
    dollars_per_rollout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    dollars_per_visitor_day: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    dollars_per_day: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """What models may cost, a day of UTC being counted; None: whatever they cost."""
    agents: tuple[str, ...] = ()
    """Agents that may be run. Empty: all."""
    hidden_rollouts: frozenset[str] = frozenset()
    stop_requests: frozenset[str] = frozenset()
    """Ids of rollouts that are to end."""

    @property
    def limits_money(self) -> bool:
        limits = (self.dollars_per_rollout, self.dollars_per_visitor_day, self.dollars_per_day)
        return any(limit is not None for limit in limits)

    def hides(self, key: EnvKey) -> bool:
        return str(key) in self.hidden


class InstanceFile:
    """Reads the settings file of one store; cheap enough to ask on every request."""

    def __init__(self, store: Path) -> None:
        self._path = store / FILE
        self._seen: tuple[int, int, int] | None = None
        self._is_away = False
        self._current = Instance()

    def current(self) -> Instance:
        try:
            stat = self._path.stat()
            seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if seen != self._seen:
                self._take(self._path.read_bytes())
                self._seen = seen
        except FileNotFoundError:
            self._seen, self._current = None, Instance()
        except OSError as error:  # a store that is away for a moment does not show what is hidden
            if not self._is_away:
                _log.warning("%s cannot be read: %s", self._path, error)
            self._is_away = True
            return self._current
        self._is_away = False
        return self._current

    def _take(self, data: bytes) -> None:
        try:
            self._current = Instance.model_validate_json(data)
        except ValidationError as error:
            _log.warning("%s is not used: %s", self._path, fault_of(error))

    def save(self, instance: Instance) -> None:
        """Replace the file atomically. Raises `BadInput` for a key that names no environment."""
        for key in (*instance.hidden, *instance.pinned, *instance.featured):
            parse_key(key)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        temporary.write_text(instance.model_dump_json(indent=1))
        temporary.replace(self._path)


def fault_of(error: ValueError) -> str:
    """The first fault of a settings file: where and why, without what the file holds."""
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, fault["loc"]))
    return f"{where}: {fault['msg']}" if where else fault["msg"]
