"""Streams of chat completions: server-sent events put together into what the model said, whatever they hold."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DONE: Final = b"[DONE]"
_MOST_CALLS: Final = 64


class BrokenStream(ValueError):
    """What came is no stream of chat completions."""


@dataclass(slots=True)
class Said:
    """What a stream came to."""

    content: str = ""
    calls: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Name and arguments of each."""
    usage: object = None
    pieces: int = 0
    finished: bool = False
    """Its end was told, and not just the connection's."""


def events_of(data: bytes) -> Iterator[bytes]:
    """The data of each event, of any line ending; the last one too when nothing ends it."""
    lines: list[bytes] = []
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        if not line and lines:
            yield b"\n".join(lines)
            lines = []
        elif line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
    if lines:
        yield b"\n".join(lines)


def read_stream(data: bytes) -> Said:
    """Raises `BrokenStream`."""
    said = Said()
    for event in events_of(data):
        if event == DONE:
            said.finished = True
            break
        try:
            chunk = json.loads(event)
        except (ValueError, RecursionError) as error:
            raise BrokenStream("An event of the stream is no JSON.") from error
        if not isinstance(chunk, Mapping):
            raise BrokenStream("An event of the stream is no object.")
        _take(said, chunk)
    if said.pieces == 0:
        raise BrokenStream("The stream holds nothing that a model said.")
    return said


def _take(said: Said, chunk: Mapping[str, Any]) -> None:
    said.usage = chunk.get("usage") or said.usage
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        return
    delta = choice.get("delta")
    if not isinstance(delta, Mapping):
        return
    said.pieces += 1
    said.finished |= bool(choice.get("finish_reason"))
    text = delta.get("content")
    said.content += text if isinstance(text, str) else ""
    calls = delta.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        index = call.get("index", 0) if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(index, int) or not 0 <= index < _MOST_CALLS:
            continue
        name, arguments = said.calls.get(index, ("", ""))
        said.calls[index] = (name or _text(function.get("name")), arguments + _text(function.get("arguments")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
