"""What is kept of a seat: each command with what it showed as events and as a trajectory, and the terminal as it was.

What was typed and not shown, such as a password, is kept nowhere.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from rlx.rollout import EventKind
from rlx.runners.seats.marks import Back, Mark, Ran
from rlx.runners.seats.plain import plain

NAME: Final = "bash"
"""What a command is called among calls of tools."""
SHOWN: Final = 24 * 1024
"""Bytes kept of each end of what one command showed."""
COMMANDS: Final = 5_000
"""Commands of a trajectory."""
TAPE: Final = 3 * 1024 * 1024
"""Bytes of the terminal as it was seen."""
_LINE: Final = 4 * 1024
"""Bytes that a line may have and be written whole, so that a secret in it is found."""

type Emit = Callable[[EventKind, Mapping[str, Any]], object]


class _Ends:
    """The first and the last bytes of what comes."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0

    def add(self, data: bytes) -> None:
        room = SHOWN - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * SHOWN:
            self._trim()

    def text(self) -> str:
        self._trim()
        if not self.left_out:
            return plain(bytes(self._head + self._tail))
        return f"{plain(bytes(self._head))}\n[{self.left_out:,} bytes left out]\n{plain(bytes(self._tail))}"

    def _trim(self) -> None:
        over = max(0, len(self._tail) - SHOWN)
        self.left_out += over
        del self._tail[:over]


class Record:
    """Of one rollout, over all of its steps."""

    def __init__(self, emit: Emit, clean: Callable[[str], str], clock: Callable[[], datetime]) -> None:
        self._emit = emit
        self._clean = clean
        self._clock = clock
        self._began = clock()
        self._tape: list[str] = []
        self._taped = 0
        self._line = b""
        self._open: tuple[str, str, datetime, _Ends] | None = None
        self._steps: list[dict[str, Any]] = []
        self.commands = 0

    @property
    def is_begun(self) -> bool:
        return bool(self._steps)

    def instructed(self, instruction: str) -> None:
        """A step began."""
        self._emit("prompt", {"text": instruction, "role": "user"})
        self._steps.append({"source": "user", "message": instruction, "timestamp": self._clock().isoformat()})

    def show(self, data: bytes) -> None:
        if self._open is not None:
            self._open[3].add(data)
        self._line += data
        whole = self._line.rfind(b"\n") + 1 or (len(self._line) if len(self._line) > _LINE else 0)
        if whole:
            self._write("o", self._line[:whole].decode("utf-8", "replace"))
            self._line = self._line[whole:]

    def resize(self, columns: int, rows: int) -> None:
        self._write("r", f"{columns}x{rows}")

    def told(self, mark: Mark) -> None:
        match mark:
            case Ran(command):
                self._end(None)
                self.commands += 1
                id = f"c{self.commands}"
                self._emit("call", {"id": id, "name": NAME, "arguments": {"command": command}})
                self._open = (id, command, self._clock(), _Ends())
            case Back(code):
                self._end(code)

    def finish(self) -> None:
        """A step is over, maybe in the middle of a command."""
        self._end(None)
        self._write("o", self._line.decode("utf-8", "replace"))
        self._line = b""

    def tape(self) -> bytes:
        """As asciinema plays it, version 2."""
        header = {"version": 2, "width": 80, "height": 24, "timestamp": int(self._began.timestamp())}
        return "\n".join([json.dumps(header), *self._tape, ""]).encode()

    def trajectory(self) -> list[dict[str, Any]]:
        """Steps of ATIF."""
        return [{"step_id": place, **step} for place, step in enumerate(self._steps, start=1)]

    def _end(self, code: int | None) -> None:
        if self._open is None:
            return
        (id, command, began, ends), self._open = self._open, None
        now = self._clock()
        text = ends.text()
        told: dict[str, Any] = {"id": id, "text": text, "seconds": round((now - began).total_seconds(), 3)}
        if code:
            told |= {"error": True, "text": f"{text}\n[exit code {code}]" if text else f"[exit code {code}]"}
        if ends.left_out:
            told["cut"] = ends.left_out
        self._emit("output", told)
        if self.commands <= COMMANDS:
            call = {"tool_call_id": id, "function_name": NAME, "arguments": {"command": command}}
            result = {"source_call_id": id, "content": told["text"]}
            step = {"source": "agent", "message": "", "timestamp": began.isoformat()}
            self._steps.append({**step, "tool_calls": [call], "observation": {"results": [result]}})

    def _write(self, kind: str, text: str) -> None:
        """A line of the tape; once it is full, one that says so."""
        if not text or self._taped > TAPE:
            return
        at = round((self._clock() - self._began).total_seconds(), 3)
        line = json.dumps([at, kind, self._clean(text)], ensure_ascii=False)
        self._taped += len(line.encode("utf-8", "replace"))
        if self._taped > TAPE:
            line = json.dumps([at, "o", "\r\n[The recording is full. What follows was not recorded.]\r\n"])
        self._tape.append(line)
