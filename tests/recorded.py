"""Rollouts as a worker would have recorded them, written through the queue: nothing of them was run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rlx.jobs.queue import Offer
from rlx.jobs.queue_held import Held
from rlx.jobs.queue_service import Rollouts
from rlx.rollout import EventKind, Rollout, new_id

CANARY = "RLX-CANARY-ROLLOUT"
"""Stands wherever an answer could."""
SECRET = "hf_" + "abcdefghijklmnop" * 2
START = datetime(2026, 11, 30, 12, tzinfo=UTC)
OFFER = Offer(
    runners=("harbor",),
    agents=("simple", "oracle", "nop", "terminus-2", "human"),
    sandboxes={"local": 999, "docker": 999, None: 999},
)

type Happening = tuple[EventKind, Mapping[str, Any]]

TALK: tuple[Happening, ...] = (
    ("stage", {"stage": "agent", "state": "begun"}),
    ("prompt", {"text": "Fix the <median> of a list.", "role": "user"}),
    ("thinking", {"text": "An even list has two middles."}),
    ("message", {"text": "I look at the file first."}),
    ("call", {"id": "call_1", "name": "bash", "arguments": {"command": "cat stats.py"}}),
    ("output", {"id": "call_1", "text": "def median(values): ...", "seconds": 0.2}),
    ("usage", {"tokens_in": 810, "tokens_out": 107, "calls": 1}),
    ("message", {"text": "Now I mend it."}),
    ("call", {"id": "call_2", "name": "bash", "arguments": '{"command": "python fix.py"}'}),
    ("output", {"id": "call_2", "text": "boom", "error": True}),
    ("files", {"items": [{"path": "/app/stats.py", "change": "modified", "size": 412}]}),
)
GRADING: tuple[Happening, ...] = (
    ("stage", {"stage": "verify", "state": "begun"}),
    (
        "checks",
        {
            "passed": 1,
            "failed": 1,
            "items": [
                {"name": "test_odd", "passed": True},
                {"name": f"test_even[{CANARY}-param]", "passed": False},
            ],
        },
    ),
    ("log", {"source": "verifier", "text": f"collected 2 items\nE       assert {CANARY}-log == 3\n1 failed"}),
    ("note", {"text": f"AssertionError: {CANARY}-note", "kind": "odd"}),
)
SOLVING: tuple[Happening, ...] = (
    ("prompt", {"text": f"{CANARY}-prompt"}),
    ("message", {"text": f"{CANARY}-message"}),
    ("call", {"id": "1", "name": "bash", "arguments": {"command": f"echo {CANARY}-call"}}),
    ("output", {"id": "1", "text": f"{CANARY}-output"}),
    ("log", {"source": "oracle", "text": f"{CANARY}-said"}),
    ("files", {"items": [{"path": f"/app/{CANARY}-changed", "change": "added", "size": 1}]}),
    ("note", {"text": f"{CANARY}-remark"}),
)
FILES: Mapping[str, bytes] = {
    "verifier/test-stdout.txt": f"RLX-SHOWN-LOG\nE       assert 1 == {CANARY}-stdout\n".encode(),
    "verifier/ctrf.json": b'{"results": {"tests": [{"name": "RLX-SHOWN-CTRF", "message": "AssertionError: '
    + CANARY.encode()
    + b'-ctrf", "expected": "'
    + CANARY.encode()
    + b'-expected"}]}}',
    "verifier/report.xml": f"<a>{CANARY}-xml</a>".encode(),
    "artifacts/app/stats.py": b"def median(values):\n    return sorted(values)[0]  # RLX-SHOWN-ARTIFACT\n",
    "artifacts/solution/solve.sh": f"echo {CANARY}-solution\n".encode(),
    "artifacts/app/dot.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 16,
}
TRAJECTORY = b'{"schema_version": "ATIF-v1.4", "steps": [{"step_id": 1, "message": "RLX-SHOWN-STEP"}]}'


@dataclass
class Recorder:
    """Writes rollouts of one store."""

    rollouts: Rollouts
    env: str = "rl-explorer/first-steps"
    ref: str = "tasks/fix-median"

    def queued(self, **fields: Any) -> Rollout:
        plain: dict[str, Any] = {
            "id": new_id(),
            "env": self.env,
            "ref": self.ref,
            "revision": "0" * 40,
            "title": "Fix the median",
            "runner": "harbor",
            "sandbox": "local",
            "agent": "simple",
            "model": {"id": "solve", "provider": "scripted"},
            "created_at": START,
            "updated_at": START,
        }
        if fields.get("agent") in {"oracle", "nop"}:
            plain["model"] = None
        return self.rollouts.queue.enqueue(Rollout.model_validate({**plain, **fields}))

    def held(self, happened: Sequence[Happening] = TALK, **fields: Any) -> Held:
        """One whose agent is at work."""
        queued = self.queued(**fields)
        held = self.rollouts.queue.lease("recorder", OFFER)
        assert held is not None
        assert held.rollout.id == queued.id
        held.update(status="running", stage="agent", phases=phases("provision", "prepare"))
        for kind, data in happened:
            held.emit(kind, data)
        return held

    def done(
        self,
        reward: float | None = 1.0,
        happened: Sequence[Happening] = (*TALK, *GRADING),
        files: Mapping[str, bytes] = FILES,
        *,
        changes: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Rollout:
        held = self.held(happened, **fields)
        held.update(status="verifying", stage="verify")
        for path, data in files.items():
            held.keep(path, data)
        held.keep("trajectory.json", TRAJECTORY)
        rewards = {} if reward is None else {"reward": reward, "style": 0.5}
        told = {
            "status": "done",
            "reward": reward,
            "reward_key": "reward",
            "rewards": rewards,
            "graded": reward is not None,
            "phases": phases("provision", "prepare", "agent", "verify", "close"),
            "usage": {"tokens_in": 1734, "tokens_out": 165, "model_calls": 2, "tool_calls": 2},
            **(changes or {}),
        }
        return held.update(**told)

    def failed(self, cause: str = "verifier", status: str = "failed", **fields: Any) -> Rollout:
        failure = {"cause": cause, "kind": "no-reward", "message": f"AssertionError: {CANARY}-failure"}
        return self.held(**fields).update(status=status, failure=failure)

    def oracle(self, **fields: Any) -> Rollout:
        """A run of the reference solution with answers in all that it says."""
        solved = {f"artifacts/{CANARY}-made": f"{CANARY}-bytes".encode(), **FILES}
        notes = {"notes": (f"{CANARY}-recorded",)}
        return self.done(1.0, (*SOLVING, *GRADING), solved, agent="oracle", changes=notes, **fields)

    def nop(self, **fields: Any) -> Rollout:
        steps = [{"name": "one", "rewards": {"reward": 0.0}, "error": f"AssertionError: {CANARY}-step"}]
        return self.done(0.0, GRADING, agent="nop", changes={"steps": steps}, **fields)


def phases(*stages: str) -> list[dict[str, object]]:
    """Each of two seconds, one after another."""
    return [
        {
            "stage": stage,
            "started_at": START + timedelta(seconds=2 * at),
            "finished_at": START + timedelta(seconds=2 * at + 2),
        }
        for at, stage in enumerate(stages)
    ]
