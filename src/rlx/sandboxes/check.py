"""What every kind of sandbox promises, each promise a trial of a real one: `rlx sandbox check`, and a test."""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rlx.errors import BadInput, LimitError, RlxError, SandboxError
from rlx.sandboxes.base import KEPT, Address, ExecResult, Impossible, Sandbox, SandboxKind, SandboxSpec
from rlx.store.passing import passing
from rlx.texts import words

type State = Literal["ok", "failed", "not here"]

AT_ONCE = 8
PATIENT = 60.0
"""Seconds that nothing here takes unless it hangs."""


PLAIN = SandboxSpec()


class Broken(Exception):
    """A promise that is not kept, and what was found instead."""


class NotHere(Exception):
    """What the trial needs is not on this machine."""


@dataclass(frozen=True, slots=True)
class Verdict:
    promise: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    name: str
    """A sentence."""
    run: Callable[["Trial"], Awaitable[None]]


class Trial:
    """Makes started sandboxes of one kind, and looks that nothing of them is left."""

    def __init__(self, kind: SandboxKind, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.any_network = True
        """What is tried has nothing to do with the network."""

    def make(self, spec: SandboxSpec) -> Sandbox:
        """With the network open where the kind knows no other way. Raises `NotHere` for what it cannot keep."""
        try:
            return self.kind.make(spec)
        except BadInput as refused:
            if spec.network != "none" or not self.any_network:
                raise NotHere(refused.message) from refused
        try:
            return self.kind.make(replace(spec, network="public"))
        except BadInput as refused:
            raise NotHere(refused.message) from refused

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec = PLAIN) -> AsyncIterator[Sandbox]:
        made = self.make(spec)
        try:
            await made.start()
            yield made
        finally:
            await made.stop()
        expect(not made.remains(), f"after its end there is still {', '.join(made.remains())}")


def expect(kept: bool, found: str) -> None:
    """Raises `Broken`."""
    if not kept:
        raise Broken(found)


async def check(kind: SandboxKind, promises: "tuple[Promise, ...] | None" = None) -> AsyncIterator[Verdict]:
    """Try `promises`, or all, one after the other."""
    able = await asyncio.to_thread(kind.can_run)
    for promise in promises or PROMISES:
        if isinstance(able, Impossible):
            yield Verdict(promise.name, "not here", words(able.why))
        else:
            yield await verdict(kind, promise)


async def verdict(kind: SandboxKind, promise: Promise) -> Verdict:
    """Whether a kind that can run here keeps one promise."""
    with passing("check-") as folder:
        try:
            await promise.run(Trial(kind, folder))
        except NotHere as absent:
            return Verdict(promise.name, "not here", str(absent))
        except Broken as broken:
            return Verdict(promise.name, "failed", str(broken))
        except RlxError as error:
            return Verdict(promise.name, "failed", error.message)
    return Verdict(promise.name, "ok")


def _says(result: ExecResult, wanted: str) -> None:
    found = result.stdout.decode("utf-8", "replace")
    told = result.stderr.decode("utf-8", "replace")[:300]
    expect(found.strip() == wanted, f"{found[:300]!r} instead of {wanted!r}, exit {result.code}, {told!r}")


async def _runs_commands(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        both = await sandbox.exec("echo out; echo err >&2; exit 3")
        expect((both.code, both.stdout, both.stderr) == (3, b"out\n", b"err\n"), f"found {both}")
        _says(await sandbox.exec(["printf", "%s|", "a b", "$HOME", "'"]), "a b|$HOME|'|")
        killed = await sandbox.exec("kill -TERM $$")
        expect(killed.code == 128 + 15, f"exit {killed.code} after SIGTERM")
        absent = await sandbox.exec(["/no/such/program"])
        expect(absent.code == 127, f"exit {absent.code} of a program that is not there")
        _says(await sandbox.exec("cat; echo done"), "done")


async def _keeps_bytes(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        binary = await sandbox.exec("printf '\\377\\000\\n'")
        if binary.stdout == "\ufffd\0\n".encode():
            raise NotHere("output comes as text, with signs in the place of what is none")
        expect(binary.stdout == b"\xff\x00\n", f"found {binary.stdout!r}")


async def _keeps_environment(trial: Trial) -> None:
    spec = SandboxSpec(env={"FROM_SPEC": "a", "BOTH": "spec"}, workdir="/made/for it")
    async with trial.sandbox(spec) as sandbox:
        shown = await sandbox.exec('echo "$FROM_SPEC $BOTH $MORE"; pwd', env={"BOTH": "call", "MORE": "x\ny"})
        _says(shown, "a call x\ny\n/made/for it")
        _says(await sandbox.exec("pwd", cwd="/usr"), "/usr")
        _says(await sandbox.exec("env | grep -c ^RLX_ || true"), "0")
        _says(await sandbox.exec("command -v sh >/dev/null && echo found"), "found")


async def _runs_as_users(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        _says(await sandbox.exec("id -u"), "0")
        other = await sandbox.exec("id -u", user="nobody")
        if other.stdout.strip() == b"0":
            raise NotHere("there is one user only")
        _says(other, "65534")
        _says(await sandbox.exec("id -u; id -g", user="1234:1235"), "1234\n1235")
        made = await sandbox.exec("echo mine > /tmp/mine && chown nobody /tmp/mine && stat -c %U /tmp/mine")
        _says(made, "nobody")
        refused = await sandbox.exec("touch /etc/not-mine", user="nobody")
        expect(refused.code != 0, "another user may write to /etc")
        unknown = await sandbox.exec("true", user="no-such-user")
        expect(unknown.code != 0, "a user that does not exist runs commands")


async def _ends_what_takes_too_long(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        late = await sandbox.exec("echo begun; (setsid sleep 1000 &) ; sleep 1001", timeout=0.5)
        expect(late.timed_out and late.stdout == b"begun\n", f"found {late}")
        _says(await sandbox.exec("ps -eo args | grep -c '^sleep 100[01]' || true"), "0")
        _says(await sandbox.exec("echo still usable", timeout=PATIENT), "still usable")


async def _keeps_background_processes(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        begun = await sandbox.exec(
            "(sleep 0.2; echo late; echo alive > /tmp/alive; sleep 1000) & echo first", timeout=PATIENT
        )
        expect(begun.code == 0 and begun.stdout.startswith(b"first"), f"found {begun}")
        waited = await sandbox.exec("until [ -s /tmp/alive ]; do sleep 0.05; done; cat /tmp/alive", timeout=PATIENT)
        _says(waited, "alive")
        await sandbox.kill_all()
        _says(await sandbox.exec("ps -eo args | grep -c '^sleep 1000' || true"), "0")


async def _carries_files(trial: Trial) -> None:
    source, back = trial.folder / "source", trial.folder / "back"
    _odd_tree(source)
    async with trial.sandbox() as sandbox:
        await sandbox.upload(source, "/data/in")
        expect(await sandbox.is_dir("/data/in/empty"), "an empty folder is not there")
        expect(not await sandbox.is_file("/data/in/empty"), "a folder is a file")
        expect(await sandbox.is_file("/data/in/script"), "a file is not there")
        _says(await sandbox.exec("/data/in/script"), "ran")
        await sandbox.download("/data/in", back)
        found, wanted = _listing(back), _listing(source)
        different = sorted(found.items() ^ wanted.items())[:3]
        expect(not different, f"another tree came back: {different}")
        await sandbox.upload(source / "script", "/elsewhere/one")
        await sandbox.download("/elsewhere/one", trial.folder / "one")
        expect((trial.folder / "one").read_bytes() == (source / "script").read_bytes(), "another file came back")
        try:
            await sandbox.download("/no/such/file", trial.folder / "none")
        except SandboxError:
            return
        raise Broken("a file that is not there came back")


def _odd_tree(folder: Path) -> None:
    (folder / "empty").mkdir(parents=True)
    (folder / "deep/er/still").mkdir(parents=True)
    for name in ("with space", "new\nline", "-rf", "quote'\"", "한글", ".hidden", "x" * 200, os.fsdecode(b"bad\xff")):
        (folder / name).write_bytes(name.encode("utf-8", "surrogateescape") + bytes(range(256)))
    (folder / "deep/er/still/large").write_bytes(os.urandom(3 * 1024 * 1024 + 1))
    (folder / "nothing").touch()
    (folder / "script").write_text("#!/bin/sh\necho ran\n")
    (folder / "script").chmod(0o755)
    (folder / "private").write_text("mine")
    (folder / "private").chmod(0o600)
    (folder / "link").symlink_to("deep/er")
    (folder / "dangling").symlink_to("deep/nowhere")


def _listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for here, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(here, name)
            mode = path.lstat().st_mode
            if path.is_symlink():
                content = os.fsencode(os.readlink(path))
            else:
                content = path.read_bytes() if stat.S_ISREG(mode) else b""
            found[os.fspath(path.relative_to(folder))] = (0 if path.is_symlink() else mode, content)
    return found


async def _has_no_network(trial: Trial) -> None:
    trial.any_network = False
    async with _answering() as port, trial.sandbox() as sandbox:
        reached = await sandbox.exec(f"exec 3<>/dev/tcp/127.0.0.1/{port}", timeout=PATIENT)
        expect(reached.code != 0, "a service on this host's loopback is reached")
        _says(
            await sandbox.exec(
                "ls /sys/class/net 2>/dev/null | grep -vx lo; tail -n +3 /proc/net/dev | grep -vc ' lo:' || true"
            ),
            "0",
        )


async def _reaches_one_address(trial: Trial) -> None:
    async with _answering() as port:
        spec = SandboxSpec(forward=Address("127.0.0.1", port), forward_port=8484)
        async with trial.sandbox(spec) as sandbox:
            reached = await sandbox.exec("exec 3<>/dev/tcp/127.0.0.1/8484; cat <&3", timeout=PATIENT)
            _says(reached, "hello")
            elsewhere = await sandbox.exec(f"exec 3<>/dev/tcp/127.0.0.1/{port}", timeout=PATIENT)
            expect(elsewhere.code != 0, "more than the one address is reached")


@asynccontextmanager
async def _answering() -> AsyncIterator[int]:
    """A server on this host's loopback that says hello."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, family=socket.AF_INET)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _limits_processes(trial: Trial) -> None:
    async with trial.sandbox(SandboxSpec(pids=64)) as sandbox:
        with contextlib.suppress(LimitError):
            # It never ends, and grows steadily: one that doubles starves a machine before anything that looks can act.
            bomb = "for i in 1 2 3 4; do (while :; do sleep 1000 & done) & done; sleep 1000"
            ended = await sandbox.exec(bomb, timeout=3)
            expect(ended.timed_out or ended.code != 0, "a fork bomb ends well")
        await sandbox.kill_all()
        _says(await sandbox.exec("echo still usable", timeout=PATIENT), "still usable")


async def _limits_memory(trial: Trial) -> None:
    async with trial.sandbox(SandboxSpec(memory_mb=128)) as sandbox:
        ended = await sandbox.exec("head -c 3000000000 /dev/zero | tail | wc -c", timeout=PATIENT)
        expect(not ended.timed_out and ended.stdout.strip() != b"3000000000", f"3 GB were held in 128 MB: {ended}")
        _says(await sandbox.exec("echo still usable", timeout=PATIENT), "still usable")


async def _limits_disk(trial: Trial) -> None:
    async with trial.sandbox(SandboxSpec(disk_mb=64)) as sandbox:
        one = await sandbox.exec("head -c 100000000 /dev/zero > /tmp/one", timeout=PATIENT)
        expect(one.code != 0, "a file larger than the limit was written")
    async with trial.sandbox(SandboxSpec(disk_mb=64)) as sandbox:
        fill = "i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > /tmp/part$i || exit 1; sleep 0.02; done"
        with contextlib.suppress(LimitError):
            many = await sandbox.exec(fill, timeout=PATIENT)
            expect(not many.timed_out and many.code != 0, "files without end were written")


async def _is_ready_when_started(trial: Trial) -> None:
    async def one(number: int) -> None:
        async with trial.sandbox(SandboxSpec(workdir="/logs/verifier")) as sandbox:
            _says(
                await sandbox.exec(f"echo {number} > here && cat /logs/verifier/here && test -d /usr/bin && pwd"),
                f"{number}\n/logs/verifier",
            )
            expect(await sandbox.is_file("/logs/verifier/here"), "what was just written is not there")

    ended = await asyncio.gather(*map(one, range(AT_ONCE)), return_exceptions=True)
    for error in ended:
        if error is not None:
            raise error


async def _keeps_both_ends_of_output(trial: Trial) -> None:
    async with trial.sandbox() as sandbox:
        told: list[bytes] = []
        size = 5 * KEPT
        many = await sandbox.exec(
            f"echo begin; head -c {size} /dev/zero | tr '\\0' x; echo end",
            timeout=PATIENT,
            on_output=lambda stream, data: told.append(data),
        )
        expect(many.stdout.startswith(b"begin\n") and many.stdout.endswith(b"xend\n"), "an end is lost")
        expect(len(many.stdout) == 2 * KEPT, f"{len(many.stdout):,} bytes are kept")
        expect(many.truncated == size + len("begin\nend\n") - 2 * KEPT, f"{many.truncated:,} bytes are told left out")
        expect(sum(map(len, told)) == size + len("begin\nend\n"), "not everything was told as it came")


async def _leaves_nothing_when_cancelled(trial: Trial) -> None:
    for wait in (0.0, 0.02, 0.1, 0.3):
        made = trial.make(SandboxSpec())
        starting = asyncio.create_task(made.start())
        await asyncio.wait([starting], timeout=wait)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await made.stop()
        expect(not made.remains(), f"cancelled while starting it leaves {', '.join(made.remains())}")
    async with trial.sandbox() as sandbox:
        running = asyncio.create_task(sandbox.exec("(setsid sleep 1002 &); touch /tmp/begun; sleep 1002"))
        await sandbox.exec("until [ -e /tmp/begun ]; do sleep 0.02; done", timeout=PATIENT)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        _says(await sandbox.exec("ps -eo args | grep -c '^sleep 1002' || true"), "0")
        (trial.folder / "large").write_bytes(bytes(64 * 1024 * 1024))
        sending = asyncio.create_task(sandbox.upload(trial.folder / "large", "/tmp/large"))  # noqa: S108  # inside
        await asyncio.wait([sending], timeout=0.01)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        _says(await sandbox.exec("echo still usable", timeout=PATIENT), "still usable")


async def _is_apart_from_others(trial: Trial) -> None:
    async with trial.sandbox() as one, trial.sandbox(replace(SandboxSpec(), workdir="/x")) as other:
        await one.exec("echo mine > /mine; sleep 1003 >/dev/null 2>&1 &")
        expect(not await other.is_file("/mine"), "what one writes the other sees")
        _says(await other.exec("ps -eo args | grep -c '^sleep 1003' || true"), "0")


PROMISES = (
    Promise("commands run, with their output, errors and exit codes", _runs_commands),
    Promise("output is what a command wrote, byte by byte", _keeps_bytes),
    Promise("environment and working folder are as told", _keeps_environment),
    Promise("commands run as the user they are told", _runs_as_users),
    Promise("a timeout ends everything a command started", _ends_what_takes_too_long),
    Promise("background processes outlive a command until all are ended", _keeps_background_processes),
    Promise("files come and go unchanged, whatever their names", _carries_files),
    Promise("without a network there is none", _has_no_network),
    Promise("one address can be let through", _reaches_one_address),
    Promise("processes are limited", _limits_processes),
    Promise("memory is limited", _limits_memory),
    Promise("disk is limited, in one file and in many", _limits_disk),
    Promise("eight at once are ready when they are started", _is_ready_when_started),
    Promise("output is kept at both ends and counted between", _keeps_both_ends_of_output),
    Promise("what is cancelled leaves nothing", _leaves_nothing_when_cancelled),
    Promise("two sandboxes do not see each other", _is_apart_from_others),
)
