"""The instruction: exactly as the agent gets it."""

import re
from dataclasses import dataclass

_CANARY = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instruction:
    """What becomes of an instruction file on its way to the agent."""

    text: str
    """As the agent gets it."""
    dropped: str
    """The canary lines at the top, and the blank ones after, that Harbor leaves out."""
    newlines: bool
    """The file has Windows line ends; the agent gets plain ones."""


def agent_text(text: str) -> Instruction:
    """Read as Harbor does: universal newlines, then leading canary and blank lines away."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = plain.split("\n")
    start = 0
    while start < len(lines) and _CANARY.match(lines[start].strip()):
        start += 1
    canaries = start
    while start < len(lines) and not lines[start].strip():
        start += 1
    dropped = "\n".join(lines[:canaries])
    return Instruction("\n".join(lines[start:]), dropped, "\r" in text)
