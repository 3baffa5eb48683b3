"""Programs of frameworks: how they are started, ended and told, without any framework."""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rlx.errors import BadInput, Upstream
from rlx.generator.check.environments import Frameworks, make_frameworks
from rlx.generator.check.processes import execute
from rlx.generator.check.servers import serving
from rlx.generator.registry import targets

pytestmark = pytest.mark.anyio

PYTHON = Path(sys.executable)
ANSWERS = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass

HTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_what_is_printed_and_given_goes_through(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read().upper()); sys.exit(3)"
    done = await execute([sys.executable, "-c", code], tmp_path, {}, seconds=60, given=b"hello")
    assert (done.code, done.output.strip()) == (3, "HELLO")


async def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    done = await execute([sys.executable, "-c", code], tmp_path, {}, seconds=0.5)
    assert done.code == 124


def test_no_secret_of_this_process_reaches_a_framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in make_frameworks(tmp_path).variables.values()


async def test_without_uv_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no uv"):
        await Frameworks(tmp_path, {"PATH": str(tmp_path)}).python(targets()["ors"])


async def test_a_server_is_there_while_it_is_needed(tmp_path: Path) -> None:
    target = replace(targets()["ors"], served=("python", "-c", ANSWERS))
    async with serving(target, PYTHON, tmp_path, {}) as url:
        assert url.startswith("http://127.0.0.1:")


async def test_a_server_that_does_not_start_is_told_with_what_it_said(tmp_path: Path) -> None:
    target = replace(targets()["ors"], served=("python", "-c", "raise SystemExit('E2B_API_KEY is not set')"))
    with pytest.raises(Upstream, match="E2B_API_KEY is not set"):
        async with serving(target, PYTHON, tmp_path, {}):
            raise AssertionError("it did not start")


def test_a_server_ends_with_whoever_started_it_killed_too(tmp_path: Path) -> None:
    (tmp_path / "answers.py").write_text(ANSWERS)
    starter = subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    with starter.stdout:
        port = int(starter.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as line:
            os.kill(starter.pid, signal.SIGKILL)
            starter.wait()
            line.settimeout(60)
            assert _rest(line) == b""


def _rest(line: socket.socket) -> bytes:
    """What a server that is asked nothing says till it is gone."""
    try:
        return line.recv(1)
    except ConnectionResetError:
        return b""


STARTER = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from rlx.generator.check.servers import serving
from rlx.generator.registry import targets

async def main():
    target = replace(targets()["ors"], served=("python", "answers.py"))
    async with serving(target, Path(sys.executable), Path(sys.argv[1]), {}) as url:
        print(urlsplit(url).port, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
