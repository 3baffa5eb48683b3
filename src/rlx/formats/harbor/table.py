"""A TOML table read tolerantly: every accessor takes any value, and notes what it could not use."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rlx.texts import Say, say

_NUMBER = re.compile(r"\s*[+-]?\d{1,15}(?:\.\d{1,15})?\s*")


@dataclass(frozen=True, slots=True)
class Odd:
    """A setting that could not be taken as it stands."""

    where: str
    """Dotted key."""
    text: Say


@dataclass(slots=True)
class Table:
    """One table and where it stands. `odd` is shared by the whole file."""

    values: Mapping[str, object]
    path: str = ""
    odd: list[Odd] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    """Keys that were read; the rest are the dataset's own."""

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def note(self, key: str, text: Say) -> None:
        self.odd.append(Odd(self.at(key), text))

    def get(self, key: str) -> object:
        self.asked.add(key)
        return self.values.get(key)

    def text(self, key: str) -> str | None:
        """A string; an empty one counts as absent, as Harbor treats it."""
        value = self.get(key)
        if value is None or isinstance(value, str):
            return value or None
        self.note(key, say("harbor.odd.text"))
        return None

    def number(self, key: str) -> float | None:
        value = self.get(key)
        if value is None:
            return None
        found = as_number(value)
        if found is None:
            self.note(key, say("harbor.odd.number"))
        return found

    def flag(self, key: str) -> bool | None:
        value = self.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.note(key, say("harbor.odd.flag"))
        return None

    def table(self, key: str) -> "Table | None":
        value = self.get(key)
        if isinstance(value, Mapping):
            return Table(value, self.at(key), self.odd)
        if value is not None:
            self.note(key, say("harbor.odd.table"))
        return None

    def tables(self, key: str) -> Iterator["Table"]:
        for place, value in enumerate(self._list(key)):
            if isinstance(value, Mapping):
                yield Table(value, f"{self.at(key)}[{place}]", self.odd)
            else:
                self.note(key, say("harbor.odd.tables"))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; one plain string counts as a list of it."""
        value = self.get(key)
        if isinstance(value, str):
            self.note(key, say("harbor.odd.texts"))
            return (value,) if value else ()
        items = self._list(key)
        found = tuple(item for item in items if isinstance(item, str))
        if len(found) < len(items):
            self.note(key, say("harbor.odd.texts"))
        return found

    def pairs(self, key: str) -> Mapping[str, str]:
        """A table of strings, such as `env`. Numbers and booleans are taken as they would be typed."""
        table = self.table(key)
        if table is None:
            return {}
        found = {}
        for name, value in table.values.items():
            if isinstance(value, str):
                found[name] = value
            else:
                table.note(name, say("harbor.odd.text"))
                found[name] = plain(value)
        return found

    def rest(self) -> dict[str, object]:
        """Keys that nothing here knows."""
        return {key: value for key, value in self.values.items() if key not in self.asked}

    def _list(self, key: str) -> Sequence[object]:
        value = self.get(key)
        if isinstance(value, list | tuple):
            return value
        if value is not None:
            self.note(key, say("harbor.odd.texts"))
        return ()


def as_number(value: object) -> float | None:
    """A finite number, or a string that spells one."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def as_text(value: object) -> str | None:
    """A string that says something."""
    return value.strip() or None if isinstance(value, str) else None


def plain(value: object) -> str:
    """A value as one would type it in TOML, for a short display."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {plain(item)}" for key, item in value.items())
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
