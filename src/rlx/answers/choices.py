"""Choices of which one is marked as the right one: the mark is withheld of each, also of those that have none."""

from collections.abc import Mapping, Sequence
from typing import Final

from rlx.answers import keys
from rlx.answers.shown import MARK, Json, clean

_NAMES: Final = keys.OPTIONS | keys.names("candidates alternatives answeroptions answerchoices statements propositions")
_FLAGS: Final = keys.names("true false yes no y n t f 1 0 x correct incorrect right wrong ✓ ✔ ✗ ✘")
_LETTERS: Final = 3
"""Characters of a key that numbers a choice, as `A` or `10`."""


def are_choices(name: str) -> bool:
    """Whether what is called so is what one is chosen from."""
    return keys.flat(name) in _NAMES


def are_numbered(value: Mapping[object, object]) -> bool:
    """Whether an object is one of choices, each under its letter or number."""
    return len(value) > 1 and all(
        isinstance(inner, Mapping) and len(str(key)) <= _LETTERS for key, inner in value.items()
    )


def even(before: Sequence[object], after: Sequence[Json], *, choices: bool) -> None:
    """Put `MARK` into each object of `after` where it stands for a flag in any, or for anything among `choices`.

    The marks go to the end, so that the order of keys does not tell who had them. `before` are the same objects as they
    were.
    """
    if len(before) < 2 or not all(isinstance(item, Mapping) for item in before):
        return
    marked: dict[str, None] = {}
    for was, now in zip(before, after, strict=False):
        for key, value in was.items() if isinstance(was, Mapping) and isinstance(now, dict) else ():
            label = clean(str(key))
            if isinstance(now, dict) and now.get(label) == MARK and (choices or _is_flag(value)):
                marked[label] = None
    for now in after if marked else ():
        if isinstance(now, dict):
            for label in sorted(marked):
                now.pop(label, None)
                now[label] = MARK


def _is_flag(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _FLAGS
    return isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1))
