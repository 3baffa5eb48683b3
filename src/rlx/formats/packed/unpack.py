"""One task out of an archive in memory: every file of it, or the reason why there is none."""

import io
from collections.abc import Iterator, Mapping
from typing import Final

from rlx.formats.packed.budget import TASK, Budget, Member, RefusedArchive, strictly
from rlx.formats.packed.streams import Kind, kind_of, unpacked
from rlx.formats.packed.tars import is_tar, tar_members
from rlx.formats.packed.zips import zip_members, zip_read
from rlx.formats.rows.sources.octets import Held, Octets
from rlx.texts import say

SETTINGS: Final = "task.toml"


def unpack(data: bytes, budget: Budget = TASK) -> dict[str, bytes]:
    """The files in a tar file, compressed or not, or a zip file, by path. Raises `RefusedArchive` with the reason."""
    if len(data) > budget.packed:
        raise RefusedArchive(say("packed.large", megabytes=budget.packed // 2**20))
    kind = kind_of(data[:512])
    if kind is None:
        raise RefusedArchive(say("packed.unknown"))
    if kind not in ("zip", "tar"):
        data = b"".join(unpacked(kind, io.BytesIO(data), len(data), budget))
        if not is_tar(data[:512]):
            raise RefusedArchive(say("packed.no_tar"))
    octets = Held(data)
    found = strictly(tuple(members(kind, octets, budget)))
    return {member.path: read(kind, octets, member) for member in sorted(found, key=lambda member: member.path)}


def members(kind: Kind, octets: Octets, budget: Budget) -> Iterator[Member]:
    """The files in a zip file or, for any other kind, an unpacked tar file."""
    return zip_members(octets, budget) if kind == "zip" else tar_members(octets, budget)


def read(kind: Kind, octets: Octets, member: Member) -> bytes:
    """The bytes of a member. Raises `RefusedArchive`, and what reading `octets` raises."""
    if kind == "zip":
        return zip_read(octets, member)
    data = octets.read(member.at, member.at + member.size)
    if len(data) != member.size:
        raise RefusedArchive(say("packed.cut"))
    return data


def task_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the one task among `files`, by their path in it: folders around it are left off.

    Raises `RefusedArchive` where there is no task, or more than one.
    """
    roots = [path.removesuffix(SETTINGS) for path in files if path.rpartition("/")[2] == SETTINGS]
    top = min((root.count("/") for root in roots), default=0)
    shallow = [root for root in roots if root.count("/") == top]
    if not shallow:
        raise RefusedArchive(say("packed.no_task"))
    if len(shallow) > 1:
        raise RefusedArchive(say("packed.many_tasks", n=len(shallow)))
    return {path[len(shallow[0]) :]: data for path, data in files.items() if path.startswith(shallow[0])}
