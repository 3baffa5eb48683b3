"""A person in the place of an agent, from end to end: a worker, Harbor's trial, a local sandbox, a terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
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


def test_a_person_at_a_command_line_is_graded(here: Machine) -> None:
    hub, store = here.settings.hub, str(here.settings.store)
    told = ["run", "shell", "acme/tasks", "tasks/plain", "--hub", hub, "--store", store, "--format", "json"]
    ours, theirs = pty.openpty()
    env = {**os.environ, "RLX_CACHE_DIR": str(here.settings.cache_dir)}
    process = subprocess.Popen(
        [sys.executable, "-m", "rlx", *told],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=env,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        shown = _shown(ours, b"sandbox:/app# ")
        assert b"grade when you are done" in shown
        assert b"Write yes into /app/done." in shown
        os.write(ours, b'echo yes > done; echo wri""tten\r')
        _shown(ours, b"written")
        os.write(ours, b"exit\r")
        _shown(ours, b"The shell has ended")
        os.write(ours, b"\x1d")
        _shown(ours, b"[Enter] go on")
        os.write(ours, b"g")
        assert process.stdout is not None
        record = json.loads(process.stdout.read())
    finally:
        os.close(ours)
        process.kill()
        process.communicate()
    assert (record["agent"], record["status"], record["reward"]) == ("human", "done", 1.0)


def _shown(terminal: int, text: bytes) -> bytes:
    """What a terminal shows until it shows this."""
    shown, end = b"", time.monotonic() + PATIENCE
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 65536)
    return shown


def test_the_seat_is_one_persons_at_a_time_and_nobodys_without_the_key(here: Machine) -> None:
    rollout = here.start("tasks/plain", "human")
    first = Sitting(here, rollout)
    first.type('echo fi""rst\r')
    first.until("first")
    second = Sitting(here, rollout)
    assert "first" in second.until("first")
    with pytest.raises(ConnectionClosed) as closed:
        first.until("what never comes")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4001
    with pytest.raises(InvalidStatus):
        Sitting(here, rollout, key="guessed")
    second.type('yes | head -c 3000000; echo sh""own\r')
    second.until("shown")
    here.services.rollouts().queue.stop(rollout.id)
    done = here.ended(rollout)
    assert (done.status, done.graded) == ("cancelled", False)
    output = [event.data for event in here.events(done) if event.kind == "output"][-1]
    assert output["cut"] > 2_000_000
    assert len(output["text"]) < 60_000


def test_each_step_of_a_task_has_its_own_turn(here: Machine) -> None:
    rollout = here.start("tasks/stock-take", "human", env=DEMO)
    steps = demo_hub() / "datasets" / "rl-explorer" / "first-steps" / "tasks" / "stock-take" / "steps"
    for step, title in (("count", "# Count the stock"), ("reorder", "# Write the orders")):
        sitting = Sitting(here, rollout)
        assert sitting.told["instruction"].startswith(title)
        program = (steps / step / "solution" / "solve.sh").read_text().split("pipefail\n", 1)[1]
        sitting.type('ls /tests; echo lo""oked\r')
        assert "test" not in sitting.until("looked\r\n").partition("looked")[2]
        sitting.type(program.replace("\n", "\r"))
        sitting.type("grade\r")
        with pytest.raises(ConnectionClosed):
            sitting.until("what never comes")
    done = here.ended(rollout)
    assert (done.status, done.reward) == ("done", 1.0)
    assert [event.data["text"][:7] for event in here.events(done) if event.kind == "prompt"] == ["# Count", "# Write"]
