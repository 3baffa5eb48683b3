"""The filter, worked out here instruction by instruction: what it denies, allows and pretends."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.local.seccomp import MACHINES, program

ALLOW = 0x7FFF0000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
EVERYDAY = {
    "x86_64": {"read": 0, "openat": 257, "execve": 59, "fork": 57, "futex": 202, "chroot": 161, "fchmodat2": 452},
    "aarch64": {"read": 63, "openat": 56, "execve": 221, "futex": 98, "chroot": 51, "fchmodat2": 452},
}


def verdict(code: bytes, machine: int, number: int, *arguments: int) -> int:
    """What the kernel would answer, by the rules of classic BPF."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *(*arguments, *[0] * (6 - len(arguments))))
    instructions = list(struct.iter_unpack("=HBBI", code))
    loaded = at = 0
    while True:
        what, if_true, if_false, operand = instructions[at]
        at += 1
        match what:
            case 0x20:
                (loaded,) = struct.unpack_from("=I", data, operand)
            case 0x06:
                return int(operand)
            case 0x15:
                at += if_true if loaded == operand else if_false
            case 0x25:
                at += if_true if loaded > operand else if_false
            case 0x45:
                at += if_true if loaded & operand else if_false
            case _:
                raise AssertionError(what)


def denied(number: int) -> int:
    return 0x00050000 | number


@pytest.mark.parametrize("machine", MACHINES)
def test_everyday_calls_are_allowed(machine: str) -> None:
    code = program(machine, pretend_ids=False)
    for name, number in EVERYDAY[machine].items():
        assert verdict(code, AUDIT[machine], number) == ALLOW, name


@pytest.mark.parametrize(("machine", "mount", "setns"), [("x86_64", 165, 308), ("aarch64", 40, 268)])
def test_calls_that_lead_out_are_denied(machine: str, mount: int, setns: int) -> None:
    code = program(machine, pretend_ids=False)
    for number in (mount, setns, 442, 425):
        assert verdict(code, AUDIT[machine], number) == denied(errno.EPERM)


@pytest.mark.parametrize("flag", [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_clone_into_a_namespace_is_denied_and_a_thread_is_not(flag: int) -> None:
    code = program("x86_64", pretend_ids=False)
    assert verdict(code, AUDIT["x86_64"], 56, flag | 17) == denied(errno.EPERM)
    assert verdict(code, AUDIT["x86_64"], 56, 0x003D0F00) == ALLOW
    assert verdict(code, AUDIT["x86_64"], 435) == denied(errno.ENOSYS)


def test_arguments_decide_of_terminals_sockets_and_tracing() -> None:
    code = program("x86_64", pretend_ids=False)
    for number, arguments in (
        (16, (0, 0x5412)),
        (16, (0, 0x541C)),
        (41, (40,)),
        (41, (38,)),
        (101, (16,)),
        (101, (0x4206,)),
    ):
        assert verdict(code, AUDIT["x86_64"], number, *arguments) == denied(errno.EPERM)
    for number, arguments in ((16, (0, 0x5401)), (41, (2,)), (41, (1,)), (101, (0,))):
        assert verdict(code, AUDIT["x86_64"], number, *arguments) == ALLOW


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_another_architecture_never_gets_through(machine: int, number: int) -> None:
    code = program("x86_64", pretend_ids=True)
    if machine != AUDIT["x86_64"]:
        assert verdict(code, machine, number) == denied(errno.ENOSYS)


@given(st.integers(467, 2**32 - 1))
def test_calls_nobody_knew_are_not_there(number: int) -> None:
    for machine in MACHINES:
        assert verdict(program(machine, pretend_ids=False), AUDIT[machine], number) == denied(errno.ENOSYS)


def test_changes_of_owner_are_pretended_only_where_there_is_one_user() -> None:
    for number in (92, 260, 105, 116):
        assert verdict(program("x86_64", pretend_ids=True), AUDIT["x86_64"], number) == denied(0)
        assert verdict(program("x86_64", pretend_ids=False), AUDIT["x86_64"], number) == ALLOW
