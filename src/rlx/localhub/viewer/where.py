"""Conditions on rows, as `/filter` takes them: parsed and worked out here, with SQL's unknown for what is null."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rlx.localhub.viewer.features import Type, cell
from rlx.localhub.viewer.tables import Row

MAX_LENGTH: Final = 10_000
_MAX_DEPTH: Final = 50
_MAX_DIGITS: Final = 400
_FORBIDDEN: Final = re.compile(r";|--|/\*|\*/")
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<column>"(?:[^"]|"")+")|(?P<text>'(?:[^']|'')*')|(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<sign><=|>=|<>|!=|=|<|>|\(|\))|(?P<word>[A-Za-z_]\w*))""",
    re.VERBOSE,
)
_WORDS: Final = frozenset({"AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "ASC", "DESC"})
_SIGNS: Final = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})

type Literal = str | int | float | bool
type Condition = Callable[[Row], bool | None]
"""Whether a row meets it; None: unknown, because something compared is null."""


class Invalid(Exception):
    """A condition or an order that cannot be followed; the message is the viewer's own."""


class _Token(NamedTuple):
    kind: str
    """column, text, number, sign or word; `end` after the last."""
    text: str


def parse_where(text: str, columns: Mapping[str, Type]) -> Condition:
    """`"column" op value`, combined by AND, OR, NOT and parentheses. Raises `Invalid`."""
    if _FORBIDDEN.search(text):
        raise Invalid("Parameter 'where' contains invalid symbols")
    parser = _Parser(_tokens(text, "where"), columns)
    condition = parser.either(0)
    parser.expect("end", "")
    return condition


def parse_order(text: str, columns: Mapping[str, Type]) -> tuple[str, bool]:
    """The column of an order, and whether it descends. Raises `Invalid`."""
    if _FORBIDDEN.search(text):
        raise Invalid("Parameter 'orderby' contains invalid symbols")
    tokens = _tokens(text, "orderby")
    name = _column(tokens[0])
    last = tokens[1] if len(tokens) > 1 else tokens[0]
    rest = [token.text.upper() for token in tokens[1:-1]]
    if (
        name is None
        or name not in columns
        or isinstance(columns[name], list | dict)
        or rest not in ([], ["ASC"], ["DESC"])
    ):
        raise Invalid("Parameter 'orderby' is invalid")
    return name, last.text.upper() == "DESC"


def _tokens(text: str, parameter: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    end = len(text.rstrip())
    while at < end and len(text) <= MAX_LENGTH:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            break
        found.append(_Token(match.lastgroup, match[match.lastgroup]))
        at = match.end()
    if at < end or not found:
        raise Invalid(f"Parameter '{parameter}' is invalid")
    return [*found, _Token("end", "")]


def _column(token: _Token) -> str | None:
    if token.kind == "column":
        return token.text[1:-1].replace('""', '"')
    return token.text if token.kind == "word" and token.text.upper() not in _WORDS else None


@dataclass(slots=True)
class _Parser:
    tokens: list[_Token]
    columns: Mapping[str, Type]
    at: int = field(default=0)

    def either(self, depth: int) -> Condition:
        parts = [self.both(depth)]
        while self.takes("OR"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else lambda row: _any(part(row) for part in parts)

    def both(self, depth: int) -> Condition:
        parts = [self.one(depth)]
        while self.takes("AND"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else lambda row: _not(_any(_not(part(row)) for part in parts))

    def one(self, depth: int) -> Condition:
        if depth > _MAX_DEPTH:
            raise Invalid("Parameter 'where' is invalid")
        if self.takes("NOT"):
            inner = self.one(depth + 1)
            return lambda row: _not(inner(row))
        if self.takes("("):
            inner = self.either(depth + 1)
            self.expect("sign", ")")
            return inner
        return self.test()

    def test(self) -> Condition:
        name = _column(self.next())
        if name is None or name not in self.columns:
            raise Invalid("Parameter 'where' is invalid")
        type_ = self.columns[name]
        if self.takes("IS"):
            is_not = self.takes("NOT")
            self.expect("word", "NULL")
            return lambda row: (cell(row.get(name), type_) is None) != is_not
        sign = self.next()
        if sign.kind != "sign" or sign.text not in _SIGNS:
            raise Invalid("Parameter 'where' is invalid")
        value = _fit(_literal(self.next()), type_)
        return lambda row: _compare(cell(row.get(name), type_), sign.text, value)

    def next(self) -> _Token:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def takes(self, word: str) -> bool:
        """Whether the next token is that word or bracket, which is then passed."""
        token = self.tokens[self.at]
        if token.kind not in {"word", "sign"} or token.text.upper() != word:
            return False
        self.at += 1
        return True

    def expect(self, kind: str, text: str) -> None:
        token = self.next()
        if token.kind != kind or token.text.upper() != text:
            raise Invalid("Parameter 'where' is invalid")


def _literal(token: _Token) -> Literal:
    if token.kind == "text":
        return token.text[1:-1].replace("''", "'")
    if token.kind == "number" and len(token.text) <= _MAX_DIGITS:
        return float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
    if token.kind == "word" and token.text.upper() in {"TRUE", "FALSE"}:
        return token.text.upper() == "TRUE"
    raise Invalid("Parameter 'where' is invalid")


def _fit(value: Literal, type_: Type) -> Literal:
    """The value as what a column of that type holds. Raises `Invalid` where it cannot be that."""
    kind = type_ if isinstance(type_, str) else "nested"
    try:
        if kind == "bool":
            return value if isinstance(value, bool) else {"true": True, "false": False}[str(value).lower()]
        if kind.startswith(("int", "uint")):
            return value if isinstance(value, int | float) else int(value)
        if kind.startswith("float"):
            number = float(value)
            if math.isfinite(number):
                return number
        elif kind != "nested" and (isinstance(value, str) or kind in {"json", "null"}):
            return value
    except (KeyError, ValueError, OverflowError) as error:
        raise Invalid("Parameter 'where' is invalid") from error
    raise Invalid("Parameter 'where' is invalid")


def _compare(left: object, sign: str, right: Literal) -> bool | None:
    if isinstance(left, str) and isinstance(right, str):
        return _ordered(left, sign, right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _ordered(left, sign, right)
    return None


def _ordered[T: (str, float)](left: T, sign: str, right: T) -> bool:
    if sign in {"=", "<>", "!="}:
        return (left == right) == (sign == "=")
    if sign in {"<", ">="}:
        return (left < right) == (sign == "<")
    return (left > right) == (sign == ">")


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _any(values: Iterable[bool | None]) -> bool | None:
    """True where one is; unknown where none is and one may be."""
    known: bool | None = False
    for value in values:
        if value:
            return True
        if value is None:
            known = None
    return known
