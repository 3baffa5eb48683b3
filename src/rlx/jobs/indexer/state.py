"""What an indexer remembers from run to run: `indexer-state.json` in the store."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from rlx.ids import EnvKey
from rlx.store.storage import Storage

FILE = "indexer-state.json"
AGAIN = timedelta(days=1)
"""How long what came to nothing at a revision is left alone there."""
_MAX = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


class Attempt(BaseModel):
    """A reading that came to nothing, or to less than all."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sha: str | None
    at: AwareDatetime
    reason: str
    failed: bool = True
    """False: there is an entry, which lacks tasks."""


class Run(BaseModel):
    """How a run went."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    started: AwareDatetime
    ended: AwareDatetime
    listed: int
    read: int
    failed: int
    left: int
    """Planned and not read: the budget was used up."""
    tasks: int
    db: str
    stopped: str | None = None
    """What ended it before everything was read: time, count, rate or hub."""


class State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1
    hub: str = ""
    """Whose catalog the store holds: the address of a Hub, or the folder of a local one."""
    attempts: Mapping[str, Attempt] = {}
    """By environment key."""
    last: Run | None = None

    def waits(self, key: EnvKey, sha: str | None, now: datetime) -> bool:
        """Whether it is too early to read `key` at `sha` again."""
        attempt = self.attempts.get(str(key))
        return attempt is not None and attempt.sha == sha and abs(now - attempt.at) < AGAIN

    def reason(self, key: EnvKey, sha: str | None) -> str | None:
        """Why the last reading at `sha` failed; None when it did not."""
        attempt = self.attempts.get(str(key))
        return attempt.reason if attempt is not None and attempt.failed and attempt.sha == sha else None


def load_state(storage: Storage) -> State:
    """A state that is damaged, or not there, is an empty one: then things are tried once more. Raises `OSError`."""
    try:
        return State.model_validate_json(storage.read(FILE, limit=_MAX))
    except FileNotFoundError:
        return State()
    except ValueError as error:
        what = "malformed" if isinstance(error, ValidationError) else error
        _log.warning("%s is started anew: %s", FILE, what)
        return State()


def save_state(storage: Storage, state: State) -> None:
    storage.write(FILE, state.model_dump_json().encode("utf-8", "replace"))
