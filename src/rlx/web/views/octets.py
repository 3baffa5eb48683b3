"""The first bytes of a file that is no text, in hexadecimal."""

from dataclasses import dataclass

from rlx.model import Blob
from rlx.texts import say
from rlx.web.views.base import Asked, FileView

SHOWN = 512
_ROW = 16


@dataclass(frozen=True, slots=True)
class Octets:
    rows: tuple[tuple[str, str, str], ...]
    """Where a row begins, its bytes, and those of them that are ASCII."""
    count: int
    size: int


def _draw(blob: Blob, asked: Asked) -> Octets:
    head = (blob.data or b"")[:SHOWN]
    rows = tuple(_row(at, head[at : at + _ROW]) for at in range(0, len(head), _ROW))
    return Octets(rows, len(head), blob.size)


def _row(at: int, part: bytes) -> tuple[str, str, str]:
    halves = (part[:8].hex(" "), part[8:].hex(" "))
    letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in part)
    return f"{at:08x}", f"{halves[0]}  {halves[1]}".ljust(3 * _ROW), letters


VIEW = FileView("bytes", say("viewer.view_bytes"), lambda blob: blob.data is not None, _draw)
