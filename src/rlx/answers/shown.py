"""The types that prove a text passed the answers policy.

`Shown` and `ShownJson` can only be made inside `rlx.answers` (a test reads every module to prove it), and every field of
`rlx.model` that holds repository content is typed with them, so content that skipped the policy does not type-check.
"""

from dataclasses import dataclass, field
from typing import Self

_KEY = object()

type Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Shown(str):
    """Repository text that may be shown. String operations give a plain `str`, which is no longer proven."""

    __slots__ = ()

    def __new__(cls, text: str, key: object = None) -> Self:
        if key is not _KEY:
            raise TypeError("Shown is made by rlx.answers only.")
        return super().__new__(cls, text)


@dataclass(frozen=True, slots=True)
class ShownJson:
    """A JSON value that may be shown: finite numbers, valid Unicode, answers replaced."""

    value: Json
    key: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.key is not _KEY:
            raise TypeError("ShownJson is made by rlx.answers only.")


def show(text: str) -> Shown:
    """For `rlx.answers` alone. Lone surrogates, which no encoder takes, become U+FFFD."""
    return Shown(text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text, _KEY)


def show_json(value: Json) -> ShownJson:
    """For `rlx.answers` alone."""
    return ShownJson(value, _KEY)
