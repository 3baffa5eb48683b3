"""A first reading as events and in words: how much of its step is done, and how long the rest takes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from rlx.answers.shown import Json
from rlx.errors import UserError
from rlx.model import Progress
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.jsonable import object_json
from rlx.web.sse import Event

STEPS = ("listing", "reading", "parsing", "saving")


async def events(steps: AsyncIterator[Progress], after: int, language: str | None = None) -> AsyncIterator[Event]:
    """`steps` as events numbered after `after`, the last one `end`; with a language they also say it in words.

    States replace one another, so a visitor who comes back needs only those to come.
    """
    number = after
    with suppress(UserError):  # the page that is loaded at the end tells what went wrong
        async for step in steps:
            number += 1
            body: dict[str, Json] = object_json(step, DEFAULT)
            if language is not None:
                body["said"] = {name: words(text, language) for name, text in told(step).items()}
            yield Event(number, "progress", body)
    yield Event(number + 1, "end", None)


def told(progress: Progress) -> Mapping[str, Say]:
    """`count`, `tasks` and `left`, each where it is known."""
    found: dict[str, Say] = {}
    if progress.step == "listing" and progress.done:
        found["count"] = say("env.files_listed", n=progress.done)
    elif progress.step == "reading" and progress.total:
        found["count"] = say(f"env.{progress.unit}_read", done=progress.done, n=progress.total)
    if progress.tasks is not None:
        found["tasks"] = say("env.tasks_found", n=progress.tasks)
    if progress.left is not None:
        found["left"] = time_left(progress.left)
    return found


def time_left(seconds: float) -> Say:
    """In a unit one would say it in; no finer than it is known."""
    if seconds < 2:
        return say("env.moment_left")
    if seconds < 90:
        return say("env.seconds_left", n=int(seconds) if seconds < 20 else round(seconds / 5) * 5)
    return say("env.minutes_left", n=round(seconds / 60))
