"""The agent `human`: in place of an agent, whoever sits at the terminal."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from rlx import __version__
from rlx.agents.registry import HUMAN
from rlx.errors import AgentError
from rlx.runners.base import Run
from rlx.runners.scrub import Scrub
from rlx.runners.seats.desk import Desk
from rlx.runners.seats.record import Record
from rlx.runners.seats.seat import SEAT, Seat
from rlx.sandboxes.local.harbor import LocalEnvironment

TAPE: Final = "artifacts/terminal.cast"
_BASH: Final = "/bin/bash"


@contextmanager
def seated(run: Run, desk: Desk, emit: Callable[[Any, Any], None], scrub: Scrub) -> Iterator[None]:
    """Where the agent is a person: the rollout has a seat while the block lasts, and what was seen there is kept."""
    if run.rollout.agent != HUMAN:
        yield
        return
    seat = Seat(Record(emit, scrub.text, lambda: datetime.now(UTC)))
    SEAT.set(seat)
    try:
        with desk.seat(run.rollout.id, seat):
            yield
    finally:
        if seat.record.is_begun:
            run.keep(TAPE, seat.record.tape())


class HumanAgent(BaseAgent):  # type: ignore[misc]  # harbor's types are not followed
    """Waits until the person asks for the grading."""

    @staticmethod
    def name() -> str:
        return HUMAN

    def version(self) -> str:
        return __version__

    async def setup(self, environment: BaseEnvironment) -> None:
        """The sandbox needs nothing but its shell."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        if not isinstance(environment, LocalEnvironment):
            raise AgentError("A person can sit in a local sandbox only.")
        seat = SEAT.get()
        try:
            bash = await environment.is_file(_BASH)
            await seat.sit(environment.terminal, instruction, bash=bash)
        finally:
            self._write(seat.record.trajectory())

    def _write(self, steps: list[dict[str, Any]]) -> None:
        agent = {"name": self.name(), "version": self.version()}
        told = {"schema_version": "ATIF-v1.7", "session_id": self.session_id or HUMAN, "agent": agent, "steps": steps}
        self.logs_dir.mkdir(parents=True, exist_ok=True)
        (self.logs_dir / "trajectory.json").write_text(json.dumps(told))
