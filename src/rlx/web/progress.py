"""A first reading in words: how much of its step is done, and how long the rest takes."""

from collections.abc import Mapping

from rlx.model import Progress
from rlx.texts import Say, say

STEPS = ("listing", "reading", "parsing", "saving")


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
