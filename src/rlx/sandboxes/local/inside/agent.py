"""The first program of a sandbox: starts others when it is told to, and hands over files and connections.

It has the rights that everything in the sandbox has, and nobody enters the sandbox from outside. What runs beside it
can neither read nor trace it, nor end it: it is the first process of its namespace. A message is one packet of JSON;
that of a request comes as a file, with the descriptors it needs after it. When the other end goes, all here goes.
"""

from __future__ import annotations  # Python 3.9 reads this too

import ctypes
import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rlx.sandboxes.local.inside import trees
else:
    import trees  # beside this file, wherever that is

SET_DUMPABLE, SET_NAME, DROP_FROM_BOUND, SET_CHILD_SUBREAPER, AMBIENT, CLEAR_AMBIENT = 4, 15, 24, 36, 47, 4
CAPABILITIES = 64
CANNOT_RUN, NOT_FOUND = 126, 127
ROUNDS = 200
LARGEST_PASSWD = 4 * 1024 * 1024

_libc = ctypes.CDLL(None, use_errno=True)


class AgentError(Exception):
    """A request that cannot be met."""


class Agent:
    """One connection to whoever made the sandbox."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._shepherds: dict[int, int] = {}
        self._selector.register(control, selectors.EVENT_READ, self._request)

    def run(self) -> NoReturn:
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._selector.register(woken, selectors.EVENT_READ, lambda: self._reap(woken))
        self._tell(ready=True)
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _tell(self, *descriptors: int, **message: Any) -> None:
        data = json.dumps(message).encode("ascii")
        try:
            socket.send_fds(self._control, [data], list(descriptors))
        except OSError:
            os._exit(0)

    def _request(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 64, 8)
        except OSError:
            data = b""
        if not data:
            os._exit(0)
        with os.fdopen(descriptors[0], "rb") as file:
            file.seek(0)
            message = json.load(file)
        rest = descriptors[1:]
        try:
            getattr(self, "do_" + message["do"])(message, rest)
        except (AgentError, OSError) as error:
            text = error.strerror if isinstance(error, OSError) else str(error)
            self._tell(id=message["id"], error=text or "failed")
        finally:
            for descriptor in rest:
                os.close(descriptor)

    def do_exec(self, message: dict[str, Any], descriptors: list[int]) -> None:
        user = find_user(message["user"], message.get("pretend", False))
        env = dict(message["env"])
        env.setdefault("HOME", user.home)

        def become() -> None:
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
            become_program(user, message, env)

        self._shepherd(message["id"], become)

    def do_terminal(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """A command on a terminal of its own, of this sandbox; whoever asked is handed the other side of it."""
        user = find_user(message["user"], message.get("pretend", False))
        env = dict(message["env"])
        env.setdefault("HOME", user.home)
        ours, theirs = os.openpty()
        try:
            if not message.get("pretend", False):
                os.fchown(theirs, user.uid, -1)

            def become() -> None:
                fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)  # it leads the session that was made for it
                for number in range(3):
                    os.dup2(theirs, number)
                become_program(user, message, env)

            self._tell(ours, terminal=message["id"])
            self._shepherd(message["id"], become)
        finally:
            os.close(ours)
            os.close(theirs)

    def do_receive(self, message: dict[str, Any], descriptors: list[int]) -> None:
        def work() -> None:
            with os.fdopen(os.dup(descriptors[0]), "rb", trees.CHUNK) as stream:
                trees.receive(stream, message["path"])

        self._shepherd(message["id"], work)

    def do_send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        def work() -> None:
            with os.fdopen(os.dup(descriptors[0]), "wb", trees.CHUNK) as stream:
                trees.send(message["path"], stream)

        self._shepherd(message["id"], work)

    def do_look(self, message: dict[str, Any], descriptors: list[int]) -> None:
        path = message["path"]
        kind = "folder" if os.path.isdir(path) else "file" if os.path.isfile(path) else ""
        self._tell(id=message["id"], kind=kind)

    def do_kill(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Everything that a request started and that is still its descendant."""
        shepherd = next((pid for pid, number in self._shepherds.items() if number == message["target"]), None)
        for _ in range(ROUNDS):
            found = descendants(shepherd) if shepherd else []
            if not found:
                break
            for pid in found:
                kill(pid)
        else:
            os.kill(-1, signal.SIGKILL)  # it multiplies faster than it can be counted
        self._tell(id=message["id"])

    def do_sweep(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Everything, or everything of one user. Whoever is killed with it has its request answered as killed."""
        if message["user"] is None:
            # At once, so that nothing can be started in between. It spares this process alone.
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            uid = find_user(message["user"], False).uid
            for _ in range(ROUNDS):
                found = [pid for pid in running() if pid not in self._shepherds and owner(pid) == uid]
                if not found:
                    break
                for pid in found:
                    kill(pid)
        self._tell(id=message["id"])

    def do_listen(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Connections to ports on loopback are handed over with the port's name."""
        for name, port in message["ports"].items():
            server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("127.0.0.1", port))
            server.listen(64)
            server.setblocking(False)
            self._selector.register(server, selectors.EVENT_READ, self._accepting(server, name))
        self._tell(id=message["id"])

    def _accepting(self, server: socket.socket, name: str) -> Callable[[], None]:
        def accept() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    self._tell(connection.fileno(), connected=name)

        return accept

    def _shepherd(self, number: int, work: Callable[[], None]) -> None:
        """Run `work` in a process whose descendants stay known: orphans among them go to their shepherd."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            self._control.close()
            os.close(reading)
            tend(work, writing)
        os.close(writing)
        self._shepherds[pid] = number
        self._selector.register(reading, selectors.EVENT_READ, lambda: self._report(reading, number))

    def _report(self, reading: int, number: int) -> None:
        data = os.read(reading, 4096)
        self._selector.unregister(reading)
        os.close(reading)
        code, _, error = data.decode("utf-8", "replace").partition(" ")
        # A shepherd that says nothing was killed.
        self._tell(id=number, code=int(code) if code else 128 + signal.SIGKILL, error=error)

    def _reap(self, woken: int) -> None:
        with suppress(BlockingIOError):
            os.read(woken, 4096)
        with suppress(ChildProcessError):
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._shepherds.pop(pid, None)


def become_program(user: User, message: dict[str, Any], env: dict[str, str]) -> NoReturn:
    """Run a request's command as `user`, in place of this process."""
    if not message.get("pretend", False):
        os.setgroups(user.groups)
        os.setresgid(user.gid, user.gid, user.gid)
        os.setresuid(user.uid, user.uid, user.uid)
    os.chdir(message["cwd"])
    os.umask(0o022)
    os.execvpe(message["argv"][0], message["argv"], env)  # noqa: S606  # a shell is run where the request names one


def tend(work: Callable[[], None], report: int) -> NoReturn:
    """Start `work`, report its end, and wait for what it left running."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    _libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    failed, failing = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        code = 0
        try:
            os.close(report)
            os.setsid()
            work()
        except FileNotFoundError as error:
            code = NOT_FOUND
            os.write(failing, (error.strerror or "failed").encode())
        except (OSError, trees.TreeError) as error:
            code = CANNOT_RUN
            text = error.strerror if isinstance(error, OSError) else str(error)
            os.write(failing, (text or "failed").encode()[:1000])
        finally:
            os._exit(code)
    kept = sorted((report, failed))  # not the streams, which would otherwise never end
    os.closerange(3, kept[0])
    os.closerange(kept[0] + 1, kept[1])
    os.closerange(kept[1] + 1, 4096)
    message = b""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == child:
            message = os.read(failed, 1000)
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
            with suppress(OSError):
                os.write(report, str(code).encode() + b" " + message)
            os.close(report)


class User:
    """Who a command runs as."""

    def __init__(self, uid: int, gid: int, home: str, groups: list[int]) -> None:
        self.uid, self.gid, self.home, self.groups = uid, gid, home, groups


def find_user(wanted: str | None, pretend: bool) -> User:
    """As `docker exec --user`: a name or number, and after a colon a group. Raises `AgentError` for none."""
    name, _, group = (wanted or "root").partition(":")
    line = next((row for row in rows("/etc/passwd", 7) if name in (row[0], row[2])), None)
    if line is None and not name.isdigit() and not pretend:
        raise AgentError(f"no user {name[:100]!r}")
    uid, gid, home = (
        (int(line[2]), int(line[3]), line[5] or "/") if line else (int(name) if name.isdigit() else 0, 0, "/")
    )
    known = rows("/etc/group", 4)
    if group:
        found = next((row for row in known if group in (row[0], row[2])), None)
        if found is None and not group.isdigit():
            raise AgentError(f"no group {group[:100]!r}")
        return User(uid, int(found[2] if found else group), home, [])
    login = line[0] if line else ""
    groups = [int(row[2]) for row in known if login and login in row[3].split(",")]
    return User(uid, gid, home, [gid, *groups])


def rows(path: str, columns: int) -> list[list[str]]:
    """Lines of a file of the sandbox, which may hold anything."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(LARGEST_PASSWD).splitlines()
    except OSError:
        return []
    found = [line.split(":") for line in lines]
    return [row for row in found if len(row) == columns and row[2].isdigit() and (columns == 4 or row[3].isdigit())]


def running() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for pid in running():
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, parent = file.read(4096).rpartition(b")")[2].split()[:2]
            if state != b"Z":
                found[pid] = int(parent)
    return found


def descendants(pid: int) -> list[int]:
    known = parents()
    found: list[int] = []
    waiting = [pid]
    while waiting:
        here = waiting.pop()
        below = [child for child, parent in known.items() if parent == here]
        found += below
        waiting += below
    return found


def owner(pid: int) -> int:
    """The user a process runs as; -1 when it is gone or dead."""
    with suppress(OSError, IndexError, ValueError):
        with open(f"/proc/{pid}/status", "rb") as file:
            text = file.read(8192)
        if b"State:\tZ" not in text:
            return int(text.partition(b"Uid:")[2].split()[0])
    return -1


def kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def drop_rights() -> None:
    """What is not permitted now is out of reach for good, and what is goes to root alone."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        permitted = next(int(line.split()[1], 16) for line in file if line.startswith("CapPrm"))
    for capability in range(CAPABILITIES):
        if not permitted >> capability & 1:
            _libc.prctl(DROP_FROM_BOUND, capability, 0, 0, 0)
    _libc.prctl(AMBIENT, CLEAR_AMBIENT, 0, 0, 0)


def main() -> NoReturn:
    # Before anything else runs here: what may not be dumped may not be traced either, nor its descriptors taken.
    _libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
    _libc.prctl(SET_NAME, b"sandbox", 0, 0, 0)
    drop_rights()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    Agent(control).run()


if __name__ == "__main__":
    main()
