"""Dockerfiles, replayed as layers in local sandboxes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.errors import TaskError
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.dockerfile import Plan, Refusal, plan
from rlx.sandboxes.dockerfile.host import read_context, this_host
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.replay import Replay, Replayed
from rlx.sandboxes.replay import replayable
from rlx.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


@pytest.fixture
def kind(tmp_path: Path, require_tool: Callable[[str], str]) -> Local:
    require_tool("bwrap")
    return Local(Settings(store=tmp_path / "store", cache_dir=tmp_path / "cache"))


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    for name, text in {"a.txt": "a", "sub/b.txt": "b", "sub/.dot": "d", "run.sh": "#!/bin/sh\necho ran\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "run.sh").chmod(0o755)
    (folder / "sub" / "link").symlink_to("b.txt")
    return folder


def planned(text: str, context: Path) -> Plan:
    made = plan(text, read_context(context), host=this_host())
    assert not isinstance(made, Refusal), made
    return made


async def replayed(kind: Local, text: str, context: Path) -> Replayed:
    return await Replay(kind, planned(text, context), context, network="none").layers(kind.base())


async def inside(kind: Local, text: str, context: Path, command: str) -> str:
    """What a command prints in the image that a Dockerfile makes."""
    done = await replayed(kind, text, context)
    image = done.image
    sandbox = kind.make(SandboxSpec(layers=done.layers, env=image.env, workdir=image.workdir, user=image.user))
    try:
        await sandbox.start()
        found = await sandbox.exec(command)
        return (found.stdout + found.stderr).decode()
    finally:
        await sandbox.stop()


BASE = "FROM debian:12\n"
LOOK = "find . -printf '%y %m %u %P %l\\n' | sort -k4"


async def test_files_of_the_context_are_where_and_what_docker_makes_them(kind: Local, context: Path) -> None:
    text = f"{BASE}WORKDIR /app\nCOPY --chown=daemon . here/\nCOPY --chmod=600 a.txt b/c.txt\nCOPY run.sh /bin/ours\n"
    told = await inside(kind, text, context, f"{LOOK}; ours")

    lines = told.splitlines()
    assert "f 644 daemon here/a.txt " in lines
    assert "l 777 daemon here/sub/link b.txt" in lines
    assert "f 644 daemon here/sub/.dot " in lines
    assert "f 600 root b/c.txt " in lines
    assert lines[-1] == "ran"


async def test_commands_see_variables_users_folders_and_what_was_written(kind: Local, context: Path) -> None:
    text = (
        f"{BASE}ARG WHO=me\nENV NAME=$WHO\nWORKDIR /w\nRUN echo $NAME > n && mkdir d && chown daemon d\n"
        "COPY <<EOF d/e\nhello $NAME\nEOF\nUSER daemon\nRUN id -un > /w/d/u\nENV LATER=yes\n"
    )
    told = await inside(kind, text, context, "cat n d/e d/u; echo $LATER; id -un; pwd")

    assert told.split() == ["me", "hello", "me", "daemon", "yes", "daemon", "/w"]


async def test_stages_give_their_files_with_links_and_modes(kind: Local, context: Path) -> None:
    text = (
        "FROM debian:12 AS build\nRUN mkdir -p /out/bin && echo x > /out/f && ln -s /usr/bin/env /out/bin/env"
        " && chmod 750 /out/f && echo 1 > /one && echo 2 > /two\n"
        f"{BASE}WORKDIR /app\nCOPY --from=build /out got\nCOPY --from=build /one /t* many/\n"
    )
    told = await inside(kind, text, context, LOOK)

    lines = told.splitlines()
    assert "f 750 root got/f " in lines
    assert "l 777 root got/bin/env /usr/bin/env" in lines
    assert "f 644 root many/one " in lines
    assert "f 644 root many/two " in lines


async def test_what_is_mounted_is_there_for_the_command_alone(kind: Local, context: Path) -> None:
    text = (
        f"{BASE}WORKDIR /app\nRUN --mount=type=bind,source=sub,target=/m --mount=type=cache,target=/c"
        " cp /m/b.txt . && touch /c/x\n"
    )
    told = await inside(kind, text, context, "cat b.txt; ls -d /m /c")

    assert told.startswith("b")
    assert told.count("No such file") == 2


async def test_the_second_time_everything_is_there(kind: Local, context: Path) -> None:
    text = f"{BASE}RUN echo 1 > /one\nCOPY a.txt /a\nRUN echo 2 > /two\nCOPY sub /sub\n"

    first = await replayed(kind, text, context)
    again = await replayed(kind, text, context)
    (context / "a.txt").write_text("other")
    changed = await replayed(kind, text, context)

    assert (first.made, again.made, changed.made) == (3, 0, 2)
    assert again.layers == first.layers
    assert changed.layers[0] == first.layers[0]


async def test_a_command_that_fails_is_told_and_leaves_no_layer(kind: Local, context: Path) -> None:
    with pytest.raises(TaskError, match=r"Line 3 .*exit code 7.*so it is"):
        await replayed(kind, f"{BASE}RUN true\nRUN echo so it is >&2; exit 7\n", context)

    assert [kept.key.startswith("image-") for kept in kind.layers.kept()].count(True) == 1
    assert not list((kind.folder / "boxes").glob("*"))


def test_what_is_not_replayed_is_known_before(context: Path) -> None:
    picking = "FROM debian:12 AS a\nRUN true\nFROM debian:12\nCOPY --from=a --exclude=x /etc /e\n"
    found = replayable(planned(picking, context))
    assert found is not None
    assert found[1] == 4
    assert replayable(planned(f"{BASE}COPY . /x\n", context)) is None
