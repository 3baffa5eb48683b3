"""Makes the namespaces and the file system of one sandbox, then becomes bubblewrap. Run as a script of its own.

Standard library only, Python 3.9 on: it runs under the host's own interpreter. What it mounts is in a namespace that
ends with the sandbox, so that nothing is left mounted whatever is killed. Reads its settings, as JSON, from the file
descriptor that is its first argument.
"""

from __future__ import annotations  # Python 3.9 reads this too

import ctypes
import json
import os
import resource
import sys
from typing import Any, NoReturn

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
RECURSIVE, PRIVATE = 0x4000, 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


class StageError(Exception):
    """What did not work, and why."""


def call(what: str, result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise StageError(f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    encoded = [os.fsencode(text) for text in (source, target, kind)]
    call(f"mount {kind or 'private'}", _libc.mount(*encoded, ctypes.c_ulong(flags), os.fsencode(data)))


def enter_user_namespace(everybody: bool) -> None:
    """Root of a namespace of one's own: with every user mapped to itself, or with this one alone mapped to root."""
    user, group, me = os.geteuid(), os.getegid(), os.getpid()
    if not everybody:
        call("unshare", _libc.unshare(NEW_USERS | NEW_MOUNTS))
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"0 {user} 1")
        write("/proc/self/gid_map", f"0 {group} 1")
        return
    # The map of a namespace is written from outside of it, where its writer still has the rights.
    ready, done = os.pipe(), os.pipe()
    writer = os.fork()
    if writer == 0:
        status = 1
        try:
            os.read(ready[0], 1)
            write(f"/proc/{me}/uid_map", everybody_here("/proc/self/uid_map"))
            write(f"/proc/{me}/gid_map", everybody_here("/proc/self/gid_map"))
            status = 0
        finally:
            os.write(done[1], b"." if status == 0 else b"!")
            os._exit(status)
    call("unshare", _libc.unshare(NEW_USERS | NEW_MOUNTS))
    os.write(ready[1], b".")
    answer = os.read(done[0], 1)
    os.waitpid(writer, 0)
    for descriptor in (*ready, *done):
        os.close(descriptor)
    if answer != b".":
        raise StageError("the map of users cannot be written")


def everybody_here(path: str) -> str:
    """A map of everybody this namespace knows, each to itself: in a container that need not be the whole range."""
    with open(path, encoding="ascii") as file:
        ranges = [line.split() for line in file]
    return "\n".join(f"{inside} {inside} {count}" for inside, _, count in ranges)


def write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise StageError(f"{path}: {error.strerror}") from None


def mount_trees(box: str, trees: list[dict[str, Any]]) -> None:
    """One overlay a tree, over folders named from the box on, so that many layers fit into the kernel's one page."""
    os.chdir(box)
    for tree in trees:
        target = os.path.join("merged", tree["at"]) if tree["at"] else "merged"
        options = (
            f"lowerdir={':'.join(tree['lower'])},upperdir={tree['upper']},workdir={tree['work']},userxattr,volatile"
        )
        mount("overlay", target, "overlay", 0, options)


def main() -> NoReturn:
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        settings = json.load(file)
    for cgroup in settings["cgroups"]:
        write(cgroup, str(os.getpid()))
    enter_user_namespace(settings["everybody"])
    mount("none", "/", "", RECURSIVE | PRIVATE, "")
    mount_trees(settings["box"], settings["trees"])
    os.chdir("/")
    for name, value in settings["limits"].items():
        limit = getattr(resource, name)
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    if settings["cores"]:
        os.sched_setaffinity(0, settings["cores"])
    os.umask(0o022)
    os.execv(settings["argv"][0], settings["argv"])  # noqa: S606  # no shell between


if __name__ == "__main__":
    try:
        main()
    except (StageError, OSError) as error:
        sys.stderr.write(f"stage: {error}\n")
        sys.exit(71)
