"""Numbers, sizes and times as people write them, by language. Pure: who asks says what time it is."""

from datetime import datetime

from rlx.texts import Say, say, words


def number(value: int | float) -> str:
    """Digits in groups of three, as both languages write them."""
    return f"{value:,}"


def size(count: int) -> str:
    """Bytes in decimal units."""
    amount, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def date(moment: datetime, language: str) -> str:
    """A day with its month in words where the language does so."""
    month = say(f"time.month_{moment.month}")
    return words(say("time.date", year=str(moment.year), month=month, day=moment.day), language)


def ago(moment: datetime, now: datetime) -> Say:
    """How long before `now`, in the largest unit that is full; what lies ahead counts as now."""
    seconds = (now - moment).total_seconds()
    for unit, length in _UNITS:
        if seconds >= length:
            return say(f"time.{unit}_ago", n=int(seconds // length))
    return say("time.just_now")


_DAY = 86_400
_UNITS = (
    ("years", 365 * _DAY),
    ("months", 30 * _DAY),
    ("days", _DAY),
    ("hours", 3600),
    ("minutes", 60),
)
