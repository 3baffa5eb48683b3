"""A rollout: what is recorded of one attempt of an agent at a task, and the events it goes through.

Both are files with a version (`rollout.json`, `events.jsonl` in a folder named by the id); these files are the truth,
and every index is made from them. Unknown figures (tokens, cost, reward) are None, never 0.
"""

import re
import secrets
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

SCHEMA: Final = 1

type Status = Literal["queued", "starting", "running", "verifying", "done", "failed", "cancelled", "interrupted"]
ENDED: Final[frozenset[str]] = frozenset({"done", "failed", "cancelled", "interrupted"})
type Stage = Literal["provision", "prepare", "agent", "verify", "close"]
STAGES: Final[tuple[Stage, ...]] = ("provision", "prepare", "agent", "verify", "close")
type Cause = Literal["model", "sandbox", "agent", "task", "verifier", "limit", "worker", "person"]
"""The boundary that a failure crossed: one of the subclasses of `rlx.errors.RolloutError`; or `worker`, the process
that ran it, which died or was ended; or `person`, who stopped it."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{16}")
type RolloutId = Annotated[str, StringConstraints(pattern=rf"^{_ID.pattern}$")]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null", allow_inf_nan=False)


class ModelUse(_Record):
    """The model an agent spoke with. Keys are never here."""

    id: str
    provider: str
    """`scripted`, `endpoint`, or `router`: Inference Providers."""
    route: str | None = None
    """Of `router`: `fastest`, `cheapest`, `preferred` or the provider that answers."""
    host: str | None = None
    """Of an endpoint, without path or credentials."""
    dollars_in: float | None = None
    dollars_out: float | None = None
    """Price of a million tokens, where it is known."""
    at_most: bool = False
    """The prices are the highest of those of several providers, one of which answered."""


class Usage(_Record):
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    model_calls: int | None = None
    tool_calls: int | None = None


class Phase(_Record):
    stage: Stage
    started_at: datetime
    finished_at: datetime | None = None


class Failure(_Record):
    """Why a rollout has no reward, or was cut short."""

    cause: Cause
    kind: str
    """A word of ours: `no-reward`, `bad-reward`, `verifier-missing`, `timeout`, `cancelled`, `infrastructure`, ..."""
    message: str
    """Scrubbed of paths of this machine and of secrets."""


class StepScore(_Record):
    name: str
    rewards: Mapping[str, float] = Field(default_factory=dict)
    error: str | None = None


class Rollout(_Record):
    schema_version: Literal[1] = SCHEMA
    id: RolloutId
    env: str
    """The environment's key."""
    ref: str
    revision: str
    title: str
    runner: str
    sandbox: str | None
    agent: str
    model: ModelUse | None = None
    fields: Mapping[str, str | int | float | bool | None] = Field(default_factory=dict)
    """What was chosen of the option's fields."""
    status: Status = "queued"
    stage: Stage | None = None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reward: float | None = None
    """The headline: `rewards[reward_key]`. A finite number, or None: none was had."""
    reward_key: str | None = None
    rewards: Mapping[str, float] = Field(default_factory=dict)
    graded: bool = False
    """It has a finite reward, and nothing happened that voids it."""
    failure: Failure | None = None
    usage: Usage = Usage()
    cost: float | None = None
    """Dollars."""
    judge: ModelUse | None = None
    """The model that took part in grading."""
    judge_calls: int | None = None
    judge_usage: Usage = Usage()
    judge_cost: float | None = None
    """Dollars, beside `cost`."""
    phases: tuple[Phase, ...] = ()
    steps: tuple[StepScore, ...] = ()
    attempt: int = 1
    """Raised each time a worker takes it over."""
    visibility: Literal["private", "public"] = "private"
    owner: str | None = None
    """Who started it; None: whoever runs this machine."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Of what ran it: rlx, harbor, openenv."""
    notes: tuple[str, ...] = ()
    """What a reader should know: the base image is approximated, limits fell back, ..."""

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def ceiling(self) -> float | None:
        """Dollars that it may cost, where somebody said so."""
        told = self.fields.get("max_dollars")
        return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None

    @property
    def begun(self) -> bool:
        """Its agent began to work, so that running it again would be another attempt at the task."""
        later = ("agent", "verify", "close")
        return (
            self.status in {"running", "verifying"}
            or self.stage in later
            or any(phase.stage in later for phase in self.phases)
        )


EventKind = Literal[
    "status",
    "stage",
    "prompt",
    "thinking",
    "message",
    "call",
    "output",
    "tools",
    "usage",
    "log",
    "checks",
    "files",
    "note",
    "error",
]


class Event(_Record):
    """Something that happened. `n` counts from 1 within a rollout, without gaps."""

    n: int
    at: datetime
    kind: EventKind
    data: Mapping[str, Any] = Field(default_factory=dict)
    """JSON. By kind: status {status}; stage {stage, state: begun|ended, seconds?};
    prompt, thinking, message {text, role?}; call {id, name, arguments}; output {id, text, error?, seconds?};
    tools {items: each tool offered to the model, as JSON in a text};
    usage {tokens_in, tokens_out, cost?, calls}; log {text, source};
    checks {passed, failed, items: [{name, passed}]}; files {items: [{path, change, size}]};
    note, error {text, kind?}."""


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def new_id() -> str:
    """Sorts by time to the millisecond; 16 characters without look-alikes."""
    number = (int(time.time() * 1000) << 32) | secrets.randbits(32)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(75, -5, -5))
