"""Why a Dockerfile is not planned: a class, the line of the file, and one sentence."""

from dataclasses import dataclass
from typing import Literal

from rlx.texts import Say, say

type Class = Literal["base", "network", "secret", "syntax", "platform", "privileged", "unsupported"]

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Refusal:
    kind: Class
    line: int | None
    """1-based line of the Dockerfile; None where no line says it."""
    text: str
    """The first line of the instruction as written."""
    why: Say


class Refused(Exception):
    """Ends the planning of one instruction; the planner adds the line."""

    def __init__(self, kind: Class, name: str, /, **params: str | int) -> None:
        super().__init__(name)
        self.kind = kind
        cut = {key: clip(value) if isinstance(value, str) else value for key, value in params.items()}
        self.why = say(f"dockerfile.{name}", **cut)

    def at(self, line: int | None, text: str) -> Refusal:
        return Refusal(self.kind, line, text, self.why)


def clip(text: str) -> str:
    """One short printable line, for a sentence."""
    line = "".join(char if char.isprintable() else " " for char in text[: _LONGEST * 2])
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
