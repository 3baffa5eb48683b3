"""Tar files: walked from header to header, plain files and folders only.

Read here and not by `tarfile`, which follows sizes and extended headers wherever they lead.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rlx.formats.packed.budget import Budget, Member, RefusedArchive
from rlx.formats.packed.names import Names
from rlx.formats.rows.sources.octets import Octets
from rlx.texts import Say, say

BLOCK: Final = 512
_MAX_EXTENDED: Final = 64 * 1024
"""Bytes of an extended header. One that names a path of 1,000 characters takes less than a tenth."""
_ZEROS: Final = bytes(BLOCK)
_FILES: Final = (b"0", b"\0", b"7")
_LINKS: Final = (b"1", b"2")
_DEVICES: Final = (b"3", b"4", b"6")


def is_tar(head: bytes) -> bool:
    """Whether a file that begins with `head` is a tar file, by the checksum of its first header."""
    return len(head) >= BLOCK and (head[:BLOCK] == _ZEROS or _is_sound(head[:BLOCK]))


def tar_members(octets: Octets, budget: Budget) -> Iterator[Member]:
    """Its files and, with the reason, what is neither file nor folder. Raises `RefusedArchive`."""
    names, at, count, total = Names(), 0, 0, 0
    extended = _Extended()
    while (header := octets.read(at, at + BLOCK)) != _ZEROS:
        if len(header) < BLOCK:
            raise RefusedArchive(say("packed.cut"))
        if not _is_sound(header):
            raise RefusedArchive(say("packed.broken"))
        count += 1
        if count > budget.members:
            raise RefusedArchive(say("packed.members", limit=budget.members))
        kind, size = header[156:157], _number(header[124:136])
        start = at + BLOCK
        if kind in b"xgLK":
            extended.take(kind, _extended(octets, start, size))
            at = _after(start, size)
            continue
        name, size = extended.name or _name(header), size if extended.size is None else extended.size
        is_dir = kind == b"5" or (kind == b"\0" and name.endswith(b"/"))
        path = names.take(name, is_dir=is_dir)
        refused = extended.refused or _refusal(kind, is_dir, path)
        extended.clear()
        if is_dir or kind in _LINKS or kind in _DEVICES:
            size = 0
        at = _after(start, size)
        if octets.size is not None and start + size > octets.size:
            raise RefusedArchive(say("packed.cut"))
        total += size
        budget.check(total, octets.size or 0)
        if size > budget.each:
            refused = refused or say("packed.each", path=ascii(path[:80]), megabytes=budget.each // 2**20)
        if not is_dir:
            yield Member(path, size, start, refused=refused)


@dataclass(slots=True)
class _Extended:
    """What headers before a member's own say of it."""

    name: bytes | None = None
    size: int | None = None
    refused: Say | None = field(default=None)

    def clear(self) -> None:
        self.name = self.size = self.refused = None

    def take(self, kind: bytes, data: bytes) -> None:
        if kind == b"L":
            self.name = data.rstrip(b"\0")
        for key, value in _records(data) if kind in b"xg" else ():
            if key.startswith(b"GNU.sparse"):
                self.refused = say("packed.sparse")
            elif key in (b"path", b"size") and kind == b"g":
                raise RefusedArchive(say("packed.broken"))
            elif key == b"path":
                self.name = value
            elif key == b"size":
                self.size = _decimal(value)


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Records of an extended header: `<length> <key>=<value>` and a line end."""
    at = 0
    while at < len(data) and data[at]:
        space = data.find(b" ", at, at + 8)
        end = at + _decimal(data[at:space]) if space > at else at
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if end <= space + 2 or end > len(data) or data[end - 1 : end] != b"\n" or not equals:
            raise RefusedArchive(say("packed.broken"))
        yield key, value
        at = end


def _extended(octets: Octets, start: int, size: int) -> bytes:
    if size > _MAX_EXTENDED:
        raise RefusedArchive(say("packed.long_name", limit=1000))
    data = octets.read(start, start + size)
    if len(data) < size:
        raise RefusedArchive(say("packed.cut"))
    return data


def _refusal(kind: bytes, is_dir: bool, path: str) -> Say | None:
    shown = ascii(path[:80])
    if kind in _LINKS:
        return say("packed.link", path=shown)
    if kind in _DEVICES:
        return say("packed.device", path=shown)
    if kind == b"S":
        return say("packed.sparse")
    return None if is_dir or kind in _FILES else say("packed.device", path=shown)


def _name(header: bytes) -> bytes:
    name, prefix = _text(header[:100]), _text(header[345:500])
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _text(field_: bytes) -> bytes:
    return field_.partition(b"\0")[0]


def _after(start: int, size: int) -> int:
    return start + (size + BLOCK - 1) // BLOCK * BLOCK


def _is_sound(header: bytes) -> bool:
    """Whether its checksum is right, of its bytes as numbers without or, as some wrote it, with a sign."""
    try:
        told = _number(header[148:156])
    except RefusedArchive:
        return False
    summed = header[:148] + b" " * 8 + header[156:]
    plain = sum(summed)
    return told == plain or told == plain - 256 * sum(byte > 127 for byte in summed)


def _number(field_: bytes) -> int:
    """Octal digits or, after a first byte of 128, bytes. Raises `RefusedArchive`."""
    if field_[0] == 128:
        return int.from_bytes(field_[1:], "big")
    digits = _text(field_).strip()
    if not digits:
        return 0
    if not digits.isdigit() or digits.strip(b"01234567"):
        raise RefusedArchive(say("packed.broken"))
    return int(digits, 8)


def _decimal(text: bytes) -> int:
    if not (text.isdigit() and len(text) <= 18):
        raise RefusedArchive(say("packed.broken"))
    return int(text)
