"""What the shell tells of its commands, taken out of what a terminal shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlx.runners.seats.shell import PREFIX

LONGEST: Final = 32 * 1024
"""Bytes of what is told at once. What is longer is shown as it is."""
_NUMBER: Final = re.compile(r"\s*\d+\*?\s{1,2}")


@dataclass(frozen=True, slots=True)
class Ran:
    command: str


@dataclass(frozen=True, slots=True)
class Back:
    """The shell waits for a command."""

    code: int
    """Of the last one."""


@dataclass(frozen=True, slots=True)
class Grade:
    """It was asked for."""


type Mark = Ran | Back | Grade


class Marks:
    """Of one shell. Only what carries its token is taken for told."""

    def __init__(self, token: str) -> None:
        self._start = PREFIX + token.encode() + b";"
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes | Mark]:
        """What is shown and what is told, in order. The beginning of a mark is held back till its end is there."""
        self._held += data
        while self._held:
            at = self._held.find(self._start)
            if at < 0:
                kept = self._beginning()
                shown, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
                if shown:
                    yield shown
                return
            if at:
                yield self._held[:at]
            end = self._held.find(b"\a", at)
            if end < 0:
                self._held = self._held[at:]
                if len(self._held) > LONGEST:
                    yield self._held
                    self._held = b""
                return
            told, self._held = self._held[at + len(self._start) : end], self._held[end + 1 :]
            mark = _mark(told.decode("utf-8", "replace"))
            if mark is not None:
                yield mark

    def _beginning(self) -> int:
        """How many bytes at the end may be the beginning of a mark."""
        longest = min(len(self._start) - 1, len(self._held))
        return next((size for size in range(longest, 0, -1) if self._start.startswith(self._held[-size:])), 0)


def _mark(told: str) -> Mark | None:
    kind, _, rest = told.partition(";")
    match kind:
        case "ran":
            return Ran(_NUMBER.sub("", rest, count=1))
        case "back" if rest.isascii() and rest.isdigit() and len(rest) <= 3:
            return Back(int(rest))
        case "grade":
            return Grade()
    return None
