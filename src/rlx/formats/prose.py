"""Prose of a prompt in a list: a heading, the first paragraphs, cut to size."""

import re
from collections.abc import Iterator

MAX_BRIEF = 280
MAX_TITLE = 90
PARAGRAPHS = 6
"""Paragraphs that may serve as a brief, when the ones before are shared by many tasks."""

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^#{1,4}\s+(.*?)\s*#*$")
_ASIDE = re.compile(r"^\s*(<!--.*-->|[-=*_]{3,}|\|.*\||<[^>]*>)\s*$")
_LEAD = re.compile(r"^\s*(?:>\s?|[-*+]\s+|\d{1,3}[.)]\s+)+")
_LINK = re.compile(r"!?\[([^\]\[]{0,300})\]\([^()\s]{0,500}\)")
_MARKS = re.compile(r"(\*\*|__|`)")
_PLACEHOLDER = re.compile(r"\{[^{}]{0,80}\}|__[A-Z_]+__|\bTODO\b")
_GENERIC = re.compile(
    r"tasks?|instructions?|description|overview|background|introduction|problem|prompt|goal|objective|summary|context"
    r"|requirements|question|setup|readme|example|the|a|an|of|your|statement|original|contest|and"
)
"""Words that alone make no title."""


def heading(text: str) -> str | None:
    """The first heading, when it stands before any prose, says more than `Task` and is short enough for a title."""
    for line in text.split("\n")[:40]:
        if not line.strip() or _ASIDE.match(line):
            continue
        found = _HEADING.match(line.strip())
        if not found:
            return None
        words = tidy(found[1])
        return words if is_title(words) else None
    return None


def is_title(words: str) -> bool:
    """Short, of one line, no placeholder of a template, and not merely the name of a section."""
    if not 3 <= len(words) <= MAX_TITLE or "\n" in words or _PLACEHOLDER.search(words):
        return False
    told = [word for word in re.findall(r"[a-z]+", words.lower()) if not _GENERIC.fullmatch(word)]
    return bool(told) or not words.isascii()


def paragraphs(text: str, limit: int = PARAGRAPHS) -> tuple[str, ...]:
    """The first paragraphs of prose as plain text, each at most a brief long. Headings, code and rules are left out."""
    found: list[str] = []
    for block in _blocks(text[:20_000]):
        words = tidy(" ".join(_LEAD.sub("", line) for line in block))
        if any(char.isalpha() for char in _PLACEHOLDER.sub("", words)):
            found.append(shorten(words))
            if len(found) == limit:
                break
    return tuple(found)


def tidy(words: str) -> str:
    """Markdown's links and marks away, white space to single spaces."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", words)).split())


def shorten(words: str, limit: int = MAX_BRIEF) -> str:
    """Cut at a word, with an ellipsis."""
    if len(words) <= limit:
        return words
    cut = words[: limit - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (fence is None or mark[1] == fence):
            fence = mark[1] if fence is None else None
            line = ""
        elif fence is not None:
            continue
        if not line.strip() or _HEADING.match(line.strip()) or _ASIDE.match(line):
            if block:
                yield block
            block = []
        else:
            block.append(line)
    if block:
        yield block
