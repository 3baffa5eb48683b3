"""How much an archive may hold, and what is said of one that is refused."""

from dataclasses import dataclass
from typing import Final

from rlx.errors import BadInput
from rlx.texts import Say, say, words


class RefusedArchive(BadInput):
    """An archive that is not opened; `reason` tells why."""

    def __init__(self, reason: Say) -> None:
        super().__init__(words(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Budget:
    members: int
    """Files and folders."""
    each: int
    """Bytes of one file, unpacked."""
    total: int
    """Bytes of all of them."""
    packed: int
    """Bytes of the archive itself."""
    ratio: int = 200
    """Times its own size that it may unpack to, past `free` bytes."""
    free: int = 16 * 1024 * 1024
    directory: int = 32 * 1024 * 1024
    """Bytes of a zip file's own list."""

    def unpacks_to(self, packed: int) -> int:
        """Bytes that an archive of `packed` bytes may unpack to."""
        return min(self.total, max(self.free, self.ratio * packed))

    def check(self, unpacked: int, packed: int) -> None:
        """Raises `RefusedArchive` where `unpacked` bytes are too many."""
        if unpacked > self.total:
            raise RefusedArchive(say("packed.total", megabytes=self.total // 2**20))
        if unpacked > self.unpacks_to(packed):
            raise RefusedArchive(say("packed.ratio", times=self.ratio))


TASK: Final = Budget(members=10_000, each=32 * 2**20, total=64 * 2**20, packed=64 * 2**20)
"""One task, in memory."""
REPOSITORY: Final = Budget(members=80_000, each=256 * 2**20, total=4 * 2**30, packed=4 * 2**30, free=64 * 2**20)
"""Any number of tasks, on the Hub or on local disk."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, and where its bytes are."""

    path: str
    size: int
    at: int
    """In a tar file its first byte; in a zip file the header before it."""
    packed: int = 0
    """For zip files: its bytes there, how they are packed, and the checksum of the unpacked ones."""
    method: int = 0
    crc: int = 0
    refused: Say | None = None
    """Why it is no plain file that can be had. What holds it is refused."""


def strictly(members: "tuple[Member, ...]") -> "tuple[Member, ...]":
    """The same, where every one of them can be had. Raises `RefusedArchive`."""
    for member in members:
        if member.refused is not None:
            raise RefusedArchive(member.refused)
    return members
