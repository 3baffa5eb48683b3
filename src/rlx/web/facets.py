"""Facet filters in a URL: `f=key:v1|v2;key2:v`, every key and value percent-encoded once inside.

The parameter may be repeated (a form of check boxes sends one a box); the same key's values are joined.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from rlx.errors import BadInput

MAX_KEYS = 12
MAX_VALUES = 30
_MAX_CHARS = 8_000


def parse_filters(parameters: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Filters of every `f` parameter. Raises `BadInput` past the limits or for a part without a colon."""
    if sum(map(len, parameters)) > _MAX_CHARS:
        raise BadInput(f"The filters are longer than {_MAX_CHARS:,} characters.")
    found: dict[str, dict[str, None]] = {}
    for part in (part for parameter in parameters for part in parameter.split(";") if part):
        key, colon, values = part.partition(":")
        if not (colon and key):
            raise BadInput(f"{part[:80]!r} is not a filter.", hint="Filters look like key:value|value;key:value.")
        kept = found.setdefault(_decode(key), {})
        kept.update((_decode(value), None) for value in values.split("|") if value)
    chosen = {key: tuple(values) for key, values in found.items() if values}
    if len(chosen) > MAX_KEYS or any(len(values) > MAX_VALUES for values in chosen.values()):
        raise BadInput(f"At most {MAX_KEYS} filters of {MAX_VALUES} values each can be in force.")
    return chosen


def format_filters(filters: Mapping[str, Sequence[str]]) -> str:
    """Inverse of `parse_filters`, in the order of the mapping."""
    return ";".join(
        f"{quote(key, safe='')}:{'|'.join(quote(value, safe='') for value in values)}"
        for key, values in filters.items()
        if values
    )


def box(key: str, value: str) -> str:
    """What one check box of a facet form sends as `f`."""
    return format_filters({key: (value,)})


def _decode(text: str) -> str:
    decoded = unquote(text, errors="replace")
    if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in decoded):
        raise BadInput("A filter holds control characters.")
    return decoded
