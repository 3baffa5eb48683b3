"""Faults a test or a person can switch on while the hub runs, each for a path pattern and a number of requests.

    hub.faults.add(Fault(path="/api/datasets*", status=429, times=2))
    hub.faults.add(Fault(path="*/resolve/*", method="GET", truncate=10))

The same fields, as JSON objects in the list `faults` of `hub.json`, take effect when that file is saved.
"""

import threading
from collections.abc import MutableMapping
from fnmatch import fnmatchcase
from typing import Any

import anyio
from pydantic import BaseModel, ConfigDict, Field

from rlx.localhub.wire import Answer, Bucket, Headers, Send, json_answer, send_answer


class Fault(BaseModel):
    """What goes wrong. Several fields may be combined; the first fault that matches a request is the one it meets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = "*"
    """Shell pattern over the percent-encoded path, without the query. `*` also spans slashes."""
    query: str = "*"
    """Shell pattern over the query as it was sent."""
    method: str | None = None
    times: int | None = Field(default=None, ge=1)
    """Requests it hits; None: all until it is removed."""
    after: int = Field(default=0, ge=0)
    """Matching requests that are let through first."""

    status: int | None = Field(default=None, ge=200, le=599)
    """Answer with this status instead. A 429 carries RateLimit headers of a spent window."""
    code: str | None = None
    """`X-Error-Code` of that answer."""
    message: str = "Injected fault"
    reset: int = Field(default=1, ge=0)
    """Seconds until the window of a 429 opens again."""
    body: str | None = None
    """The body of the answer, whatever it should have been."""

    headers: dict[str, str] = {}
    """Response headers that are set, replacing those of the same name."""
    drop: tuple[str, ...] = ()
    """Response headers that are left out, such as `x-repo-commit`, `etag`, `x-error-code`, `link`."""
    ignore_range: bool = False
    """Answer 200 with the whole file to a request for a part of it."""
    delay: float = Field(default=0.0, ge=0)
    """Seconds before the answer begins."""
    stall: float = Field(default=0.0, ge=0)
    """Seconds between the headers and the body."""
    truncate: int | None = Field(default=None, ge=0)
    """Bytes of the body that are sent; the `Content-Length` stays, so the connection ends early."""
    length: int | None = Field(default=None, ge=0)
    """The `Content-Length` that is claimed."""

    def instead(self, bucket: Bucket) -> Answer | None:
        """The answer that takes the place of the real one; None when that is only altered."""
        if self.status is None:
            return None
        headers: Headers = [(b"x-error-message", self.message.encode("ascii", "replace"))] if self.status >= 400 else []
        if self.code:
            headers.append((b"x-error-code", self.code.encode("ascii", "replace")))
        if self.status == 429:
            headers += [
                (b"ratelimit", f'"{bucket}";r=0;t={self.reset}'.encode()),
                (b"ratelimit-policy", f'"fixed window";"{bucket}";q=1;w=300'.encode()),
                (b"retry-after", b"%d" % self.reset),
            ]
        return self.alter(json_answer({"error": self.message}, headers=headers, status=self.status))

    def alter(self, answer: Answer) -> Answer:
        """`answer` with headers and body changed."""
        gone = {name.lower().encode() for name in (*self.drop, *self.headers)}
        headers = [pair for pair in answer.headers if pair[0].lower() not in gone]
        headers += [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in self.headers.items()]
        return Answer(answer.status, headers, answer.body if self.body is None else self.body.encode())

    async def send(self, answer: Answer, send: Send, *, head: bool) -> None:
        """Send `answer` the way this fault sends it."""
        await send_answer(answer, _Spoiled(self, send).send, head=head)


class _Spoiled:
    """A `send` between the hub and the server, that lies, waits and stops early."""

    def __init__(self, fault: Fault, send: Send) -> None:
        self._fault = fault
        self._send = send
        self._left = fault.truncate
        self._begun = False
        self._ended = False

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            if self._fault.length is not None:
                kept = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message = {**message, "headers": [*kept, (b"content-length", b"%d" % self._fault.length)]}
        elif self._ended:
            return
        else:
            await anyio.sleep(0 if self._begun else self._fault.stall)
            self._begun = True
            if self._left is not None:
                message = self._cut(message, self._left)
        await self._send(message)

    def _cut(self, message: MutableMapping[str, Any], left: int) -> MutableMapping[str, Any]:
        body = message.get("body", b"")[:left]
        self._left = left - len(body)
        self._ended = self._left == 0
        return {**message, "body": body, "more_body": message.get("more_body", False) and not self._ended}


class Faults:
    """The faults in force. May be changed from any thread."""

    def __init__(self, *faults: Fault) -> None:
        self._lock = threading.Lock()
        self._all: list[Fault] = []
        self._met: dict[int, int] = {}
        self._from_file: tuple[Fault, ...] = ()
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> Fault:
        """Switch `fault` on. A fault object counts for itself: the same one must not be added twice."""
        with self._lock:
            self._all.append(fault)
            self._met[id(fault)] = 0
        return fault

    def remove(self, fault: Fault) -> None:
        with self._lock:
            self._all = [other for other in self._all if other is not fault]
            self._met.pop(id(fault), None)

    def clear(self) -> None:
        with self._lock:
            self._all.clear()
            self._met.clear()

    def replace_from_file(self, faults: tuple[Fault, ...]) -> None:
        """Put the faults of `hub.json` in the place of those it held before."""
        for fault in self._from_file:
            self.remove(fault)
        self._from_file = faults
        for fault in faults:
            self.add(fault)

    def met(self, fault: Fault) -> int:
        """Requests that matched `fault` so far, those it let through included."""
        with self._lock:
            return self._met.get(id(fault), 0)

    def take(self, method: str, path: str, query: str = "") -> Fault | None:
        """The fault this request meets, counted."""
        if not self._all:
            return None
        with self._lock:
            for fault in self._all:
                if fault.method is not None and fault.method != method:
                    continue
                if not (fnmatchcase(path, fault.path) and fnmatchcase(query, fault.query)):
                    continue
                met = self._met[id(fault)]
                if fault.times is not None and met >= fault.after + fault.times:
                    continue
                self._met[id(fault)] = met + 1
                if met >= fault.after:
                    return fault
        return None
