"""Rollouts to test with: a clock that is turned by hand, records, and everything over one store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from rlx.jobs.queue import Offer, Queue
from rlx.jobs.queue_held import Held
from rlx.jobs.queue_recovery import Recovered, recover
from rlx.rollout import Rollout, new_id
from rlx.store.instance import Instance, InstanceFile
from rlx.store.rollouts.bounds import Bounds
from rlx.store.rollouts.files import RolloutFiles
from rlx.store.rollouts.index import Index
from rlx.store.rollouts.schema import open_engine
from rlx.store.rollouts.views import Views
from rlx.store.storage import DirectoryStorage, Storage

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
LEASE = 90.0
ANYTHING = Offer(runners=("harbor",), agents=("simple", "oracle", "nop"), sandboxes={"local": 99, None: 99})


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)  # no two moments are the same
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Turned(Protocol):
    """A clock that can be turned."""

    def __call__(self) -> datetime: ...

    def turn(self, seconds: float) -> None: ...


@dataclass
class Scene:
    """One machine's view of a store and a database. `beside` is another machine over the same."""

    store: Path
    local: Path
    url: str
    clock: Turned = field(default_factory=Clock)
    bounds: Bounds = field(default_factory=Bounds)
    storage: Storage | None = None

    def __post_init__(self) -> None:
        self._beside: list[Scene] = []
        self.storage = self.storage or DirectoryStorage(self.store)
        self.files = RolloutFiles(self.local / "live", self.storage, clock=self.clock, bounds=self.bounds)
        self.engine = open_engine(self.url)
        self.index = Index(self.engine)
        self.index.create()
        self.instance = InstanceFile(self.store)
        self.queue = Queue(self.index, self.files, self.instance, clock=self.clock, seconds=LEASE)
        self.views = Views(self.index, self.files, self.instance)

    def close(self) -> None:
        for other in self._beside:
            other.close()
        self.index.close()

    def beside(self, local: Path) -> "Scene":
        self._beside.append(Scene(self.store, local, self.url, self.clock, self.bounds))
        return self._beside[-1]

    def record(self, **fields: Any) -> Rollout:
        return record(self.clock, **fields)

    def enqueue(self, **fields: Any) -> Rollout:
        return self.queue.enqueue(self.record(**fields))

    def lease(self, worker: str = "w1", offer: Offer = ANYTHING) -> Held | None:
        return self.queue.lease(worker, offer)

    def held(self, worker: str = "w1", **fields: Any) -> Held:
        """A rollout that was just leased."""
        self.enqueue(**fields)
        held = self.lease(worker)
        assert held is not None
        return held

    def done(self, reward: float | None = 1.0, **fields: Any) -> Rollout:
        """A rollout that went all the way."""
        held = self.held(**fields)
        held.update(status="running", stage="agent")
        held.update(status="verifying", stage="verify")
        rewards: Mapping[str, float] = {} if reward is None else {"reward": reward}
        return held.update(status="done", reward=reward, rewards=rewards, graded=reward is not None)

    def recover(self, *gone: str) -> Recovered:
        return recover(self.queue, gone=gone)

    def find(self, id: str) -> Rollout:
        return self.views.find(id, None)

    def statuses(self, id: str) -> list[str]:
        """States that the events tell."""
        events = self.files.events(id, limit=10_000).events
        return [str(event.data["status"]) for event in events if event.kind == "status"]

    def set(self, **fields: Any) -> None:
        """What operators set."""
        self.instance.save(Instance(**fields))


def record(clock: Callable[[], datetime], **fields: Any) -> Rollout:
    now = clock()
    plain: dict[str, Any] = {
        "id": new_id(),
        "env": "acme/tools",
        "ref": "tasks/fix",
        "revision": "0" * 40,
        "title": "Fix it",
        "runner": "harbor",
        "sandbox": "local",
        "agent": "simple",
        "created_at": now,
        "updated_at": now,
    }
    return Rollout.model_validate({**plain, **fields})
