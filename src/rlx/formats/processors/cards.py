"""What lists say of a row: a title, a brief and facets, from masked values."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rlx.answers import Shown, name
from rlx.answers.shown import MARK, Json
from rlx.formats.prose import MAX_TITLE, heading, is_title, paragraphs, shorten, tidy
from rlx.model import Facets

SEARCHED: Final = 4000
"""Characters of a row's text that are searched."""
_LEAST: Final = 20
"""Characters that are left of a title, however much is told beside it."""
_MAX_VALUE: Final = 60
_DIFFICULTY: Final = ("difficulty", "difficulty_tier", "difficulty_level", "level")
_CATEGORY: Final = (
    *("category", "domain", "subject", "topic", "task_type", "type", "ability", "task", "subcategory", "subset"),
)
_TAGS: Final = ("tags", "keywords")
_NO_FACET: Final = re.compile(
    r"(^|_)(id|ids|idx|index|uuid|guid|hash|sha|path|paths|url|urls|license|licence|date|time|timestamp|created|updated"
    r"|name|title|canary|email|author|notes?)(_|$)"
)
"""Columns that name rows or tell where they come from: nothing to filter by."""


def title_of(text: str, *others: str | None) -> Shown:
    """The first of `others` that makes a title, else the heading of `text`, else its first words. One line."""
    for other in others:
        words = tidy(other or "")
        if words and words != MARK:
            return name(shorten(words, MAX_TITLE))
    found = heading(text)
    if found is None:
        told = paragraphs(text, 1)
        found = told[0] if told else tidy(text)
    return name(shorten(found, MAX_TITLE))


def apart(title: str, *told: str) -> Shown:
    """`title` with what tells its row from others of the same title, cut before that where it is too long."""
    beside = "".join(f" · {tidy(item)}" for item in told if tidy(item))
    if len(title) + len(beside) > MAX_TITLE:
        title = _cut(title, max(MAX_TITLE - len(beside), _LEAST))
    return name(_cut(f"{title}{beside}", MAX_TITLE))


def _cut(words: str, limit: int) -> str:
    """Cut at a word, or in one where much would be lost, as of names of files."""
    told = shorten(words, limit)
    return told if len(words) <= limit or len(told) > limit - _LEAST else f"{words[: limit - 1].rstrip()}…"


def repeated(titles: Iterable[str]) -> bool:
    """Whether more than half of rows share their titles with others, so that more must tell them apart."""
    known = Counter(titles)
    return sum(n for n in known.values() if n > 1) * 2 > sum(known.values())


def brief_of(text: str, title: str = "") -> Shown:
    """The first paragraph that says more than `title`, from where it goes on after it; nothing where there is none."""
    start = title.removesuffix("…")
    for paragraph in paragraphs(text):
        if paragraph != title:
            goes_on = paragraph.startswith(start) and start != title
            return name(f"…{paragraph[len(start) :].lstrip()}" if goes_on else paragraph)
    return name("")


def is_name(text: object) -> bool:
    """Whether a value is short enough to call a row by, and says something."""
    return isinstance(text, str) and is_title(tidy(text))


def searched(texts: Iterable[str]) -> str:
    """What is searched of a row: the beginning of what is shown of it."""
    kept: list[str] = []
    left = SEARCHED
    for text in texts:
        kept.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return " ".join(kept)


def usual_facets(row: Mapping[str, Json], used: Iterable[str] = ()) -> Facets:
    """Difficulty, category and tags by the usual columns, and `meta:<column>` for other short values.

    `used` are columns that are no facets: prompts, ids, what a processor makes facets of itself. Which of the `meta:`
    ones tell rows apart is seen when all are there.
    """
    found: dict[str, tuple[Shown, ...]] = {}
    taken = set(used)
    for key, columns in (("difficulty", _DIFFICULTY), ("category", _CATEGORY), ("tags", _TAGS)):
        column = next((item for item in columns if item not in taken and _values(row.get(item))), None)
        if column is not None:
            taken.add(column)
            found[key] = _values(row[column])
    for column, value in row.items():
        if column in taken or _NO_FACET.search(column.lower()) or not re.fullmatch(r"\w[\w.-]{0,39}", column):
            continue
        values = _values(value)
        if values:
            found[f"meta:{column}"] = values
    return found


def filled(facets: Facets) -> Facets:
    """Without values of which nothing is left to read."""
    kept = {key: tuple(value for value in values if value.strip()) for key, values in facets.items()}
    return {key: values for key, values in kept.items() if values}


def _values(value: Json) -> tuple[Shown, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(shown for raw in items[:20] for item in _value(raw) if (shown := name(item)).strip()))


def _value(value: Json) -> Iterator[str]:
    if isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, str) and 0 < len(value.strip()) <= _MAX_VALUE and value != MARK and "\n" not in value:
        yield value.strip()
