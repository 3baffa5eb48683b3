"""The line to the agent in a sandbox: requests with descriptors, answers by number, connections it accepted."""

import asyncio
import itertools
import json
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from rlx.errors import SandboxError

type Answer = dict[str, Any]
type Connected = Callable[[str, socket.socket], None]


class Link:
    """One sandbox's line, in the running loop. It is gone when the agent is, and then every request fails."""

    def __init__(self, control: socket.socket, connected: Connected) -> None:
        self._control = control
        self._connected = connected
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._terminals: dict[int, asyncio.Future[int]] = {}
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self.gone = asyncio.Event()
        control.setblocking(False)
        self._loop.add_reader(control, self._read)

    def ask(self, do: str, descriptors: Sequence[int] = (), **message: object) -> "tuple[int, asyncio.Future[Answer]]":
        """Send a request; its number and its answer to come. Raises `SandboxError` when the sandbox is gone."""
        number = next(self._numbers)
        answer: asyncio.Future[Answer] = self._loop.create_future()
        body = os.memfd_create("request")
        try:
            with os.fdopen(os.dup(body), "wb") as file:
                file.write(json.dumps({"do": do, "id": number, **message}).encode())
            if self.gone.is_set():
                raise _ended()
            socket.send_fds(self._control, [b"."], [body, *descriptors])
        except OSError as error:
            raise _ended() from error
        finally:
            os.close(body)
        self._waiting[number] = answer
        return number, answer

    def ask_terminal(self, **message: object) -> "tuple[int, asyncio.Future[int], asyncio.Future[Answer]]":
        """A command on a terminal: its number, the descriptor of our side to come, and its end to come."""
        number, answer = self.ask("terminal", (), **message)
        opened: asyncio.Future[int] = self._loop.create_future()
        self._terminals[number] = opened
        return number, opened, answer

    def close(self) -> None:
        if self.gone.is_set():
            return
        self.gone.set()
        self._loop.remove_reader(self._control)
        self._control.close()
        waiting: list[asyncio.Future[Any]] = [*self._waiting.values(), *self._terminals.values(), self.ready]
        for future in waiting:
            if not future.done():
                future.set_exception(_ended())
                future.exception()  # whoever waits is told; nobody has to
        self._waiting.clear()
        self._terminals.clear()

    def _read(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 64 * 1024, 4)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        if not data:
            self.close()
            return
        message: Answer = json.loads(data)
        if "connected" in message:
            for descriptor in descriptors:
                self._connected(message["connected"], socket.socket(fileno=descriptor))
        elif "terminal" in message:
            opened = self._terminals.pop(message["terminal"], None)
            if opened is not None and not opened.done():
                opened.set_result(descriptors.pop(0))
            for descriptor in descriptors:
                os.close(descriptor)
        elif "ready" in message:
            with suppress(asyncio.InvalidStateError):
                self.ready.set_result(None)
        else:
            answer = self._waiting.pop(message["id"], None)
            refused = self._terminals.pop(message["id"], None)
            if refused is not None and not refused.done():
                refused.cancel()
            if answer is not None and not answer.done():
                answer.set_result(message)


def _ended() -> SandboxError:
    return SandboxError("The sandbox has ended.", hint="Something in it may have killed its first process.")
