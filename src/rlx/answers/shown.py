"""The types that prove a text passed the answers policy, and what the policy hands back.

`Shown` and `ShownJson` can only be made inside `rlx.answers` (a test reads every module to prove it), and every field
of `rlx.model` that holds repository content is typed with them, so content that skipped the policy does not type-check.
"""

from dataclasses import dataclass, field
from typing import Literal, Self

from rlx.texts import Say

_KEY = object()

MARK = "‹withheld›"
"""Stands where an answer stood."""

ARCHIVE = "‹archive›"
"""Stands where an archive stood whose files are shown."""

type Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


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


@dataclass(frozen=True, slots=True)
class Withheld:
    """Something that exists and is not shown."""

    where: str
    """A path, or `path: key.path`, or `path: lines 3-9`. Names, never contents."""
    reason: Say


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with its answers replaced by `MARK`; it has as many lines as the original, or is cut at a limit."""

    text: Shown
    masked: tuple[int, ...] = ()
    """1-based numbers of the lines on which something was replaced."""
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskedJson:
    """A JSON value with its answers replaced by `MARK`."""

    value: ShownJson
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What may be done with a file, judged by its path alone."""

    kind: Literal["show", "look", "withhold"]
    """`look`: its contents decide, through `file_text`."""
    reason: Say | None = None
    """Set when it is withheld."""


def clean(text: str) -> str:
    """`text` as valid Unicode: surrogate pairs are joined, lone ones, which no encoder takes, become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def show(text: str) -> Shown:
    """For `rlx.answers` alone."""
    return Shown(clean(text), _KEY)


def show_json(value: Json) -> ShownJson:
    """For `rlx.answers` alone."""
    return ShownJson(value, _KEY)
