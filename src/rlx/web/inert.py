"""Characters that hide, reorder or command are spelled out, so that what a reader sees is what is there."""

import re
import unicodedata

from markupsafe import Markup, escape

_ANSI = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])"
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_REORDERING = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SMUGGLED = r"\U000e0000-\U000e01ef"
_EMPTY = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200d\u2028\u2029\u2060-\u2064\u206a-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_MARKED = re.compile(f"{_ANSI}|[{_CONTROL}{_REORDERING}{_EMPTY}{_SMUGGLED}]")
# Joiners and soft hyphens are part of ordinary words and emoji, so a title keeps them.
_SPELLED = re.compile(f"{_ANSI}|[{_CONTROL}{_REORDERING}{_SMUGGLED}\u2028\u2029]")


def has_marks(text: str) -> bool:
    return _MARKED.search(text) is not None


def count(text: str) -> int:
    """How many characters and sequences `mark` would spell out."""
    return sum(1 for _ in _MARKED.finditer(text))


def mark(text: str) -> Markup:
    """HTML of `text` with every invisible or commanding character as a visible, marked span."""
    if not has_marks(text):
        return escape(text)
    parts: list[str] = []
    end = 0
    for found in _MARKED.finditer(text):
        label = _label(found[0])
        title = _name(found[0])
        codes = " ".join(f"{ord(char):x}" for char in found[0])
        parts += [
            escape(text[end : found.start()]),
            f'<span class="inv" title="{escape(title)}" data-u="{codes}">{escape(label)}</span>',
        ]
        end = found.end()
    return Markup("".join([*parts, escape(text[end:])]))  # noqa: S704 - every part is escaped above


def spell(text: str) -> str:
    """`text` for a title or a label: what would command a terminal or reorder a line is written as its code."""
    return _SPELLED.sub(lambda found: f"⟨{_label(found[0])}⟩", text)


def _label(found: str) -> str:
    if len(found) > 1:
        return f"ESC{_MARKED.sub(lambda inner: f' U+{ord(inner[0]):04X}', found[1:])}"
    return f"U+{ord(found):04X}"


def _name(found: str) -> str:
    return "ANSI escape sequence" if len(found) > 1 else unicodedata.name(found, "control character").lower()
