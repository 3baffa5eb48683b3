"""What was proved of tasks by running them: files `health/<kind>/<org>/<name>.json` in the store, one an environment.

Each task's evidence names the revision that it was made for, and says nothing of any other. It holds rewards, times and
words of ours, never what a solution did. A file is written whole; two who write at once lose some evidence, not more.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from rlx.errors import BadInput
from rlx.ids import EnvKey, parse_key
from rlx.rollout import Cause
from rlx.store.storage import Storage

_log = logging.getLogger(__name__)

FOLDER: Final = "health"
STATES: Final[tuple["State", ...]] = ("proven", "broken", "unproven")
_LARGEST: Final = 128 * 1024 * 1024
_LASTS: Final = 5.0
"""Seconds between two looks at the store."""

type State = Literal["proven", "broken", "unproven"]
type Reason = Literal[
    "refused", "no-solution", "cannot-run", "no-judge", "environment", "unfinished",
    "no-reward", "oracle-below", "flaky", "no-floor", "floor-equal",
]  # fmt: skip
"""Why a task is broken or unproven."""
_Word = Annotated[str, StringConstraints(max_length=60)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Trial(_Record):
    """One run of the reference solution, or of an agent that does nothing."""

    agent: Literal["oracle", "nop"]
    rollout: _Word
    scores: tuple[float, ...] = ()
    """The one that counts, or all where none is named as that. Empty: there was no reward."""
    cause: Cause | None = None
    kind: _Word | None = None
    """Of what kept it from a reward."""
    seconds: float | None = None


class TaskHealth(_Record):
    ref: str
    revision: str
    state: State
    reason: Reason | None = None
    why: Any = None
    """What stands in the way of running it here, as `rlx.index.codec.text_out` gives it."""
    trials: tuple[Trial, ...] = ()
    checked_at: datetime
    sandbox: _Word | None = None

    def of(self, agent: str) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.agent == agent)


class EnvHealth(_Record):
    version: Literal[1] = 1
    env: str
    tasks: Mapping[str, TaskHealth] = Field(default_factory=dict)
    """By ref, each at the revision that it was checked at last."""

    def at(self, revision: str | None) -> dict[str, TaskHealth]:
        """What holds for a revision."""
        return {ref: task for ref, task in self.tasks.items() if task.revision == revision}


type Book = Mapping[str, EnvHealth]
"""By the environment's key."""


def file_of(key: EnvKey) -> str:
    return f"{FOLDER}/{key.kind}s/{key.org}/{key.name}.json"


class HealthStore:
    """Of one store. Calls block; what they read is at most some seconds old."""

    def __init__(self, storage: Storage, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._tags: dict[str, str] = {}
        self._book: dict[str, EnvHealth] = {}

    def book(self) -> Book:
        """Everything that is known: the same object until something changes. A store that is away changes nothing."""
        with self._lock:
            if self._looked is None or self._clock() - self._looked >= _LASTS:
                self._looked = self._clock()
                try:
                    self._look()
                except OSError as error:
                    _log.warning("What is known of the health of tasks cannot be read: %s", error)
            return self._book

    def of(self, key: EnvKey) -> EnvHealth:
        return self.book().get(str(key)) or EnvHealth(env=str(key))

    def read(self, key: EnvKey) -> EnvHealth:
        """As it is now. Raises `OSError`, and `BadInput` for a file that is none."""
        try:
            found = EnvHealth.model_validate_json(self._storage.read(file_of(key), limit=_LARGEST))
        except FileNotFoundError:
            return EnvHealth(env=str(key))
        except ValueError as error:
            raise BadInput(
                f"{file_of(key)} in the store cannot be read.", hint="Remove it, and check again."
            ) from error
        return found

    def put(self, key: EnvKey, *tasks: TaskHealth) -> None:
        """Add evidence to what others wrote meanwhile. Raises `OSError`, `BadInput`."""
        with self._lock:
            known = self.read(key)
            health = EnvHealth(env=str(key), tasks={**known.tasks, **{task.ref: task for task in tasks}})
            self._storage.write(file_of(key), health.model_dump_json(exclude_none=True).encode())
            self._looked = None

    def _look(self) -> None:
        tags = {}
        for kind in self._storage.folders(FOLDER):
            for org in self._storage.folders(f"{FOLDER}/{kind}"):
                for file in self._storage.list(f"{FOLDER}/{kind}/{org}"):
                    tags[f"{FOLDER}/{kind}/{org}/{file.name}"] = file.tag
        if tags == self._tags:
            return
        known = {name: self._book[key] for key in self._book if (name := file_of(parse_key(key))) in tags}
        book = {}
        for name, tag in tags.items():
            found = known.get(name) if self._tags.get(name) == tag else self._read(name)
            if found is not None:
                book[found.env] = found
        self._tags, self._book = tags, book

    def _read(self, name: str) -> EnvHealth | None:
        """None for a file that is none, or stands where another environment's does."""
        try:
            found = EnvHealth.model_validate_json(self._storage.read(name, limit=_LARGEST))
            if file_of(parse_key(found.env)) == name:
                return found
        except (ValidationError, ValueError, BadInput, FileNotFoundError) as error:
            _log.warning("%s is not used: %s", name, type(error).__name__)
        return None
