"""`rlx serve` and `rlx hub serve` as processes of their own."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest


@dataclass(frozen=True, slots=True)
class Served:
    process: "subprocess.Popen[str]"
    url: str
    said: str
    """The line that told the address."""

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        try:
            with urlopen(Request(self.url + path, headers=headers), timeout=30) as answer:  # noqa: S310 - loopback
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()


type Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts `rlx ARGUMENTS` and waits for the address that it tells."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> Served:
        env = {"PATH": "", "HOME": str(tmp_path), "RLX_CACHE_DIR": str(tmp_path / "cache"), "RLX_STORE": str(tmp_path)}
        alone = ["--no-worker"] if arguments[0] == "serve" and "--worker" not in arguments else []
        command = [sys.executable, "-m", "rlx", *arguments, *alone, "--port", "0"]
        # A shell that runs the tests in its background has interrupts ignored, and children inherit that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        signal.signal(signal.SIGINT, before)
        started.append(process)
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address, said
        return Served(process, address[0], said)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_demo_is_served_with_environments(serve: Serve) -> None:
    site = serve("serve", "--demo")
    status, page = site.get("/")
    assert status == 200
    assert "first-steps" in page
    assert site.get("/readyz")[0] == 200


def test_a_foreign_host_name_is_refused(serve: Serve) -> None:
    site = serve("serve", "--demo", "--allow-host", "rlx.example.org")
    assert site.get("/", Host="evil.example")[0] == 400
    assert site.get("/", Host="rlx.example.org")[0] == 200


def test_an_interrupted_server_exits_130_and_prints_no_data(serve: Serve) -> None:
    site = serve("serve", "--demo")
    site.process.send_signal(signal.SIGINT)
    out, err = site.process.communicate(timeout=30)
    assert (site.process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_folder_is_served_as_a_hub(serve: Serve, fixture_hub: Path) -> None:
    hub = serve("hub", "serve", str(fixture_hub))
    status, listed = hub.get("/api/datasets?search=layout-tasks")
    assert status == 200
    assert [item["id"] for item in json.loads(listed)] == ["acme/layout-tasks"]


def test_a_hub_says_how_much_it_holds(serve: Serve, tmp_path: Path) -> None:
    for repository in ("datasets/org/one", "spaces/org/one", "spaces/org/two"):
        (tmp_path / "hub" / repository).mkdir(parents=True)
    assert "with 1 dataset, 2 spaces (" in serve("hub", "serve", str(tmp_path / "hub")).said


def test_a_folder_served_as_a_hub_can_be_read_through_its_address(serve: Serve, fixture_hub: Path) -> None:
    hub = serve("hub", "serve", str(fixture_hub))
    site = serve("serve", "--hub", hub.url)
    status, page = site.get("/d/acme/layout-tasks?format=json")
    assert status in {200, 202}
    assert json.loads(page)
