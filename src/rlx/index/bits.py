"""Sets of places as the bits of one integer: filtering is an `and`, counting a population count."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice

_FLAGS = bytes.maketrans(b"01", b"\0\1")
"""From binary digits to what `compress` takes: thousands of places are sifted without a step of Python for each."""


def bits(places: Iterable[int], size: int) -> int:
    """The set of `places` below `size`."""
    flags = bytearray(size // 8 + 1)
    for place in places:
        flags[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(flags, "little")


def intersect(mask: int, others: Iterable[int]) -> int:
    for other in others:
        mask &= other
    return mask


def sift(order: Sequence[int], mask: int, size: int, start: int, stop: int) -> Iterator[int]:
    """Those of `order` that are in `mask`, from the `start`th of them to before the `stop`th."""
    flags = f"{mask:b}"[::-1].encode().translate(_FLAGS).ljust(size, b"\0")
    return islice(compress(order, map(flags.__getitem__, order)), start, stop)
