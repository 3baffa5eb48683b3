"""What a terminal showed, as text: without colours and cursor movements, lines as they were left."""

import re
from typing import Final

_SCREEN: Final = re.compile(r"\x1b\[\?(?:1049|1047|47)h.*?(?:\x1b\[\?(?:1049|1047|47)l|\Z)", re.DOTALL)
_CONTROL: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # an operating system command
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # a string of a device
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # a control sequence
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
FULL_SCREEN: Final = "[a full-screen program]\n"


def plain(shown: bytes) -> str:
    """Linear in what was shown, whatever that is."""
    text = _SCREEN.sub(FULL_SCREEN, shown.decode("utf-8", "replace"))
    text = _CONTROL.sub("", text).replace("\r\n", "\n")
    lines = [_line(line) for line in text.split("\n")]
    return "\n".join(lines)


def _line(line: str) -> str:
    """As it was left: what was written over or rubbed out is gone."""
    last = line.rstrip("\r").rpartition("\r")[2]
    if "\b" not in last:
        return last
    kept: list[str] = []
    for letter in last:
        if letter != "\b":
            kept.append(letter)
        elif kept:
            kept.pop()
    return "".join(kept)
