"""Which pages of a long list are offered: the first, the last, and those around the one that is shown."""

from dataclasses import dataclass

_AROUND = 1


@dataclass(frozen=True, slots=True)
class Pager:
    here: int
    """1-based."""
    pages: int
    numbers: tuple[int | None, ...]
    """Pages to offer in order; None stands for those left out between."""


def pager(total: int, offset: int, limit: int) -> Pager:
    """Of a list of `total` items shown `limit` at a time. A page past the end counts as the one after the last."""
    pages = max(1, -(-total // limit))
    here = min(offset // limit + 1, pages + 1)
    near = range(max(1, here - _AROUND), min(pages, here + _AROUND) + 1)
    wanted = sorted({1, pages, *near})
    numbers: list[int | None] = []
    for number in wanted:
        last = numbers[-1] if numbers else 0
        if last and number == last + 2:
            numbers.append(number - 1)
        elif last and number > last + 2:
            numbers.append(None)
        numbers.append(number)
    return Pager(here, pages, tuple(numbers))
