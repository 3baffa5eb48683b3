"""Servers on loopback that answer as a model would, or as one that means harm."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

type Behave = Callable[["Heard", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Heard:
    """A request."""

    line: str
    headers: Mapping[str, str]
    body: Any = None


@dataclass
class Place:
    port: int
    heard: list[Heard] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@asynccontextmanager
async def served(behave: Behave, *, ssl: SSLContext | None = None) -> AsyncIterator[Place]:
    """A server that does with each connection what `behave` does."""
    place = Place(0)
    open_ones: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_ones.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in head[1:])}
            size = int(headers.get("content-length") or 0)
            body = json.loads(await reader.readexactly(size)) if size else None
            heard = Heard(head[0], headers, body)
            place.heard.append(heard)
            await behave(heard, writer)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=ssl)
    place.port = server.sockets[0].getsockname()[1]
    try:
        yield place
    finally:
        server.close()
        for writer in open_ones:
            writer.transport.abort()
        await server.wait_closed()


def answering(answer: object, *, status: int = 200, **headers: str) -> Behave:
    """Always the same; `answer` is sent as JSON, or as it is when it is bytes."""

    async def behave(heard: Heard, writer: asyncio.StreamWriter) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        told = {"content-type": "application/json", "content-length": str(len(data))}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        await head(writer, status, told)
        writer.write(data)
        await writer.drain()

    return behave


async def head(writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str]) -> None:
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items()), "connection: close"]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()


def flooding(piece: bytes, *, kind: str = "application/json", status: int = 200) -> Behave:
    """The same piece for as long as somebody listens."""

    async def behave(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await head(writer, status, {"content-type": kind})
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()

    return behave


def dripping(piece: bytes) -> Behave:
    """A piece at a time, and never the end."""

    async def behave(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await head(writer, 200, {"content-type": "application/json"})
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return behave


def said(content: str | None = "yes", *, calls: object = None, usage: object = (7, 3)) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls is not None:
        message["tool_calls"] = calls
    found: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if isinstance(usage, tuple):
        usage = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return found if usage is None else {**found, "usage": usage}


def call(arguments: object, name: str = "add") -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
