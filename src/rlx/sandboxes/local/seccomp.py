"""The filter of system calls in a sandbox, as a program for the kernel. Pure.

What it denies is what Docker's default profile denies without privileges: changing mounts, namespaces, modules, keys,
clocks and other processes' memory. Everything else is allowed, up to the last call known when this was written.
"""

import errno
import struct
from collections.abc import Mapping, Sequence

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in `struct seccomp_data`; of arguments the low halves, on little-endian machines."""
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW*: mount, cgroup, uts, ipc, user, pid, net."""
_LAST_KNOWN = 466
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into the terminal of whoever started a process."""
_HOST_SOCKETS = (38, 40)
"""AF_ALG reaches into the kernel; AF_VSOCK leads to the machine below, past every network namespace."""
_PTRACE_OTHERS = (16, 0x4206)
"""PTRACE_ATTACH and PTRACE_SEIZE. Tracing a child of one's own, as debuggers do, is left."""

_BOTH = {
    "mount_setattr": 442,
    "move_mount": 429,
    "open_tree": 428,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "quotactl_fd": 443,
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "process_madvise": 440,
    "statmount": 457,
    "listmount": 458,
}
_DENIED: Mapping[str, Mapping[str, int]] = {
    "x86_64": _BOTH
    | {
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "setns": 308,
        "unshare": 272,
        "keyctl": 250,
        "add_key": 248,
        "request_key": 249,
        "bpf": 321,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "kexec_load": 246,
        "kexec_file_load": 320,
        "create_module": 174,
        "init_module": 175,
        "finit_module": 313,
        "delete_module": 176,
        "get_kernel_syms": 177,
        "query_module": 178,
        "iopl": 172,
        "ioperm": 173,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "acct": 163,
        "quotactl": 179,
        "nfsservctl": 180,
        "lookup_dcookie": 212,
        "syslog": 103,
        "vhangup": 153,
        "settimeofday": 164,
        "clock_settime": 227,
        "clock_adjtime": 305,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
        "fanotify_init": 300,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "kcmp": 312,
        "migrate_pages": 256,
        "move_pages": 279,
        "uselib": 134,
        "ustat": 136,
        "sysfs": 139,
        "_sysctl": 156,
    },
    "aarch64": _BOTH
    | {
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "setns": 268,
        "unshare": 97,
        "keyctl": 219,
        "add_key": 217,
        "request_key": 218,
        "bpf": 280,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "kexec_load": 104,
        "kexec_file_load": 294,
        "init_module": 105,
        "finit_module": 273,
        "delete_module": 106,
        "swapon": 224,
        "swapoff": 225,
        "reboot": 142,
        "acct": 89,
        "quotactl": 60,
        "nfsservctl": 42,
        "lookup_dcookie": 18,
        "syslog": 116,
        "vhangup": 58,
        "settimeofday": 170,
        "clock_settime": 112,
        "clock_adjtime": 266,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
        "fanotify_init": 262,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "kcmp": 272,
        "migrate_pages": 238,
        "move_pages": 239,
    },
}
_PRETENDED: Mapping[str, Sequence[int]] = {
    # chown, fchown, lchown, fchownat; setuid, setgid, setreuid, setregid, setresuid, setresgid, setgroups, setfs?id
    "x86_64": (92, 93, 94, 260, 105, 106, 113, 114, 117, 119, 116, 122, 123),
    "aarch64": (55, 54, 146, 144, 145, 143, 147, 149, 159, 151, 152),
}
_WITH_ARGUMENTS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {"clone": 56, "ioctl": 16, "socket": 41, "ptrace": 101},
    "aarch64": {"clone": 220, "ioctl": 29, "socket": 198, "ptrace": 117},
}
_CLONE3 = 435
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINES = tuple(_AUDIT)
"""Those that there is a filter for, as `platform.machine()` names them."""


def program(machine: str, *, pretend_ids: bool) -> bytes:
    """Instructions of classic BPF, as `bwrap --seccomp` reads them.

    With `pretend_ids` changes of owner and identity succeed and do nothing: all there is where a namespace has one
    user, and what package managers need. Raises `KeyError` for a machine that is not in `MACHINES`.
    """
    code = _Code()
    code.add(_LOAD, _ARCHITECTURE)
    code.unless(_JUMP_EQUAL, _AUDIT[machine], _errno(errno.ENOSYS))
    code.add(_LOAD, _NUMBER)
    if machine == "x86_64":
        code.when(_JUMP_ABOVE, _X32 - 1, _errno(errno.ENOSYS))
    code.when(_JUMP_ABOVE, _LAST_KNOWN, _errno(errno.ENOSYS))
    # glibc falls back to clone, whose flags can be looked at: those of clone3 are behind a pointer.
    code.when(_JUMP_EQUAL, _CLONE3, _errno(errno.ENOSYS))
    if pretend_ids:
        for number in _PRETENDED[machine]:
            code.when(_JUMP_EQUAL, number, _errno(0))
    for number in sorted(_DENIED[machine].values()):
        code.when(_JUMP_EQUAL, number, _errno(errno.EPERM))
    numbers = _WITH_ARGUMENTS[machine]
    code.look(numbers["clone"], _FIRST, _JUMP_SET, (_NEW_NAMESPACES,))
    code.look(numbers["ioctl"], _SECOND, _JUMP_EQUAL, _TERMINAL_INPUT)
    code.look(numbers["socket"], _FIRST, _JUMP_EQUAL, _HOST_SOCKETS)
    code.look(numbers["ptrace"], _FIRST, _JUMP_EQUAL, _PTRACE_OTHERS)
    code.add(_RETURN, _ALLOW)
    return code.bytes()


def _errno(number: int) -> int:
    return _ERRNO | number


class _Code:
    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int]] = []

    def add(self, code: int, operand: int, if_true: int = 0, if_false: int = 0) -> None:
        self._instructions.append((code, if_true, if_false, operand))

    def when(self, test: int, operand: int, verdict: int) -> None:
        self.add(test, operand, 0, 1)
        self.add(_RETURN, verdict)

    def unless(self, test: int, operand: int, verdict: int) -> None:
        self.add(test, operand, 1, 0)
        self.add(_RETURN, verdict)

    def look(self, number: int, argument: int, test: int, values: Sequence[int]) -> None:
        """Deny a call whose argument is one of `values`, or has a bit of them; else allow it."""
        self.add(_JUMP_EQUAL, number, 0, 2 * len(values) + 2)
        self.add(_LOAD, argument)
        for value in values:
            self.when(test, value, _errno(errno.EPERM))
        self.add(_RETURN, _ALLOW)

    def bytes(self) -> bytes:
        return b"".join(struct.pack("=HBBI", *instruction) for instruction in self._instructions)
