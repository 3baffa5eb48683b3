"""Zip files: their own list is read, then each file by itself; both within bounds."""

import bz2
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from rlx.formats.packed.budget import Budget, Member, RefusedArchive
from rlx.formats.packed.names import Names
from rlx.formats.rows.sources.octets import Octets, OctetsFile
from rlx.texts import Say, say

_END: Final = struct.Struct("<4s4H2LH")
_LONG_END: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_TAIL: Final = 65_557
"""Bytes of the end record with the longest comment."""
_ENCRYPTED: Final = 0x2041
"""Flags: encrypted, strongly, its list too."""
_UTF8: Final = 0x800
_BROKEN: Final = (zipfile.BadZipFile, struct.error, ValueError, EOFError, NotImplementedError, OverflowError)


def is_zip(head: bytes) -> bool:
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def zip_members(octets: Octets, budget: Budget) -> Iterator[Member]:
    """Its files and, with the reason, links and others that are none. Raises `RefusedArchive`."""
    size = octets.size or 0
    _check_directory(octets, size, budget)
    try:
        with zipfile.ZipFile(OctetsFile(octets)) as archive:
            items = archive.infolist()
            directory = archive.start_dir
    except UnicodeDecodeError as error:
        raise RefusedArchive(say("packed.not_utf8", path="")) from error
    except (*_BROKEN, OSError) as error:
        raise RefusedArchive(say("packed.broken")) from error
    if len(items) > budget.members:
        raise RefusedArchive(say("packed.members", limit=budget.members))
    if any(item.flag_bits & _ENCRYPTED for item in items):
        raise RefusedArchive(say("packed.encrypted"))
    _check_overlap(items, directory)
    names, total, packed = Names(), 0, 0
    for item in items:
        is_dir = item.orig_filename.endswith("/")
        path = names.take(_raw(item), is_dir=is_dir)
        total, packed = total + item.file_size, packed + item.compress_size
        budget.check(total, min(size, packed))
        if not is_dir:
            refused = _refusal(item, path, budget)
            yield Member(
                path, item.file_size, item.header_offset, item.compress_size, item.compress_type, item.CRC, refused
            )


def zip_read(octets: Octets, member: Member) -> bytes:
    """The unpacked bytes of a member. Raises `RefusedArchive` where they are not what the list told."""
    header = octets.read(member.at, member.at + _LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
        raise RefusedArchive(say("packed.broken"))
    *_, name, extra = _LOCAL.unpack(header)
    start = member.at + _LOCAL.size + name + extra
    packed = octets.read(start, start + member.packed)
    try:
        data = _unpacked(packed, member)
    except (zlib.error, OSError, ValueError) as error:
        raise RefusedArchive(say("packed.broken")) from error
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise RefusedArchive(say("packed.sums", path=ascii(member.path[:80])))
    return data


def _unpacked(packed: bytes, member: Member) -> bytes:
    """At most one byte more than the list told."""
    if member.method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.size + 1)
    if member.method == zipfile.ZIP_BZIP2:
        return bz2.BZ2Decompressor().decompress(packed, member.size + 1)
    return packed


def _refusal(item: zipfile.ZipInfo, path: str, budget: Budget) -> Say | None:
    shown = ascii(path[:80])
    kind = (item.external_attr >> 16) & 0o170000 if item.create_system == 3 else 0
    if kind == 0o120000:
        return say("packed.link", path=shown)
    if kind not in (0, 0o100000, 0o040000):
        return say("packed.device", path=shown)
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        return say("packed.method", path=shown)
    if item.file_size > budget.each:
        return say("packed.each", path=shown, megabytes=budget.each // 2**20)
    return None


def _raw(item: zipfile.ZipInfo) -> bytes:
    """The name's own bytes. Without the flag that it is UTF-8 it was taken for cp437, and may be UTF-8 all the same."""
    return item.orig_filename.encode() if item.flag_bits & _UTF8 else item.orig_filename.encode("cp437")


def _check_overlap(items: list[zipfile.ZipInfo], directory: int) -> None:
    """A zip file unpacks to more than it could where its files lie over each other."""
    starts = sorted((item.header_offset, item.compress_size) for item in items)
    ends = [start for start, _ in starts[1:]] + [directory]
    if any(start < 0 or start + _LOCAL.size + size > end for (start, size), end in zip(starts, ends, strict=False)):
        raise RefusedArchive(say("packed.overlap"))


def _check_directory(octets: Octets, size: int, budget: Budget) -> None:
    """Its own list is read at once, so that its length is looked at before."""
    first = max(0, size - _TAIL)
    tail = octets.read(first, size)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise RefusedArchive(say("packed.broken" if at < 0 else "packed.cut"))
    count, told = _END.unpack_from(tail, at)[4:6]
    if told == 0xFFFFFFFF or count == 0xFFFF:
        locator = octets.read(first + at - _LOCATOR.size, first + at) if first + at >= _LOCATOR.size else b""
        if locator[:4] == b"PK\x06\x07":
            place = _LOCATOR.unpack(locator)[2]
            record = octets.read(place, place + _LONG_END.size)
            if len(record) < _LONG_END.size or record[:4] != b"PK\x06\x06":
                raise RefusedArchive(say("packed.broken"))
            count, told = _LONG_END.unpack(record)[7:9]
    if count > budget.members:
        raise RefusedArchive(say("packed.members", limit=budget.members))
    if told > size:
        raise RefusedArchive(say("packed.broken"))
    if told > budget.directory:
        raise RefusedArchive(say("packed.members", limit=budget.members))
