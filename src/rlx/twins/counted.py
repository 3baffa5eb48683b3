"""How many a list holds, which of them stand here, and why there are none."""

from collections.abc import Iterator, Sequence

from rlx.model import EnvPage, Page, TaskCard, TaskHits, Unknown
from rlx.texts import Say, say, words
from rlx.texts.figures import number
from rlx.twins.inline import line

_LONGEST = 80
"""Characters of a filter that are told."""


def unknown_texts(filters: Sequence[Unknown]) -> tuple[Say, ...]:
    """A sentence for each filter that nothing passes."""
    return tuple(map(_unknown, filters))


def counted_parts(page: EnvPage | Page[TaskCard] | TaskHits, language: str, *, asked: bool) -> Iterator[str]:
    """Which items of how many these are; of an empty list, whether that is for what was `asked`."""
    last = page.offset + len(page.items)
    if page.items:
        more = isinstance(page, TaskHits) and page.more
        total = f"{number(page.total)}{'+' if more else ''}"
        yield words(say("twins.range", first=number(page.offset + 1), last=number(last), total=total), language)
    elif page.total and page.offset:
        yield words(say("twins.past_end", n=page.total), language)
    elif page.total:
        yield words(say("twins.range", first="0", last="0", total=number(page.total)), language)
    elif asked or not (isinstance(page, Page) and page.note is not None):
        yield words(say("twins.nothing_found") if asked else say("twins.nothing_listed"), language)
    yield from (line(text, language) for text in unknown_texts(page.unknown))


def _unknown(item: Unknown) -> Say:
    key = item.key[:_LONGEST]
    if item.value is not None:
        return say("twins.no_value", key=key, value=item.value[:_LONGEST])
    return say("twins.no_facet", key=key, facets=", ".join(item.facets)) if item.facets else say("twins.no_facets")
