"""Hugging Face sandboxes keep the promises of a sandbox, at a local hub that runs their jobs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.localhub import LocalHubServer, serve
from rlx.sandboxes.base import Address, Impossible, Possible, SandboxSpec
from rlx.sandboxes.hf.kind import HF, Account
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from rlx.texts import words
from tests.localhub.jobs_hub import TOKEN, jobs_hub

pytestmark = pytest.mark.timeout(300)

NOT_HERE = {
    "output is what a command wrote, byte by byte",
    "without a network there is none",
    "one address can be let through",
    "processes are limited",
    "memory is limited",
    "disk is limited, in one file and in many",
}
"""What no such sandbox has: each says why."""


@pytest.fixture(scope="module")
def hub(local: Local, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with jobs_hub(tmp_path_factory.mktemp("hub"), local) as server:
        yield server


def test_every_promise_is_kept_or_said_not_to_be(hub: LocalHubServer, tmp_path: Path) -> None:
    env = {**os.environ, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path), "RLX_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "rlx", "sandbox", "check", "hf", "--hub", hub.url, "--format", "json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {each["promise"]: each for each in json.loads(done.stdout)}
    assert {name for name, each in verdicts.items() if each["state"] == "not here"} == NOT_HERE
    assert all(each["state"] == "ok" or each["detail"] for each in verdicts.values())
    assert TOKEN not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (SandboxSpec(), "network closed"),
        (SandboxSpec(network="public", layers=("x",)), "layers"),
        (SandboxSpec(network="public", forward=Address("127.0.0.1", 1)), "one address"),
        (SandboxSpec(network="public", memory_mb=64), "hardware"),
        (SandboxSpec(network="public", disk_mb=64), "disk"),
        (SandboxSpec(network="public", workdir="app"), "absolute"),
    ],
)
def test_what_it_cannot_have_is_refused(spec: SandboxSpec, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        HF(Settings(hub="https://hub.example"), Account(TOKEN)).make(spec)


def test_nothing_is_made_on_nobodys_account() -> None:
    with pytest.raises(BadInput, match="token"):
        HF(Settings(hub="https://hub.example")).make(SandboxSpec(network="public"))


def test_a_hub_says_whether_it_runs_jobs(hub: LocalHubServer, tmp_path: Path) -> None:
    folder = HF(Settings(hub=str(tmp_path))).can_run()
    assert isinstance(folder, Impossible)
    assert "folder" in words(folder.why)
    with serve(tmp_path) as reads:
        only_reads = HF(Settings(hub=reads.url)).can_run()
    assert isinstance(only_reads, Impossible)
    assert "runs no jobs" in words(only_reads.why)
    assert isinstance(HF(Settings(hub=hub.url)).can_run(), Possible)


def test_a_token_is_never_shown() -> None:
    assert TOKEN not in repr(Account(TOKEN))
