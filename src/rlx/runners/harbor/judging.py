"""A rollout's judge: a session of the capture proxy, which speaks the dialects of models, on a line to the model.

The proxy takes the session's name as a key. It leads to this judge alone, and only till the rollout has ended.
"""

import secrets
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from openenv.core.harness.capture.sessions import SessionRegistry, Upstream

from rlx.errors import TaskError
from rlx.rollout import Rollout
from rlx.runners.judge import CALLS, JudgePlan, Meter, plan
from rlx.runners.relay import Line, Relay, sender
from rlx.runners.watch import Watch
from rlx.runners.workers import Handed

INSIDE: Final = "http://127.0.0.1:8484/capture"
"""Where a sandbox finds the worker's server."""

type Connect = Callable[[str, str, ExitStack], Upstream]
"""From the path of a line and a model's name to how the proxy reaches it, while the stack lasts."""


@dataclass(slots=True)
class Judging:
    """What the trial is given, and what it came to. Without a judge all of it is empty."""

    meter: Meter | None = None
    bindings: Mapping[str, str] = field(default_factory=dict)
    for_grader: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


def planned(task: Path, given: Mapping[str, str]) -> JudgePlan | None:
    """Of a task's folder. Raises `TaskError`."""
    try:
        return plan(tomllib.loads((task / "task.toml").read_text("utf-8")), given=given)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise TaskError("The task's settings cannot be parsed.") from error


@contextmanager
def judged(
    rollout: Rollout, handed: Handed, task: Path, *, relay: Relay, registry: SessionRegistry, connect: Connect
) -> Iterator[Judging]:
    """The judge of a rollout while the block lasts. Raises `TaskError`, `ModelError`."""
    found = planned(task, handed.bindings)
    if found is None or rollout.judge is None:
        yield Judging()
        return
    own = replace(handed, base_url=handed.judge_url, api_key=handed.judge_key)
    most = rollout.fields.get("judge_calls")
    meter = Meter(sender(rollout.judge, own), rollout.judge, int(most) if isinstance(most, int) else CALLS)
    quiet = Watch(lambda kind, data: None, rollout.judge, quiet=True)
    with ExitStack() as stack:
        path = stack.enter_context(relay.line(Line(meter, quiet)))
        upstream = connect(path, rollout.judge.id, stack)
        key = f"j{secrets.token_hex(20)}"
        registry.create(key, upstream=upstream, capture_level="text", purpose="eval")
        stack.callback(registry.delete, key)
        told = found.for_grader(url=INSIDE, key=key, model=rollout.judge.id)
        yield Judging(meter, found.for_others(), told, (key, path.split("/")[2]))


def figures(judging: Judging) -> dict[str, Any]:
    """Of an outcome."""
    meter = judging.meter
    if meter is None:
        return {}
    return {"judge_calls": meter.calls, "judge_usage": meter.usage, "judge_cost": meter.cost}
