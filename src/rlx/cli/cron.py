"""When a schedule runs, and its line for cron."""

import re
import shlex
from collections.abc import Mapping, Sequence

from rlx.errors import BadInput

NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_VALUE = r"[0-9]{1,2}|[a-z]{3}"
_PART = re.compile(rf"(?:\*|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?)(?:/(?P<step>[0-9]{{1,2}}))?")
_HINT = f"For example '17 * * * *', or one of: {', '.join(NICKNAMES)}."


def read_schedule(text: str) -> str:
    """Five fields of cron with one space between them, or a nickname of five. Raises `BadInput` with what is wrong."""
    if text.strip() in NICKNAMES:
        return text.strip()
    fields = text.split()
    if text.lstrip().startswith("@"):
        raise BadInput(f"--every {text[:60]!r} is no schedule that cron knows.", hint=_HINT)
    if len(fields) != len(_FIELDS):
        raise BadInput(f"--every {text[:60]!r} has {len(fields)} fields, not five.", hint=_HINT)
    for field, (name, least, most, names) in zip(fields, _FIELDS, strict=True):
        if not all(_is_part(part.lower(), least, most, names) for part in field.split(",")):
            raise BadInput(f"--every: {field[:60]!r} is no {name}, which is {least} to {most} or *.", hint=_HINT)
    return " ".join(fields)


def cron_line(schedule: str, command: Sequence[str], variables: Mapping[str, str]) -> str:
    """Runs `command` by `schedule` with `variables` set. Raises `BadInput` for what no line can hold."""
    words = [*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), *map(shlex.quote, command)]
    line = " ".join(words)
    if not line.isprintable():
        raise BadInput("A path with a line break or control characters cannot stand in a line for cron.")
    # Cron ends a command at the first `%` without a backslash, and takes a backslash before a backslash for its own.
    # What holds a backslash is quoted, so quotes can be closed and opened between the two.
    escaped = line.replace("\\%", "\\''%").replace("%", "\\%")
    return f"{schedule} {escaped}"


def _is_part(part: str, least: int, most: int, names: Sequence[str]) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    numbers = [_number(found[end], least, names) for end in ("first", "last") if found[end]]
    in_reach = [number for number in numbers if number is not None and least <= number <= most]
    step = found["step"]
    return len(in_reach) == len(numbers) and in_reach == sorted(in_reach) and (step is None or int(step) > 0)


def _number(text: str, least: int, names: Sequence[str]) -> int | None:
    if text.isdigit():
        return int(text)
    return names.index(text) + least if text in names else None
