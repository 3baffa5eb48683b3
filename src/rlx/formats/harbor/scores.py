"""The names of the scores a grader writes to `reward.json`, from the code that writes them."""

import ast
import re
from collections.abc import Iterator

MAX_SCORES = 12
_MAX_CODE = 64 * 1024
_KEY = re.compile(r"[{,]\s*\\?[\"']([A-Za-z_][\w .-]{0,60}?)\\?[\"']\s*:")
_NAME = re.compile(r"[A-Za-z_][\w .-]{0,60}")
_REWARD = re.compile(r"reward|score|result|payload", re.IGNORECASE)


def score_names(text: str, *, python: bool) -> tuple[str, ...]:
    """At most twelve names, in the order of the code. Empty when they are made at run time."""
    found = list(dict.fromkeys(_from_python(text) if python else _from_shell(text)))
    return tuple(name for name in found if _NAME.fullmatch(name))[:MAX_SCORES]


def _from_shell(text: str) -> Iterator[str]:
    """Keys of objects on lines that speak of a reward, and of Python given to `python -c` or a heredoc."""
    for line in text[:_MAX_CODE].splitlines():
        if "{" in line and re.search(r"reward|json\.dumps?\(", line, re.IGNORECASE):
            yield from _KEY.findall(line)


def _from_python(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text[:_MAX_CODE])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _from_shell(text)
        return
    known = _Assigned()
    dumped: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            known.add(node.targets if isinstance(node, ast.Assign) else [node.target], node.value)
        elif isinstance(node, ast.Call) and _is_dump(node) and node.args:
            dumped.append(node.args[0])
    named = [value for value in dumped if isinstance(value, ast.Name) and _REWARD.search(value.id)]
    for value in named or dumped:
        for literal in known.dicts.get(value.id, []) if isinstance(value, ast.Name) else [value]:
            yield from known.keys(literal)


class _Assigned:
    """What a module assigns to plain names, as far as it matters here."""

    def __init__(self) -> None:
        self.dicts: dict[str, list[ast.expr]] = {}
        self._sequences: dict[str, ast.Tuple | ast.List] = {}

    def add(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                if isinstance(value, ast.Dict | ast.DictComp):
                    self.dicts.setdefault(target.id, []).append(value)
                elif isinstance(value, ast.Tuple | ast.List):
                    self._sequences[target.id] = value

    def keys(self, value: ast.expr) -> Iterator[str]:
        """Of a literal, those with numbers; of `{name: .. for name in NAMES}`, the names."""
        if isinstance(value, ast.Dict):
            yield from _numeric_keys(value)
        elif isinstance(value, ast.DictComp):
            source = value.generators[0].iter
            items = self._sequences.get(source.id) if isinstance(source, ast.Name) else None
            for item in items.elts if items else ():
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.value


def _is_dump(call: ast.Call) -> bool:
    function = call.func
    return isinstance(function, ast.Attribute) and function.attr in ("dump", "dumps")


def _numeric_keys(literal: ast.Dict) -> Iterator[str]:
    """Keys whose values are not text or a collection: Harbor takes numbers only."""
    for key, value in zip(literal.keys, literal.values, strict=True):
        texts = ast.JoinedStr | ast.Dict | ast.List | ast.Tuple | ast.Set | ast.ListComp
        is_text = isinstance(value, texts) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and not is_text:
            yield key.value
