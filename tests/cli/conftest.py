"""Runs the command line as a shell would, with a store and a cache of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlx.cli.app import run


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> list[dict[str, object]]:
        """The output as a list of objects; a single object becomes a list of one."""
        value = json.loads(self.out)
        return value if isinstance(value, list) else [value]

    @property
    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]


type Rlx = Callable[..., Result]


@pytest.fixture
def rlx(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Rlx:
    monkeypatch.setenv("RLX_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("RLX_HUB", "HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all who ask whether sandboxes run here: their base in it is built once, in seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def rlx_here(rlx: Rlx, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Rlx:
    """The same over the shared cache."""
    monkeypatch.setenv("RLX_CACHE_DIR", str(shared_cache))
    return rlx
