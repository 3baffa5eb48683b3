"""Facet values that come from a fixed list, as words of ours. Their ids are English and stand in URLs and JSON."""

import re
from functools import lru_cache

from rlx.texts import DEFAULT, Say, catalog, say

_GAP = re.compile(r"[^a-z0-9]+")


def facet_value[T: str](value: T, key: str) -> Say | T:
    """The text `value.<key>.<slug>` where there is one, else the value as it is."""
    return _named(str(value), key) or value


@lru_cache(4096)
def _named(value: str, key: str) -> Say | None:
    named = f"value.{key}.{_GAP.sub('_', value.lower()).strip('_')}"
    return say(named) if named in catalog(DEFAULT) else None
