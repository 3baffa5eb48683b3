"""Tasks that were found across environments, as Markdown."""

from collections.abc import Iterator, Sequence

from rlx.model import TaskHit, TaskHits
from rlx.texts import DEFAULT, say, words
from rlx.twins.counted import counted_parts
from rlx.twins.inline import line
from rlx.twins.parts import NOWHERE, Addresses, facet_parts, fact, join


def hits_markdown(
    page: TaskHits,
    language: str = DEFAULT,
    *,
    at: Addresses = NOWHERE,
    following: str | None = None,
    asked: bool = False,
) -> str:
    """One page: how many there are, which these are with their environments, what they can be filtered by.

    `at` says where links lead, `following` is the path of the next page, `asked` whether anything was asked for.
    """
    parts = [f"# {words(say('twins.hits'), language)}", *counted_parts(page, language, asked=asked)]
    if page.more and page.items:
        parts.append(words(say("tasks.cut", n=page.total), language))
    parts.append("\n".join(hit_lines(page.items, at, language)))
    url = at.twin(following) if following is not None else None
    if url is not None:
        parts.append(fact(say("twins.next_page"), f"<{url}>", language))
    return join([*parts, *facet_parts(page.facets, language)])


def hit_lines(hits: Sequence[TaskHit], at: Addresses, language: str) -> Iterator[str]:
    """A line each: the task, its environment, what it is called and about."""
    for hit in hits:
        told = [line(text, language) for text in (hit.card.title, hit.card.brief) if text and text != hit.card.ref]
        place = words(say("twins.hit_in", task=at.task(hit.key, hit.card.ref), env=at.env(hit.key)), language)
        yield f"- {place}{': ' if told else ''}{': '.join(told)}"
