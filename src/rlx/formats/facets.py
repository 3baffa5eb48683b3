"""Which facets tell the tasks of an environment apart."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rlx.model import Facets

_FEW: Final = 25
_MANY: Final = 60
_OFTEN: Final = 5


def metadata_facets(values: Sequence[Mapping[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """Metadata keys worth filtering by: 2 to 25 values, on a fifth of the tasks, at least half of them repeated;
    up to 60 where each is there five times on average."""
    tasks = len(values)
    keys = Counter(key for item in values for key in item)
    chosen = []
    for key, n in keys.most_common(30):
        counts = Counter(value for item in values for value in item.get(key, ()))
        repeated = sum(count for count in counts.values() if count > 1)
        most = _MANY if counts.total() >= len(counts) * _OFTEN else _FEW
        if 2 <= len(counts) <= most and n >= tasks / 5 and repeated >= counts.total() / 2:
            chosen.append(key)
    return tuple(chosen)


def tile_facet(facets: Iterable[Facets]) -> str | None:
    """The first of group, difficulty and category that falls into two to six parts."""
    known = list(facets)
    for key in ("group", "difficulty", "category"):
        counts = Counter(value for item in known for value in item.get(key, ()))
        if 2 <= len(counts) <= 6 and counts.total() >= len(known) * 0.6:
            return key
    return None
