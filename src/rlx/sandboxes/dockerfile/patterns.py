"""Patterns over paths: Go's `filepath.Match` as COPY uses it, and the rules of a `.dockerignore`.

Matched by walking all ways at once, so that no pattern takes more than pattern times path steps.
"""

import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rlx.sandboxes.dockerfile.refusals import Refused

_MOST_RULES = 1000
_LONGEST = 1000
_SPECIAL = "*?[]\\"
_MOST_STEPS = 5_000_000

type _Fits = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    """`one` character that fits; `star`: any but slashes; `deep`: nothing, or all up to a slash; `rest`: anything."""
    fits: _Fits


def has_wildcards(path: str) -> bool:
    escaped = False
    for char in path:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "*?[":
            return True
    return False


def split_wildcards(path: str) -> tuple[str, str]:
    """The folder in front of the first part with a wildcard, and the rest; without wildcards the rest is empty."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        if has_wildcards(part):
            return "/".join(parts[:place]), "/".join(parts[place:])
    return path, ""


class Budget:
    """Steps that patterns may take over all the paths they are asked of."""

    def __init__(self, steps: int = _MOST_STEPS) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise Refused("unsupported", "pattern.costly")


class Glob:
    """One pattern as Go's `filepath.Match` reads it: `*`, `?`, classes and escapes.

    Like Go's it takes the first place where the letters after a star fit, and never goes back to another.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LONGEST:
            raise Refused("unsupported", "pattern.long")
        self._chunks: list[tuple[bool, list[_Part]]] = [(False, [])]
        for part in _parts(pattern, deep=False):
            if part.kind == "star":
                self._chunks.append((True, []))
            else:
                self._chunks[-1][1].append(part)

    def matches(self, path: str) -> bool:
        at = 0
        for place, (star, chunk) in enumerate(self._chunks):
            last = place == len(self._chunks) - 1
            if star and not chunk:
                return "/" not in path[at:]
            found = self._find(chunk, path, at, star=star, whole=last)
            if found is None:
                return False
            at = found
        return at == len(path)

    def _find(self, chunk: list[_Part], path: str, start: int, *, star: bool, whole: bool) -> int | None:
        """Where a chunk ends that begins at `start`, or, after a star, at a later place of the same part."""
        while True:
            end = start + len(chunk)
            fits = end <= len(path) and all(part.fits(char) for part, char in zip(chunk, path[start:end], strict=True))
            if fits and (end == len(path) or not whole):
                return end
            if not star or start >= len(path) or path[start] == "/":
                return None
            start += 1


@dataclass(frozen=True, slots=True)
class _Rule:
    text: str
    keeps: bool
    """It began with `!`."""
    parts: tuple[_Part, ...] | None
    """None: a path without wildcards."""


class Ignore:
    """Which paths a `.dockerignore` leaves out: the last rule that matches a path or a folder above it decides."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._rules = tuple(_rules(rules))
        self._known: dict[tuple[int, str], bool] = {}
        self._budget = Budget()

    @classmethod
    def of(cls, text: str) -> "Ignore":
        return cls(line for line in text.removeprefix("\ufeff").splitlines() if not line.startswith("#"))

    def leaves_out(self, path: str) -> bool:
        out = False
        for place, rule in enumerate(self._rules):
            if rule.keeps == out and self._matches(place, rule, path):
                out = not rule.keeps
        return out

    def _matches(self, place: int, rule: _Rule, path: str) -> bool:
        """The path or a folder above it; folders are asked once for all their files."""
        self._budget.spend(1)
        if rule.parts is None:
            return path == rule.text or path.startswith(f"{rule.text}/")
        end = path.find("/")
        while end >= 0:
            folder = path[:end]
            known = self._known.get((place, folder))
            if known is None:
                known = self._known[place, folder] = _matches(rule.parts, folder, self._budget)
            if known:
                return True
            end = path.find("/", end + 1)
        return _matches(rule.parts, path, self._budget)


def _rules(lines: Iterable[str]) -> Iterable[_Rule]:
    for count, line in enumerate(lines):
        text = line.strip()
        if not text:
            continue
        if count >= _MOST_RULES or len(text) > _LONGEST:
            raise Refused("unsupported", "ignore.large", limit=_MOST_RULES)
        keeps = text.startswith("!")
        text = text[1:].strip() if keeps else text
        if not text:
            raise Refused("syntax", "ignore.empty")
        text = posixpath.normpath(text).lstrip("/")
        if text in ("", "."):
            continue
        special = any(char in _SPECIAL for char in text)
        yield _Rule(text, keeps, _parts(text, deep=True) if special else None)


def _parts(pattern: str, *, deep: bool) -> tuple[_Part, ...]:
    found: list[_Part] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if deep and pattern.startswith("*", at):
                at += 1
                if pattern.startswith("/", at):
                    at += 1
                # In front of plain letters two stars are the beginning of a name as well: `**a` is all that ends in a.
                ends = at == 2 and not any(char in _SPECIAL for char in pattern[2:])
                kind = "rest" if at == len(pattern) or ends else "deep"
                if not (found and found[-1].kind == kind):
                    found.append(_Part(kind, _anything))
            elif not (found and found[-1].kind == "star"):
                found.append(_Part("star", _within))
        elif char == "?":
            found.append(_Part("one", _within))
        elif char == "[":
            fits, at = _class(pattern, at)
            found.append(_Part("one", fits))
        else:
            if char == "\\":
                if at == len(pattern):
                    raise Refused("syntax", "pattern.bad", pattern=pattern)
                char = pattern[at]
                at += 1
            found.append(_Part("one", char.__eq__))
    return tuple(found)


def _anything(_: str) -> bool:
    return True


def _within(char: str) -> bool:
    return char != "/"


def _class(pattern: str, at: int) -> tuple[_Fits, int]:
    """A class after its `[`: ranges, negation with `^`, escapes. Unlike a wildcard it may stand for a slash."""
    negated = pattern.startswith("^", at)
    at += negated
    ranges: list[tuple[str, str]] = []

    def one() -> str:
        nonlocal at
        if pattern.startswith("\\", at):
            at += 1
        if at >= len(pattern) or (pattern[at] in "-]" and pattern[at - 1] != "\\"):
            raise Refused("syntax", "pattern.bad", pattern=pattern)
        at += 1
        return pattern[at - 1]

    while not (pattern.startswith("]", at) and ranges):
        low = high = one()
        if pattern.startswith("-", at):
            at += 1
            high = one()
        ranges.append((low, high))
    return lambda char: negated != any(low <= char <= high for low, high in ranges), at + 1


def _matches(parts: tuple[_Part, ...], path: str, budget: Budget) -> bool:
    """Walks all places of the pattern at which the path can stand; `deep` has a second one, inside what it eats."""
    end = len(parts)
    at: set[int] = set()
    inside: set[int] = set()
    _reach(parts, 0, at)
    for char in path:
        following: set[int] = set()
        eaten: set[int] = set()
        for place in at:
            if place == end:
                continue
            part = parts[place]
            if part.kind == "one":
                if part.fits(char):
                    _reach(parts, place + 1, following)
            elif part.kind == "deep":
                eaten.add(place)
            elif part.fits(char):
                _reach(parts, place, following)
        eaten |= inside
        budget.spend(len(at) + len(eaten))
        if char == "/":
            for place in eaten:
                _reach(parts, place + 1, following)
        if not following and not eaten:
            return False
        at, inside = following, eaten
    return end in at


def _reach(parts: tuple[_Part, ...], place: int, into: set[int]) -> None:
    while place not in into:
        into.add(place)
        if place == len(parts) or parts[place].kind == "one":
            return
        place += 1
