"""Layers appear whole or not at all, whoever makes, uses, prunes or kills whom."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.layers import LayerStore
from tests.sandboxes.conftest import MakeSandbox

KEY = "a" * 64
KILLED = """
import os, signal, sys
from pathlib import Path
from rlx.sandboxes.local.layers import LayerStore
with LayerStore(Path(sys.argv[1])).making("a" * 64) as folder:
    (folder / "root").mkdir()
    (folder / "root/half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def fill(store: LayerStore, key: str, text: str, size: int = 0) -> None:
    with store.making(key) as folder:
        (folder / "root").mkdir()
        (folder / "root/file").write_text(text)
        (folder / "root/large").write_bytes(os.urandom(size))


@pytest.fixture
def store(tmp_path: Path) -> LayerStore:
    return LayerStore(tmp_path / "layers")


def test_a_layer_is_there_once_its_making_ends_well(store: LayerStore) -> None:
    assert store.hold(KEY) is None
    fill(store, KEY, "text")
    held = store.hold(KEY)
    assert held is not None
    assert (held.path / "root/file").read_text() == "text"
    held.release()


def test_a_making_that_fails_leaves_nothing(store: LayerStore) -> None:
    with pytest.raises(FileNotFoundError), store.making(KEY) as folder:
        (folder / "root/no/such/folder").mkdir()
    assert list(store.folder.iterdir()) == []


def test_a_killed_maker_leaves_no_half_layer_and_what_it_left_is_swept(store: LayerStore) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(store.folder)], check=False)
    assert done.returncode < 0
    assert store.hold(KEY) is None
    assert store.sweep() == 1
    assert list(store.folder.iterdir()) == []


def test_what_is_being_made_is_not_swept(store: LayerStore) -> None:
    with store.making(KEY) as folder:
        (folder / "root").mkdir()
        assert store.sweep() == 0
    assert store.hold(KEY) is not None


def test_of_many_makers_one_wins_and_all_end_well(store: LayerStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: fill(store, KEY, str(number)), range(8)))
    held = store.hold(KEY)
    assert held is not None
    assert (held.path / "root/file").read_text() in set("01234567")
    assert [path.name for path in store.folder.iterdir()] == [KEY]


def test_pruning_takes_the_longest_unused_and_spares_what_is_held(store: LayerStore) -> None:
    for number in range(4):
        fill(store, f"layer-{number}", "x", 100_000)
        os.utime(store.folder / f"layer-{number}" / "lock", (number, number))
    held = store.hold("layer-0")
    os.utime(store.folder / "layer-0" / "lock", (0, 0))
    assert store.prune(250_000) == ["layer-1", "layer-2"]
    assert held is not None
    assert (held.path / "root/file").exists()
    assert [kept.key for kept in store.kept()] == ["layer-0", "layer-3"]
    held.release()
    assert store.prune(0) == ["layer-0", "layer-3"]


def _hold_and_look(folder: str) -> bool:
    """Whether a layer that is held always has its file, while others prune and make it."""
    store = LayerStore(Path(folder))
    for _ in range(50):
        held = store.hold(KEY)
        if held is None:
            fill(store, KEY, "text")
            continue
        if not (held.path / "root/file").exists():
            return False
        held.release()
        store.prune(0)
    return True


def test_workers_that_prune_and_make_the_same_layer_never_see_it_half_gone(store: LayerStore) -> None:
    store.folder.mkdir()
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_hold_and_look, [str(store.folder)] * 3) == [True] * 3


@pytest.mark.parametrize("key", ["", "../up", "a/b", "UPPER", "tmp.abc", "x" * 200, "."])
def test_what_is_no_key_is_refused(key: str, store: LayerStore) -> None:
    with pytest.raises(ValueError, match="no key"):
        store.hold(key)


@pytest.mark.anyio
async def test_what_one_sandbox_wrote_is_the_base_of_the_next(sandbox: MakeSandbox, local: Local) -> None:
    async with sandbox(SandboxSpec(workdir="/app")) as first:
        await first.exec("echo one > file; echo tool > /usr/bin/tool; rm /etc/os-release; chown 12:34 file")
        await first.commit("first-layer")
        assert first.remains() == []
    async with sandbox(SandboxSpec(layers=["first-layer"])) as second:
        assert (await second.exec("cat /app/file /usr/bin/tool; ls /etc/os-release")).stdout == b"one\ntool\n"
        await second.exec("rm -r /app; mkdir /app; echo two > /app/new")
        await second.commit("second-layer")
    async with sandbox(SandboxSpec(layers=["first-layer", "second-layer"])) as third:
        assert (await third.exec("ls /app; cat /usr/bin/tool")).stdout == b"new\ntool\n"
    async with sandbox() as plain:
        assert not await plain.is_dir("/app")


@pytest.mark.anyio
async def test_a_hundred_layers_fit(sandbox: MakeSandbox, local: Local) -> None:
    keys = [f"of-many-{number}" for number in range(100)]
    for number, key in enumerate(keys):
        with local.layers.making(key) as folder:
            (folder / "root").mkdir()
            (folder / "root" / f"from-{number}").touch()
    async with sandbox(SandboxSpec(layers=keys)) as here:
        assert (await here.exec("ls -d /from-* | wc -l")).stdout == b"100\n"
