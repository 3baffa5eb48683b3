"""Archives made by hand, honest and hostile, the same on every run."""

import io
import struct
import tarfile
import zipfile
from collections.abc import Mapping

TASK: Mapping[str, bytes] = {
    "task.toml": b'schema_version = "1.4"\n\n[metadata]\ndifficulty = "easy"\n',
    "instruction.md": b"# Count\n\nCount to three.\n",
    "environment/Dockerfile": b"FROM debian:12-slim\n",
    "solution/solve.sh": b"echo RLX-CANARY-PACKED-SOLUTION\n",
    "tests/test.sh": b"#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
}


def tar(files: Mapping[str, bytes], mode: str = "w", *, format_: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    kwargs = {"compresslevel": 1} if mode in {"w:gz", "w:bz2"} else {}
    with tarfile.open(fileobj=out, mode=mode, format=format_, **kwargs) as archive:  # type: ignore[call-overload]  # the mode is a parameter
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def tar_of(*entries: tarfile.TarInfo) -> bytes:
    """A tar file of these, without contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for entry in entries:
            archive.addfile(entry)
    return out.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


def header(name: bytes, *, kind: bytes = b"0", size: bytes = b"00000000000\0") -> bytes:
    """One raw tar header, its checksum right."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124:136] = size
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for path, data in {path.partition("\0")[0]: data for path, data in files.items()}.items():
            archive.writestr(zipfile.ZipInfo(path), data, method)
    return out.getvalue()


def zip_entry(name: str, mode: int, data: bytes = b"") -> bytes:
    """A zip file of one member with a file mode of Unix."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        item = zipfile.ZipInfo(name)
        item.create_system, item.external_attr = 3, mode << 16
        archive.writestr(item, data)
    return out.getvalue()


def patched(data: bytes, find: bytes, at: int, value: bytes) -> bytes:
    """The same with `value` at `at` bytes after each `find`."""
    out = bytearray(data)
    place = data.find(find)
    while place >= 0:
        out[place + at : place + at + len(value)] = value
        place = data.find(find, place + 1)
    return bytes(out)


def overlapping(count: int, size: int) -> bytes:
    """A zip file whose entries all unpack the same bytes."""
    data = zipped({"a": bytes(size)})
    place = data.find(b"PK\x01\x02")
    end = data.find(b"PK\x05\x06")
    one = data[place:end]
    listed = b"".join(one[:46] + f"{number:01x}".encode()[:1] + one[47:] for number in range(count))
    return data[:place] + listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(listed), place, 0)
