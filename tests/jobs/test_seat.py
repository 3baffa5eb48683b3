"""A person in the place of an agent, from end to end: a worker, Harbor's trial, a local sandbox, a terminal."""

import json
from collections.abc import Callable, Iterator

import pytest
from websockets.sync.client import ClientConnection, connect

from rlx.demo import demo_hub
from rlx.rollout import Rollout
from rlx.runners.seats.line import worker_of
from rlx.runners.workers import WorkerCard, workers_folder
from tests.jobs.machine import Machine, machine, until, write_task

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300), pytest.mark.xdist_group("worker")]
PATIENCE = 60.0
DEMO = "rl-explorer/first-steps"
_SETTINGS = r"""sed 's/#.*//; s/[ \t]*=[ \t]*/=/; s/^[ \t]*//; s/[ \t]*$//' service.conf"""
_LAST = r"""awk -F= '/=/ {at = index($0, "="); kept[tolower($1)] = substr($0, at + 1)}"""
_TOLD = r"""END {for (key in kept) print key " = " kept[key]}' | LC_ALL=C sort > /tmp/new"""
SOLUTION = ["ls", f"{_SETTINGS} | {_LAST} {_TOLD}", "cat /tmp/new > service.conf"]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]) -> Iterator[Machine]:
    """With one worker for all tests of the module."""
    require_tool("bwrap")
    hub = tmp_path_factory.mktemp("hub")
    (hub / "datasets").mkdir()
    (hub / "datasets" / "rl-explorer").symlink_to(demo_hub() / "datasets" / "rl-explorer")
    write_task(hub, "plain", {})
    with machine(hub, tmp_path_factory.mktemp("machine")) as made:
        made.work(slots=3)
        yield made
        until(lambda: not list((made.settings.cache_dir / "sandboxes" / "boxes").glob("*")))


class Sitting:
    """Somebody at the terminal of a rollout."""

    def __init__(self, here: Machine, rollout: Rollout, key: str | None = None) -> None:
        folder, found = workers_folder(here.settings), list[WorkerCard | None]()

        def is_open() -> bool:
            found[:] = [here.portal.call(worker_of, folder, rollout.id)]
            return found[0] is not None or here.find(rollout).ended

        until(is_open, patience=PATIENCE)
        assert found[0] is not None, here.find(rollout)
        self.card = card = found[0]
        headers = {"authorization": f"Bearer {key or card.key}"}
        url = f"ws://127.0.0.1:{card.port}/seats/{rollout.id}/line"
        self.line: ClientConnection = connect(url, additional_headers=headers, proxy=None, compression=None)
        self.told = json.loads(self.line.recv(PATIENCE))
        self.shown = b""

    def type(self, text: str) -> None:
        self.line.send(text.encode())

    def until(self, text: str) -> str:
        """What is shown from now on, until this is."""
        before = len(self.shown)
        while text.encode() not in self.shown[before:]:
            data = self.line.recv(PATIENCE)
            assert isinstance(data, bytes)
            self.shown += data
            self.line.send(json.dumps({"seen": len(self.shown)}))
        return self.shown[before:].decode("utf-8", "replace")


def test_a_person_solves_the_demo_task_by_typing(here: Machine) -> None:
    rollout = here.start("tasks/tidy-config", "human", env=DEMO)
    sitting = Sitting(here, rollout)
    assert 0 < sitting.told["seconds"] <= 3600
    sitting.line.send(json.dumps({"size": [100, 30]}))
    sitting.type("stty size; pwd; tty; id -un\r")
    shown = sitting.until("root\r\n")
    assert "30 100\r\n" in shown
    assert "/dev/pts/" in shown
    for command in SOLUTION:
        sitting.type(f"{command}\r")
    sitting.type("false\r")
    sitting.type("grade\r")
    done = here.ended(rollout)

    assert (done.status, done.reward, done.graded, done.agent) == ("done", 1.0, True, "human")
    events = here.events(done)
    calls = [event.data["arguments"]["command"] for event in events if event.kind == "call"]
    assert calls == ["stty size; pwd; tty; id -un", *SOLUTION, "false", "grade"]
    outputs = [event.data for event in events if event.kind == "output"]
    assert outputs[0]["text"].startswith("30 100\n")
    assert outputs[-2] == {
        "id": outputs[-2]["id"],
        "text": "[exit code 1]",
        "error": True,
        "seconds": outputs[-2]["seconds"],
    }
    prompt = next(event for event in events if event.kind == "prompt")
    assert "Tidy a configuration file" in prompt.data["text"]
    kept = here.files(done)
    assert json.loads(kept["trajectory.json"])["agent"]["name"] == "human"
    tape = [json.loads(line) for line in kept["artifacts/terminal.cast"].decode().splitlines()]
    assert tape[0]["version"] == 2
    assert "7770" not in kept["artifacts/terminal.cast"].decode()
