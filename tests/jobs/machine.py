"""A machine that runs rollouts, to test with: a hub of tasks, workers in their own processes, and who starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from rlx.model import Viewer
from rlx.rollout import Event, Rollout
from rlx.runners.asked import Asked, ModelAsked
from rlx.runners.launch import Launcher
from rlx.runners.workers import living, workers_folder
from rlx.services import Services, create_services
from rlx.settings import Settings

ME = Viewer("local")
CANARY = "hf_RLXCANARYtokenOfThisMachine"
PATIENCE = 100.0
_TURN = 0.05


@dataclass
class Machine:
    services: Services
    portal: BlockingPortal
    settings: Settings
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def work(self, slots: int = 2) -> "subprocess.Popen[bytes]":
        """Start a worker and wait until it is ready."""
        told = ["--hub", self.settings.hub, "--store", str(self.settings.store), "--slots", str(slots)]
        own = {"RLX_CACHE_DIR": str(self.settings.cache_dir), "HF_TOKEN": CANARY, "RLX_SESSION_SECRET": CANARY}
        worker = subprocess.Popen([sys.executable, "-m", "rlx", "worker", *told], env={**os.environ, **own})
        self.workers.append(worker)
        folder = workers_folder(self.settings)
        until(lambda: any(card.pid == worker.pid for card in living(folder)) or worker.poll() is not None)
        assert worker.poll() is None, "the worker ended at once"
        return worker

    def start(self, ref: str, agent: str, *, env: str = "acme/tasks", viewer: Viewer = ME, **asked: object) -> Rollout:
        wish = Asked(env=env, ref=ref, agent=agent, **asked)  # type: ignore[arg-type]  # handed on as the test gave them
        return self.portal.call(Launcher(self.services).start, wish, viewer)

    def find(self, rollout: Rollout) -> Rollout:
        return self.services.rollouts().views.find(rollout.id, ME)

    def ended(self, rollout: Rollout) -> Rollout:
        until(lambda: self.find(rollout).ended)
        return self.find(rollout)

    def run(self, ref: str, agent: str, *, env: str = "acme/tasks", **asked: Any) -> Rollout:
        return self.ended(self.start(ref, agent, env=env, **asked))

    def events(self, rollout: Rollout) -> tuple[Event, ...]:
        return tuple(self.services.rollouts().files.events(rollout.id, limit=5000).events)

    def files(self, rollout: Rollout) -> Mapping[str, bytes]:
        files = self.services.rollouts().files
        return {kept.name: files.open(rollout.id, kept.name).read_bytes() for kept in files.listing(rollout.id)}

    def everything(self, rollout: Rollout) -> str:
        """All that is kept of a rollout, as text."""
        told = [self.find(rollout).model_dump_json(), *(event.model_dump_json() for event in self.events(rollout))]
        told += [data.decode("utf-8", "replace") for data in self.files(rollout).values()]
        return "\n".join(told)


def scripted(script: str) -> ModelAsked:
    return ModelAsked(id=script)


def until(condition: Callable[[], bool], *, patience: float = PATIENCE) -> None:
    """Look again until a condition holds: what other processes do tells nobody that it is done."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(_TURN)


@contextmanager
def machine(hub: Path | str, folder: Path) -> Iterator[Machine]:
    """Without a worker; those that are started are ended."""
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache", trust_local=True)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(create_services(settings)) as services:
        made = Machine(services, portal, settings)
        try:
            yield made
        finally:
            for worker in made.workers:
                if worker.poll() is None:
                    worker.send_signal(signal.SIGTERM)
            for worker in made.workers:
                worker.wait(60)


def write_task(hub: Path, name: str, files: Mapping[str, str], *, toml: str = "", dockerfile: str = "") -> None:
    """A task of `acme/tasks`: by default it is graded 1 when /app/done says yes, and its solution writes that."""
    folder = hub / "datasets" / "acme" / "tasks" / "tasks" / name
    usual = {
        "task.toml": f'schema_version = "1.3"\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\n{toml}',
        "instruction.md": f"# {name}\n\nWrite yes into /app/done.\n",
        "environment/Dockerfile": dockerfile or "FROM python:3.12-slim\nWORKDIR /app\n",
        "solution/solve.sh": "#!/bin/bash\necho yes > /app/done\n",
        "tests/test.sh": GRADER,
    }
    for path, text in {**usual, **files}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


GRADER = """#!/bin/bash
if [ "$(cat /app/done 2> /dev/null)" = yes ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
