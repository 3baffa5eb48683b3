"""Makes text harmless to a terminal: control sequences, direction marks and invisible characters become visible."""

import json
import re

_HIDDEN = "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_HIDDEN}\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{_HIDDEN}\ud800-\udfff]")


def inert(text: str) -> str:
    """`text` with whatever could move the cursor, colour, reorder or hide shown as its code, such as `<U+001B>`.

    Newlines and tabs stay; a carriage return before a newline goes.
    """
    return _UNSAFE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`text` harmless and on one line, without tabs."""
    return inert(" ".join(text.split()))


def inert_json(text: str) -> str:
    """Encoded JSON with the same characters as `\\u` escapes: the same value, and harmless."""
    return _UNSAFE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)
