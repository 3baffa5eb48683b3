"""Layers of agents: what was pinned, nothing else, and nothing of it where the agent's own commands look."""

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rlx.errors import BadInput, NotFound, Upstream
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.installed.layer import make, prepare, prepared
from rlx.sandboxes.local.installed.recipes import Part, Recipe, recipes
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.layers import LayerStore
from rlx.sandboxes.local.registries import Pinned, download
from tests.sandboxes.conftest import MakeSandbox

AGENTS = ("mini-swe-agent", "opencode", "pi")
PROGRAM = b'#!/bin/sh\necho "PATH=$PATH"\nenv | grep -E "^(PYTHON|NODE_|LD_)"\ntouch /opt/rlx-agents/toy/lib/bin/made\n'
MODULE = b"""
import os, shutil, sys
def main():
    print(shutil.which("toy"), [name for name in os.environ if name.startswith(("PYTHON", "LD_", "RLX_"))], sys.argv)
"""


def wheel(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(name, content)
    return out.getvalue()


def package(*members: tuple[str, bytes, int]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as made:
        for name, content, mode in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            made.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("package/bin/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    return out.getvalue()


def recipe(data: bytes, *, entry: str | None = None) -> Recipe:
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    pinned = Pinned("pypi" if entry else "npm", "toy", "toy-1.whl" if entry else "toy-1.tgz", digest)
    part = Part(pinned, "lib", (), ("*.map",))
    return Recipe("toy", "1", () if entry else ("lib/bin/show",), entry, 1, 1, 1, (part,), ())


def registry(data: bytes) -> Callable[[str, int], bytes]:
    """Of one file, under whatever address."""
    return lambda address, limit: b'<a href="toy-1.whl">toy</a>' if address.endswith("/toy/") else data


@pytest.fixture
def toy(local: Local) -> Callable[..., str]:
    def made(data: bytes, **more: Any) -> str:
        wanted = recipe(data, **more)
        make(local.layers, wanted, fetch=registry(data))
        return wanted.key

    return made


def test_every_file_is_pinned_for_both_processors_and_three_versions_of_python() -> None:
    assert tuple(recipes()) == AGENTS
    for name in AGENTS:
        table = tomllib.loads(files("rlx.sandboxes.local.installed").joinpath(f"{name}.toml").read_text("utf-8"))
        for entry in (*table.get("npm", ()), *table.get("pypi", ())):
            known = entry["files"]
            versions = [f"cp{version}-{machine}" for version in (312, 313, 314) for machine in ("x86_64", "aarch64")]
            assert set(known) in ({"any"}, {"x86_64", "aarch64"}, set(versions), {"x86_64", *versions[1::2]}), entry
            for file in known.values():
                sha = (
                    file["sha256"] if "sha256" in file else base64.b64decode(file["integrity"].partition("-")[2]).hex()
                )
                assert len(bytes.fromhex(sha)) in (32, 64)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_that_is_another_is_refused_and_no_layer_is_made(tmp_path: Path, agent: str) -> None:
    layers = LayerStore(tmp_path)
    names = {part.pinned.project: part.pinned.name for part in recipes()[agent].parts}

    def other(address: str, limit: int) -> bytes:
        project = address.rstrip("/").rpartition("/")[2]
        return f'<a href="{names[project]}">x</a>'.encode() if project in names else b"another"

    with pytest.raises(Upstream, match="not the file that was pinned"):
        prepare(layers, agent, fetch=other)
    assert list(tmp_path.iterdir()) == []
    assert prepared(layers, agent) is None


def test_nothing_is_made_for_agents_and_machines_that_nothing_is_pinned_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFound, match="nobody"):
        prepare(LayerStore(tmp_path), "nobody")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    recipes.cache_clear()
    try:
        with pytest.raises(BadInput, match="no pinned"):
            prepare(LayerStore(tmp_path), "opencode")
    finally:
        recipes.cache_clear()


def test_files_come_from_the_registry_that_npm_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(address: str, limit: int) -> bytes:
        asked.append(address)
        raise OSError("no route")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)
    monkeypatch.delenv("npm_config_registry", raising=False)
    (tmp_path / ".npmrc").write_text("fund=false\nregistry=https://me:secret@npm.example/all/\n")
    file = Pinned("npm", "@acme/tool", "tool-1.0.0.tgz", "sha512:00")
    with pytest.raises(Upstream) as raised:
        download(file, fetch=fetch)
    assert asked == ["https://me:secret@npm.example/all/@acme/tool/-/tool-1.0.0.tgz"]
    assert "secret" not in raised.value.message


@pytest.mark.anyio
async def test_what_the_agent_runs_finds_what_the_task_has_and_layers_stay_as_they_are(
    toy: Callable[..., str], local: Local, sandbox: MakeSandbox
) -> None:
    files_of = (("package/bin/show", PROGRAM, 0o755), ("package/a.map", b"", 0o644), ("package/../../x", b"", 0o644))
    key = toy(package(*files_of))
    async with sandbox(SandboxSpec(tools=(key,), env={"PATH": "/opt/rlx-agents/toy/bin:/usr/bin:/bin"})) as made:
        done = await made.exec("toy")
    assert done.stdout.decode() == "PATH=/usr/bin:/bin\n"
    home = local.layers.folder / key / "root/opt/rlx-agents/toy"
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir()) == [
        "bin/toy",
        "lib/bin/show",
    ]


@pytest.mark.anyio
async def test_an_agent_in_python_takes_the_sandboxes_own_interpreter_and_leaves_no_trace_of_it(
    toy: Callable[..., str], sandbox: MakeSandbox
) -> None:
    key = toy(wheel("toy_agent/__init__.py", MODULE), entry="toy_agent:main")
    path = "/opt/rlx-agents/toy/bin:/usr/bin:/bin"
    async with sandbox(SandboxSpec(tools=(key,), env={"PATH": path, "PYTHONPATH": "/task"})) as made:
        done = await made.exec("toy --flag")
        other = await made.exec("python3 -c 'import toy_agent'", env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.decode() == "None ['PYTHONPATH'] ['toy', '--flag']\n", done.stderr
    assert b"No module named" in other.stderr or other.code == 127
