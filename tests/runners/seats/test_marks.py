"""What the shell tells of its commands, among what it shows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.runners.seats.marks import LONGEST, Back, Grade, Marks, Ran

SHOWN = b"before\x1b]7770;tok;ran;  12  ls -l\aafter\x1b]7770;tok;back;3\a\x1b[1mprompt\x1b]7770;tok;grade\aend"
FOUND = [b"before", Ran("ls -l"), b"after", Back(3), b"\x1b[1mprompt", Grade(), b"end"]


def fed(pieces: list[bytes], name: str = "tok") -> list[object]:
    """What is found, with what is shown in a row put together."""
    marks, found = Marks(name), list[object]()
    for item in (item for piece in pieces for item in marks.feed(piece)):
        if isinstance(item, bytes) and found and isinstance(found[-1], bytes):
            found[-1] += item
        else:
            found.append(item)
    return found


@given(st.lists(st.integers(0, len(SHOWN)), max_size=8))
def test_marks_are_found_wherever_what_is_shown_is_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(SHOWN)]
    assert fed([SHOWN[start:end] for start, end in pairwise(edges)]) == FOUND


@given(st.binary(max_size=300))
def test_whatever_is_shown_breaks_nothing_and_nothing_of_it_is_lost(data: bytes) -> None:
    shown = b"".join(item for item in fed([data, b"\n"]) if isinstance(item, bytes))
    assert shown == data + b"\n"


@pytest.mark.parametrize("told", [b"\x1b]7770;other;grade\a", b"\x1b]7770;grade\a", b"\x1b]7771;tok;grade\a"])
def test_what_does_not_carry_the_token_is_shown_and_believed_by_nobody(told: bytes) -> None:
    assert fed([told]) == [told]


def test_a_mark_without_an_end_is_not_held_for_ever() -> None:
    endless = b"\x1b]7770;tok;ran;" + b"a" * (LONGEST + 1)
    assert fed([endless[:20], endless[20:]]) == [endless]
