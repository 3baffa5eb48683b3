"""The globs of cards, matched in bounded time whatever they are."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from rlx.globs import walk

MAX_PATTERN = 500
"""Characters of a glob; a longer one matches nothing."""
MAX_PATTERNS = 400
"""Globs of one split."""
_WORK = 5_000_000
"""Steps that all globs of a card may take over all paths, about; what is past that matches nothing."""
_DEEP = "**"
_SET = re.compile(r"\[(!?)([^\]]+)\]")


class Work:
    """What is left of the steps that one card may cost."""

    def __init__(self, steps: int = _WORK) -> None:
        self.left = steps


def expand(patterns: Iterable[str], paths: Sequence[str], work: Work) -> list[str]:
    """Paths that match any of the patterns, in their order. A pattern that is a folder means all that is in it."""
    found: dict[str, None] = {}
    known = frozenset(paths)
    for pattern in list(patterns)[:MAX_PATTERNS]:
        plain = _relative(pattern)
        if len(plain) > MAX_PATTERN or work.left < 0:
            continue
        if plain in known:  # whatever of it would be a glob
            found[plain] = None
            continue
        for option in braces(plain):
            parts = option.strip("/").split("/")
            work.left -= len(paths) * len(parts)
            if work.left < 0:
                break
            folder = "/".join(parts) + "/"
            matching = [path for path in paths if matches(parts, path.split("/"))]
            found |= dict.fromkeys(matching or [path for path in paths if path.startswith(folder)])
    return list(found)


def _relative(pattern: str) -> str:
    """A pattern without what names this repository itself; one of another place matches nothing here."""
    return re.sub(r"\A(?:hf://datasets/[^/]+/[^/@]+(?:@[^/]+)?/)?(?:\./)*", "", pattern)


def braces(pattern: str, limit: int = 64) -> list[str]:
    """`a.{csv,tsv}` as `a.csv` and `a.tsv`, at most `limit` of them."""
    found = [pattern]
    while len(found) < limit:
        place = next((at for at, item in enumerate(found) if re.search(r"\{[^{}]*,[^{}]*\}", item)), None)
        if place is None:
            break
        group = re.search(r"\{([^{}]*,[^{}]*)\}", found[place])
        if group is not None:
            item = found[place]
            found[place : place + 1] = [
                item[: group.start()] + option + item[group.end() :] for option in group[1].split(",")
            ]
    return found[:limit]


def matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a path matches, part by part; `**` stands for any number of parts, at the end for at least the file."""
    return walk(pattern, path, _DEEP.__eq__, _fits)


def _fits(pattern: str, name: str) -> bool:
    """Whether a name matches a glob without slashes. A star skips no leading dot."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return walk(_tokens(pattern), name, _is_star, _accepts)


def _is_star(token: "_Token") -> bool:
    return token is None


type _Token = tuple[bool, frozenset[str]] | str | None
"""A star, a character or, for `?` and sets, whether the characters are those that do not match."""


@lru_cache(maxsize=4096)
def _tokens(pattern: str) -> tuple[_Token, ...]:
    found: list[_Token] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        group = _SET.match(pattern, at) if char == "[" else None
        if group is not None:
            found.append((group[1] == "!", _characters(group[2])))
            at = group.end()
            continue
        found.append(None if char == "*" else (True, frozenset()) if char == "?" else char)
        at += 1
    return tuple(found)


def _characters(text: str) -> frozenset[str]:
    """The characters of a set, ranges spelled out as far as they are short."""
    found: set[str] = set()
    at = 0
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            first, last = ord(text[at]), min(ord(text[at + 2]), ord(text[at]) + 256)
            found |= {chr(code) for code in range(first, last + 1)}
            at += 3
        else:
            found.add(text[at])
            at += 1
    return frozenset(found)


def _accepts(token: _Token, char: str) -> bool:
    if isinstance(token, tuple):
        return (char in token[1]) != token[0]
    return token == char
