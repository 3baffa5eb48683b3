"""`task.toml` as a table, or what is wrong with it and where. Never raises, and never works for long.

Python's parser takes time quadratic in the parts of a dotted key and recurses into brackets, so both are counted first.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_BYTES = 256 * 1024
"""The largest file that is parsed. Real ones hold a few kilobytes; one of 187 steps holds 60."""
MAX_DEPTH = 64
"""Brackets inside brackets, and parts of a dotted key."""

_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_OPAQUE = re.compile(
    r'"""(?:[^\\]|\\.|\\\Z)*?(?:"""|\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:[^"\\\n]|\\.)*"?' r"|'[^'\n]*'?" r"|#[^\n]*",
    re.DOTALL,
)
"""Strings and comments. Unclosed ones match to their end too, so that no character is looked at twice."""
_BRACKET = re.compile(r"[\[\]{}]")
_PIECE = re.compile(r"[=,{}\n]")


@dataclass(frozen=True, slots=True)
class TomlProblem:
    """Why a file could not be parsed, in the parser's words."""

    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class TomlFile:
    table: Mapping[str, object] = field(default_factory=dict)
    """Empty when there is a problem."""
    problem: TomlProblem | None = None
    mark: bool = False
    """It begins with a byte order mark, which Harbor's parser refuses and this one skips."""


def parse_toml(data: bytes) -> TomlFile:
    if len(data) > MAX_BYTES:
        return TomlFile(
            problem=TomlProblem(f"The file holds {len(data):,} bytes, more than the {MAX_BYTES:,} read here")
        )
    mark = data.startswith(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        return TomlFile(problem=TomlProblem("The text is not UTF-8", line, column), mark=mark)
    if _too_deep(text):
        return TomlFile(problem=TomlProblem(f"Keys or brackets go deeper than {MAX_DEPTH} levels"), mark=mark)
    try:
        return TomlFile(tomllib.loads(text), mark=mark)
    except (ValueError, RecursionError) as error:  # ValueError: bad TOML, and integers of more digits than Python reads
        return TomlFile(problem=_problem(error, text), mark=mark)


def _problem(error: ValueError | RecursionError, text: str) -> TomlProblem:
    message = str(error)
    found = _POSITION.search(message)
    if not found:
        return TomlProblem(message)
    if found[1]:
        return TomlProblem(message[: found.start()], int(found[1]), int(found[2]))
    lines = text.split("\n")
    return TomlProblem(message[: found.start()], len(lines), len(lines[-1]) + 1)


def _too_deep(text: str) -> bool:
    bare = _OPAQUE.sub("_", text)
    if any(piece.count(".") >= MAX_DEPTH for piece in _PIECE.split(bare)):
        return True
    depth = 0
    for found in _BRACKET.finditer(bare):
        depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            return True
    return False
