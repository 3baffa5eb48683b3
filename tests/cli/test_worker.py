"""`rlx worker`, and the one that `rlx serve` keeps."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.cli.serve_worker import command, variables
from rlx.jobs.worker_process import SWITCHES, scrub_environment
from rlx.runners.workers import WorkerCard, announce, began_at, cards, is_alive, living, workers_folder
from rlx.settings import Settings
from tests.jobs.machine import until


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(hub="https://hub.example", store=tmp_path / "store", cache_dir=tmp_path / "cache")


def test_a_worker_is_told_nothing_that_is_secret(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "RLX_SESSION_SECRET", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "canary")

    told = variables(settings)

    assert "canary" not in told.values()
    assert told["RLX_CACHE_DIR"] == str(settings.cache_dir)
    assert "canary" not in " ".join(command(settings, 2))


def test_a_workers_environment_keeps_what_programs_need_and_switches_telemetry_off() -> None:
    environment = {"PATH": "/bin", "HF_TOKEN": "x", "RLX_DATABASE_URL": "x", "no_proxy": "intranet", "ANYTHING": "x"}

    scrub_environment(environment)

    assert set(environment) == {"PATH", "no_proxy", "NO_PROXY", *SWITCHES}
    assert environment["no_proxy"] == "intranet,127.0.0.1,localhost"


def test_a_card_is_for_its_user_alone_and_dead_ones_are_known(settings: Settings) -> None:
    folder = workers_folder(settings)
    mine = WorkerCard("w-1", os.getpid(), began_at(os.getpid()), 1, "key", ("harbor",), ("nop",), {"local": 2})
    gone = WorkerCard("w-2", os.getpid(), 7, 1, "key", ("harbor",), ("nop",), {"local": 2})

    for card in (mine, gone):
        assert announce(folder, card).stat().st_mode & 0o777 == 0o600
    (folder / "w-3.json").write_text("{")

    assert cards(folder) == [mine, gone]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert "key" not in repr(mine)
    assert not is_alive(gone)
    assert living(folder) == [mine]


@pytest.fixture
def served(settings: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    told = ["serve", "--demo", "--store", str(settings.store), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rlx", *told], env={**os.environ, "RLX_CACHE_DIR": str(settings.cache_dir)}
    )
    yield process
    process.kill()
    process.wait()


@pytest.mark.run_extra
@pytest.mark.timeout(300)
def test_a_server_keeps_a_worker_that_is_started_again_and_ends_with_it(
    served: "subprocess.Popen[bytes]", settings: Settings
) -> None:
    folder = workers_folder(settings)
    until(lambda: bool(living(folder)))
    (first,) = living(folder)

    os.kill(first.pid, signal.SIGKILL)
    until(lambda: any(card.id != first.id for card in living(folder)))
    (second,) = living(folder)

    served.kill()
    served.wait()
    until(lambda: not is_alive(second))
