"""What other distributions register with this one, by entry-point group.

Looking through everything that is installed takes tens of milliseconds, and pages ask several times: it is done once
for each import path.
"""

import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def registered(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group; what is installed into the same folders later is found by the next process."""
    return _found(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _found(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))
