"""Stages: told, recorded, and ended when they take too long."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from rlx.errors import LimitError
from rlx.rollout import STAGES, Stage
from rlx.runners.stages import Stages

pytestmark = pytest.mark.anyio


class Scene:
    def __init__(self, limits: Mapping[Stage, float] | None = None) -> None:
        self.told: list[tuple[str, Mapping[str, Any]]] = []
        self.updates: list[Mapping[str, Any]] = []
        self.errors: list[LimitError] = []
        self.over = anyio.Event()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        usual = dict.fromkeys(STAGES, 3600.0)
        self.stages = Stages(
            lambda **changes: self.updates.append(changes),
            lambda kind, data: self.told.append((kind, data)),
            self.clock,
            self.hear,
            usual | dict(limits or {}),
        )

    def clock(self) -> datetime:
        self.now += timedelta(seconds=2)
        return self.now

    def hear(self, error: LimitError) -> None:
        self.errors.append(error)
        self.over.set()


async def test_stages_are_told_and_recorded_with_the_state_they_bring() -> None:
    scene = Scene()
    stages: tuple[Stage, ...] = ("provision", "agent", "agent", "verify", "agent")
    for stage in stages:
        scene.stages.begin(stage)
    phases = scene.stages.finish()

    assert [phase.stage for phase in phases] == ["provision", "agent", "verify", "agent"]
    assert all(phase.finished_at is not None for phase in phases)
    assert [update.get("status") for update in scene.updates] == [None, "running", "verifying", "running"]
    assert scene.told[1] == ("stage", {"stage": "provision", "state": "ended", "seconds": 2.0})
    assert scene.stages.current is None


async def test_a_stage_that_takes_too_long_is_ended() -> None:
    scene = Scene({"provision": 0.01})
    scene.stages.begin("provision")

    with anyio.fail_after(10):
        await scene.over.wait()

    assert "provision" in scene.errors[0].message


async def test_a_stage_that_ended_is_not_watched_any_more() -> None:
    scene = Scene({"provision": 0.01, "agent": 0.02})
    scene.stages.begin("provision")
    scene.stages.begin("agent")

    with anyio.fail_after(10):
        await scene.over.wait()

    assert "agent" in scene.errors[0].message
    scene.stages.finish()


async def test_a_limit_that_is_learnt_later_counts() -> None:
    scene = Scene({"provision": 0.01})
    scene.stages.begin("provision")
    scene.stages.limit("provision", 3600)
    scene.stages.limit("agent", None)

    with anyio.move_on_after(0.1):
        await scene.over.wait()

    assert scene.errors == []
    scene.stages.finish()
