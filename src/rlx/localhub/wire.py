"""HTTP as the local hub speaks it: a request read from its raw path, an answer, a refusal.

Paths are split before they are percent-decoded: the Hub's clients send a revision (`refs%2Fpr%2F1`) and a tree path
(`tasks%2Fa`) as one segment each.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from email.utils import formatdate
from io import FileIO
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, unquote_to_bytes

import anyio

from rlx.localhub.files import File, open_file

type Scope = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
type App = Callable[[Scope, Receive, Send], Awaitable[None]]

type Bucket = Literal["api", "resolvers", "pages"]
"""What a request is counted as by the rate limits."""
type Headers = list[tuple[bytes, bytes]]

MAX_BODY = 8 * 1024 * 1024
"""Bytes of a request body. The reading side only takes lists of paths."""
CHUNK = 1024 * 1024


class Refusal(Exception):
    """A request answered with an error: HTTP status, the Hub's `X-Error-Code` (empty: none) and a message."""

    def __init__(self, status: int, code: str, message: str, headers: Headers | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or []

    def answer(self) -> "Answer":
        told = self.message.encode("ascii", "replace").translate(None, b"\r\n")
        headers = [(b"x-error-message", told), *self.headers]
        if self.code:
            headers.append((b"x-error-code", self.code.encode()))
        return json_answer({"error": self.message}, headers=headers, status=self.status)


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes of a file that are read while they are sent."""

    path: str
    file: File
    start: int
    length: int


type Pieces = AsyncGenerator[bytes]
"""A body that is made while it is sent. Closed when it was sent, or when nobody listens any more."""


@dataclass(slots=True)
class Answer:
    """`Content-Length` is not among the headers: it is said of the body when it is sent."""

    status: int
    headers: Headers
    body: "bytes | Slice | Pieces" = b""

    @property
    def length(self) -> int | None:
        """None of a body that is made while it is sent."""
        if isinstance(self.body, Slice):
            return self.body.length
        return len(self.body) if isinstance(self.body, bytes) else None


def json_bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def json_answer(value: object, *, headers: Headers | None = None, status: int = 200) -> Answer:
    return raw_json(json_bytes(value), headers=headers, status=status)


def raw_json(body: bytes, *, headers: Headers | None = None, status: int = 200) -> Answer:
    return Answer(status, [(b"content-type", b"application/json; charset=utf-8"), *(headers or [])], body)


def text_answer(text: str) -> Answer:
    return Answer(200, [(b"content-type", b"text/plain; charset=utf-8")], text.encode())


def decode_segment(segment: str) -> str:
    """One path segment, percent-decoded. Refuses what no file name could be: NULs and bytes that are not UTF-8."""
    if "%" not in segment:
        return segment
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise Refusal(400, "", "The path is not UTF-8.") from None
    if "\0" in text:
        raise Refusal(400, "", "The path holds a NUL character.")
    return text


@dataclass(slots=True)
class Request:
    scope: Scope
    receive: Receive
    headers: dict[bytes, bytes] = field(init=False)
    path: str = field(init=False)
    """As sent: percent-encoded, without the query."""
    _query: list[tuple[str, str]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.headers = dict(self.scope["headers"])
        raw: bytes | None = self.scope.get("raw_path")
        self.path = raw.decode("latin-1") if raw else quote(self.scope["path"])

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method

    @property
    def client(self) -> str:
        peer = self.scope.get("client")
        return str(peer[0]) if peer else ""

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    @property
    def query(self) -> list[tuple[str, str]]:
        """Pairs in order. `expand[]=x` is read as `expand=x`, as the JavaScript client writes lists."""
        if self._query is None:
            pairs = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="replace")
            self._query = [(key.removesuffix("[]"), value) for key, value in pairs]
        return self._query

    def params(self, name: str) -> list[str]:
        return [value for key, value in self.query if key == name]

    def param(self, name: str) -> str | None:
        return next((value for key, value in self.query if key == name), None)

    def flag(self, name: str) -> bool:
        return (self.param(name) or "").lower() in {"true", "1"}

    def number(self, name: str, default: int, *, most: int) -> int:
        """A count from 1 to `most`; larger ones are cut to `most`, anything else is refused."""
        text = self.param(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10) or int(text) < 1:
            raise Refusal(400, "", f"Parameter '{name}' must be a positive integer.")
        return min(int(text), most)

    @property
    def base_url(self) -> str:
        """Where the visitor reached us, for the absolute URLs that paging needs."""
        proto = self.header(b"x-forwarded-proto") or self.scope.get("scheme", "http")
        host = self.header(b"x-forwarded-host") or self.header(b"host") or "127.0.0.1"
        return f"{proto}://{host}"

    async def body(self) -> bytes:
        """The whole body. Refuses one past `MAX_BODY`."""
        return b"".join([piece async for piece in self.pieces(MAX_BODY)])

    async def pieces(self, most: int) -> AsyncGenerator[bytes]:
        """The body as it comes. Refuses one past `most` bytes, and one that ends early."""
        size = 0
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "", "The request body ended early.")
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > most:
                raise Refusal(413, "", f"The request body is larger than {most:,} bytes.")
            more = message.get("more_body", False)
            yield piece


async def send_answer(answer: Answer, send: Send, *, head: bool, receive: Receive | None = None) -> None:
    """Send `answer`; `head` leaves the body out. Raises `Changed` before anything is sent.

    `receive` tells when nobody listens any more to a body that is made while it is sent.
    """
    bodiless = head or answer.status in {204, 304}
    source = None
    if isinstance(answer.body, Slice) and not bodiless:
        source = await anyio.to_thread.run_sync(open_file, answer.body.path, answer.body.file)
    # The server's own is up to a second old, and clients leave out what jobs wrote since.
    headers = [*answer.headers, (b"date", formatdate(usegmt=True).encode())]
    if answer.status not in {204, 304} and answer.length is not None:
        headers = [*headers, (b"content-length", b"%d" % answer.length)]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if source is not None and isinstance(answer.body, Slice):
        await _send_slice(source, answer.body, send)
    elif isinstance(answer.body, AsyncGenerator) and not bodiless:
        await _send_pieces(answer.body, send, receive)
    else:
        body = answer.body if isinstance(answer.body, bytes) and not bodiless else b""
        await send({"type": "http.response.body", "body": body})


async def _send_slice(source: FileIO, part: Slice, send: Send) -> None:
    with source:
        source.seek(part.start)
        left = part.length
        while left:
            chunk = await anyio.to_thread.run_sync(source.read, min(CHUNK, left))
            if not chunk:
                raise OSError("A file shrank while it was sent.")
            left -= len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})


async def _send_pieces(pieces: Pieces, send: Send, receive: Receive | None) -> None:
    gone = asyncio.ensure_future(_gone(receive))
    coming: asyncio.Future[bytes | None] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(anext(pieces, None))
            await asyncio.wait([coming, gone], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return
            piece = coming.result()
            await send({"type": "http.response.body", "body": piece or b"", "more_body": piece is not None})
            if piece is None:
                return
    finally:
        gone.cancel()
        if coming is not None and not coming.done():
            coming.cancel()
            await asyncio.wait([coming])
        await pieces.aclose()


async def _gone(receive: Receive | None) -> None:
    """Until nobody listens any more."""
    if receive is None:
        await asyncio.Event().wait()
    else:
        while (await receive())["type"] != "http.disconnect":
            pass
