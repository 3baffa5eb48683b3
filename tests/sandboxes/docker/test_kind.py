"""What stands in the way of Docker is told, by a program that answers as the real one does."""

import json
from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.sandboxes.base import Impossible, Possible, SandboxSpec
from rlx.sandboxes.docker.kind import Docker
from rlx.settings import Settings
from rlx.texts import words

AWAY = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
DENIED = "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock"
INFO = {"ServerVersion": "28.3.2", "OSType": "linux", "DockerRootDir": "/no/such/folder"}


def docker(folder: Path, *, info: str, code: int = 0, error: str = "", compose: str = "2.38.1") -> Docker:
    """A machine whose `docker` says this."""
    (folder / "info").write_text(info)
    (folder / "error").write_text(error)
    program = folder / "docker"
    has = f"echo {compose}" if compose else "echo unknown command >&2; exit 1"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = compose ]; then {has}; exit; fi\n'
        f'cat "{folder}/info"; cat "{folder}/error" >&2; exit {code}\n'
    )
    program.chmod(0o755)
    return Docker(Settings(), path=str(folder))


def why(found: Possible | Impossible) -> str:
    assert isinstance(found, Impossible)
    assert found.hint is not None, "whoever is refused is told what to do"
    return words(found.why)


def test_an_engine_that_answers_is_named(tmp_path: Path) -> None:
    found = docker(tmp_path, info=json.dumps(INFO)).can_run()
    assert isinstance(found, Possible)
    assert "28.3.2" in words(found.notes[0])


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"info": "", "code": 1, "error": AWAY}, "does not answer"),
        ({"info": json.dumps({"ServerErrors": [AWAY]})}, "does not answer"),
        ({"info": "", "code": 1, "error": DENIED}, "may not speak"),
        ({"info": "", "code": 1, "error": "something else"}, "something else"),
        ({"info": json.dumps({**INFO, "OSType": "windows"})}, "Windows"),
        ({"info": json.dumps(INFO), "compose": ""}, "Compose"),
        ({"info": json.dumps(INFO), "compose": "1.29.2"}, "Compose"),
    ],
)
def test_what_stands_in_the_way_is_told_apart(tmp_path: Path, told: dict[str, str], expected: str) -> None:
    assert expected in why(docker(tmp_path, **told).can_run())  # type: ignore[arg-type]  # texts and a number


def test_a_machine_without_docker_is_told_what_to_install(tmp_path: Path) -> None:
    assert "no program docker" in why(Docker(Settings(), path=str(tmp_path)).can_run())


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """The engine's folder is one whose disk is as full as it is; the note is there or not with it."""
    found = docker(tmp_path, info=json.dumps({**INFO, "DockerRootDir": "/dev/shm"})).can_run()
    assert isinstance(found, Possible)
    assert all("GiB left" in words(note) for note in found.notes[1:])


def test_harbor_alone_makes_such_a_sandbox() -> None:
    with pytest.raises(BadInput, match="made by Harbor"):
        Docker(Settings()).make(SandboxSpec())
