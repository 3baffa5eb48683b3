"""Amounts and lists as one would say them."""

from collections.abc import Sequence

from rlx.texts import Say, say


def duration(seconds: float) -> Say:
    """A time limit in the unit one would say it in."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= size and (seconds % size == 0 or seconds >= 10 * size):
            return say(f"harbor.time.{unit}", n=round(seconds / size))
    return say("harbor.time.seconds", n=int(seconds) if seconds == int(seconds) else round(seconds, 1))


def listed(words: Sequence[str]) -> Say | str:
    """Words as one says a list."""
    if len(words) < 2:
        return words[0] if words else ""
    return say("harbor.list", most=", ".join(words[:-1]), last=words[-1])


def none_of(words: Sequence[str]) -> Say | str:
    """Words as one lists what is not there."""
    if len(words) < 2:
        return words[0] if words else ""
    return say("harbor.none_of", most=", ".join(words[:-1]), last=words[-1])
