"""The contents of a rendered document: its headings, as links."""

import re
from dataclasses import dataclass
from html import unescape

_HEADING = re.compile(r'<h([2-6]) id="(md-[^"]+)">(.*?)</h\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
FEWEST = 4
"""Headings below which a document is seen at a glance."""
_MOST = 80


@dataclass(frozen=True, slots=True)
class Heading:
    depth: int
    """0 for the highest that occurs, at most 1."""
    id: str
    text: str


def contents(html: str) -> tuple[Heading, ...]:
    """Headings of two levels of a document that `render_markdown` made; none when it is short."""
    found = [(int(level), id, unescape(_TAG.sub("", inner)).strip()) for level, id, inner in _HEADING.findall(html)]
    levels = sorted({level for level, _, text in found if text})[:2]
    kept = [Heading(levels.index(level), unescape(id), text) for level, id, text in found if text and level in levels]
    return tuple(kept[:_MOST]) if len(kept) >= FEWEST else ()
