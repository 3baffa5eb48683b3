"""One facet of all tasks, counted two ways: over some tasks, and over sets of them."""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter

from rlx.index.bits import bits

_BYTE = 256
"""Kinds of values, of one facet, that fit a byte."""


class FacetColumn:
    """`of_combo` are the values of each combination, `combo_of` the combination of each task."""

    def __init__(self, of_combo: Sequence[Sequence[str]], combo_of: Sequence[int]) -> None:
        codes: dict[tuple[str, ...], int] = {}
        code_of_combo = [codes.setdefault(tuple(values), len(codes)) for values in of_combo]
        self._values = tuple(codes)
        """By code: what tasks have together."""
        each = map(code_of_combo.__getitem__, combo_of)
        self._codes: bytes | array[int] = bytes(each) if len(codes) <= _BYTE else array("I", each)
        self._bits = self._sets()

    def counts_of(self, tasks: Sequence[int]) -> Mapping[str, int]:
        """How many of `tasks` have each value. The work grows with them."""
        if len(tasks) < 2:
            found: Iterable[int] = [self._codes[task] for task in tasks]
        else:
            found = itemgetter(*tasks)(self._codes)
        counts: Counter[str] = Counter()
        for code, n in self._counted(found).items():
            for value in self._values[code]:
                counts[value] += n
        return counts

    def _counted(self, codes: Iterable[int]) -> Mapping[int, int]:
        if not isinstance(self._codes, bytes):
            return Counter(codes)
        flat = bytes(codes)  # a byte is counted faster than an object
        return {code: n for code in range(len(self._values)) if (n := flat.count(code))}

    def counts_in(self, mask: int) -> Mapping[str, int]:
        """How many tasks of a set have each value. The work grows with the catalog, by the machine word."""
        return {value: (own & mask).bit_count() for value, own in self._bits.items()}

    @property
    def values(self) -> Collection[str]:
        """Those that occur."""
        return self._bits.keys()

    def any_of(self, values: Iterable[str]) -> int:
        """The set of tasks that have one of `values`."""
        mask = 0
        for value in values:
            mask |= self._bits.get(value, 0)
        return mask

    def _sets(self) -> dict[str, int]:
        by_code: list[list[int]] = [[] for _ in self._values]
        for task, code in enumerate(self._codes):
            by_code[code].append(task)
        sets: dict[str, int] = {}
        for values, tasks in zip(self._values, by_code, strict=True):
            mask = bits(tasks, len(self._codes)) if values else 0
            for value in values:
                sets[value] = sets.get(value, 0) | mask
        return sets
