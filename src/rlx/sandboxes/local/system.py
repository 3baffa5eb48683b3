"""The base of every sandbox: this host's own system, without what is this host's alone.

`/usr` is used as it is. `/etc` and what package managers keep in `/var` are copied, as far as every user of the host
may read them, without persons, passwords, keys and host names. All else (`/home`, `/root`, `/opt`, `/srv`) is empty.
"""

import hashlib
import json
import os
import shutil
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

VERSION = 1
"""Raised when the base comes to hold something else for the same host."""
LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
EMPTY = (
    *("boot", "dev", "home", "media", "mnt", "opt", "proc", "root", "run", "run/lock", "srv", "sys", "tmp", "usr"),
    *("var", "var/cache", "var/cache/apt/archives/partial", "var/lib", "var/lib/apt/lists/partial", "var/local"),
    *("var/log/apt", "var/mail", "var/opt", "var/spool", "var/tmp", ".rlx/py", ".rlx/inside"),
)
PACKAGES = ("dpkg", "pam", "python", "sgml-base", "shells.state", "ucf", "vim", "xml-core")
"""What of `/var/lib` belongs to the system as it is installed."""
LEFT_OUT = {
    *("ssh", "machine-id", "hostname", "hosts", "resolv.conf", "mtab", "fstab", "environment", "krb5.keytab"),
    *("passwd-", "group-", "shadow-", "gshadow-", "subuid", "subuid-", "subgid", "subgid-", "sudoers.d", "netplan"),
    *("NetworkManager", "wireguard", "kubernetes", "docker", "crontab", "cron.d", "rc.local", "issue.net", "motd"),
}
FIRST_PERSON, NOBODY = 1000, 65534
MODES = {"shadow": 0o600, "gshadow": 0o600, "sudoers": 0o440}
LARGEST = 16 * 1024 * 1024
HOSTS = "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n"


def base_key(*, everybody: bool) -> str:
    """Changes when the host's system does. Blocks for some milliseconds when it is first asked."""
    status = Path("/var/lib/dpkg/status")
    stamps = tuple(path.stat().st_mtime_ns for path in (Path("/etc"), Path("/usr/bin"), status) if path.exists())
    return _key(everybody, stamps)


@lru_cache(4)
def _key(everybody: bool, stamps: tuple[int, ...]) -> str:
    told = [str(VERSION), str(everybody), *map(str, stamps)]
    for here, folders, names in os.walk("/etc"):
        folders.sort()
        for name in sorted(names):
            with suppress(OSError):
                status = os.lstat(os.path.join(here, name))
                told.append(f"{here}/{name} {status.st_mtime_ns} {status.st_size} {status.st_mode}")
    return f"base-{hashlib.sha256(json.dumps(told).encode('utf-8', 'surrogateescape')).hexdigest()[:40]}"


def build_base(into: Path, *, everybody: bool) -> None:
    """Fill the empty folder of a layer. With `everybody` every user of the host exists in sandboxes, else root."""
    root = into / "root"
    root.mkdir()
    for name in LINKS:
        if Path("/", name).is_symlink():
            (root / name).symlink_to(os.readlink(Path("/", name)))
    for name in EMPTY:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, mode in (("tmp", 0o1777), ("var/tmp", 0o1777), ("root", 0o700), ("run/lock", 0o1777)):
        (root / name).chmod(mode)
    (root / "var/run").symlink_to("/run")
    (root / "var/lock").symlink_to("/run/lock")
    _copy_tree(Path("/etc"), root / "etc", LEFT_OUT)
    for name in PACKAGES:
        _copy_tree(Path("/var/lib", name), root / "var/lib" / name, set())
    _write_etc(root / "etc")
    usr = into / "usr"
    usr.mkdir()
    if everybody:
        _hide_secrets(usr)
    else:
        _copy_folders(usr)


def _copy_tree(source: Path, target: Path, left_out: set[str]) -> None:
    """What every user of the host may read. Set-id bits are not kept, nor owners."""
    waiting = [(source, target)]
    while waiting:
        old, new = waiting.pop()
        with suppress(OSError):  # a package that is not installed, or changes just now
            status = old.lstat()
            if old.name in left_out and old.parent == source:
                continue
            if stat.S_ISLNK(status.st_mode):
                new.symlink_to(os.readlink(old))
            elif stat.S_ISDIR(status.st_mode) and status.st_mode & 0o005 == 0o005:
                new.mkdir(parents=True, exist_ok=True)
                new.chmod(0o755)
                waiting += [(child, new / child.name) for child in old.iterdir()]
            elif stat.S_ISREG(status.st_mode) and status.st_mode & 0o004 and status.st_size <= LARGEST:
                shutil.copyfile(old, new)
                new.chmod(stat.S_IMODE(status.st_mode) & 0o755 | 0o644)
                os.utime(new, ns=(status.st_mtime_ns, status.st_mtime_ns))


def _write_etc(etc: Path) -> None:
    users = [line for line in _lines("/etc/passwd", 7) if not _is_person(line[2])]
    groups = [[*line[:3], ""] for line in _lines("/etc/group", 4) if not _is_person(line[2])]
    texts = {
        "passwd": _joined([[line[0], "x", *line[2:]] for line in users]),
        "group": _joined([[line[0], "x", *line[2:]] for line in groups]),
        "shadow": _joined([[line[0], "*", "19000", "0", "99999", "7", "", "", ""] for line in users]),
        "gshadow": _joined([[line[0], "*", "", ""] for line in groups]),
        "hosts": HOSTS,
        "hostname": "sandbox\n",
        "resolv.conf": "# Names are resolved by the proxy, where there is one.\n",
    }
    if Path("/etc/sudoers").exists():
        texts["sudoers"] = "root ALL=(ALL:ALL) ALL\n"
    for name, text in texts.items():
        (etc / name).unlink(missing_ok=True)
        (etc / name).write_text(text)
        (etc / name).chmod(MODES.get(name, 0o644))
    (etc / "mtab").symlink_to("/proc/self/mounts")
    apt = etc / "apt/apt.conf.d"
    if apt.is_dir():
        # It would change to a user of its own, which is one too many where there is root alone.
        (apt / "99sandbox").write_text('APT::Sandbox::User "root";\n')


def _lines(path: str, columns: int) -> list[list[str]]:
    try:
        rows = [line.split(":") for line in Path(path).read_text("utf-8", "replace").splitlines()]
    except OSError:
        return []
    return [row for row in rows if len(row) == columns and row[2].isdigit()]


def _is_person(number: str) -> bool:
    return int(number) >= FIRST_PERSON and int(number) != NOBODY


def _joined(rows: list[list[str]]) -> str:
    return "".join(f"{':'.join(row)}\n" for row in rows)


def _hide_secrets(usr: Path) -> None:
    """Whiteouts over files of `/usr` that others than root may not read: root of a sandbox could."""
    for here, _, names in os.walk("/usr"):
        for name in names:
            path = os.path.join(here, name)
            with suppress(OSError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode) and not status.st_mode & 0o005:
                    hidden = usr / path.removeprefix("/usr/")
                    hidden.parent.mkdir(parents=True, exist_ok=True)
                    os.mknod(hidden, stat.S_IFCHR, os.makedev(0, 0))


def _copy_folders(usr: Path) -> None:
    """The folders of `/usr` again, owned by this user, for whom nothing could be made in root's."""
    for here, folders, _ in os.walk("/usr"):
        for name in folders:
            path = os.path.join(here, name)
            if not os.path.islink(path):
                (usr / path.removeprefix("/usr/")).mkdir(exist_ok=True)
