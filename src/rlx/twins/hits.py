"""Tasks that were found across environments, as Markdown."""

from collections.abc import Iterator, Sequence

from rlx.model import TaskHit, TaskHits
from rlx.texts import DEFAULT, say, words
from rlx.texts.figures import number
from rlx.twins.inline import line
from rlx.twins.parts import NOWHERE, Addresses, facet_parts, fact, join


def hits_markdown(
    page: TaskHits, language: str = DEFAULT, *, at: Addresses = NOWHERE, following: str | None = None
) -> str:
    """One page: how many there are, which these are with their environments, what they can be filtered by.

    `at` says where links lead, `following` is the path of the next page.
    """
    parts = [f"# {words(say('twins.hits'), language)}", *_counted(page, language)]
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


def _counted(page: TaskHits, language: str) -> Iterator[str]:
    if page.offset and not page.items:
        yield words(say("twins.past_end", n=page.total), language)
        return
    last = page.offset + len(page.items)
    total = f"{number(page.total)}{'+' if page.more else ''}"
    first = number(min(page.offset + 1, last))
    yield words(say("twins.range", first=first, last=number(last), total=total), language)
    if page.more:
        yield words(say("tasks.cut", n=page.total), language)
