"""What an expression of a Python program is: a literal, a harmless one, a name of something, an answer by its name."""

import ast
import re
from collections.abc import Iterator

from rlx.answers import keys
from rlx.answers.spans import PATH

_STATES = keys.names("pass passed fail failed error ok success skipped completed done")


def texts(node: ast.expr) -> Iterator[str]:
    """The texts in a literal, as they are and as written. None of a template, whose pieces stand everywhere."""
    if any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node)):
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.strip():
            yield inner.value.strip()
            yield repr(inner.value.strip())[1:-1]
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, float | int) and abs(inner.value) > 99:
            yield repr(inner.value)


def called(node: ast.Call) -> str:
    """The last part of the name that is called; empty for a computed one."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_literal(node.operand)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(is_literal(element) for element in node.elts)
    if isinstance(node, ast.Dict):
        return all(key is not None and is_literal(key) for key in node.keys) and all(map(is_literal, node.values))
    return False


def is_harmless(node: ast.expr) -> bool:
    """Whether a literal tells nothing: empty, zero, True, False, None, or made of these."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value is None or isinstance(value, bool) or value is ... or value in (0, "", b"") or _is_blank(value)
    if isinstance(node, ast.UnaryOp):
        return is_harmless(node.operand) or (isinstance(node.operand, ast.Constant) and node.operand.value == 1)
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Tuple):
        return all(map(is_harmless, node.elts))
    return isinstance(node, ast.List | ast.Set) and not node.elts


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 2 and not any(char.isalnum() for char in value)


def is_input(node: ast.expr) -> bool:
    """Whether an argument is an ordinary input of a computation: a small number, or a list of numbers."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and abs(node.value) < 100
    leaves = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return isinstance(node, ast.List | ast.Tuple) and not any(isinstance(leaf.value, str | bytes) for leaf in leaves)


def names_a_thing(node: ast.expr) -> bool:
    """Whether a literal is a path or an identifier, as arguments of calls are."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return bool(PATH.fullmatch(node.value) or re.fullmatch(r"[A-Za-z_][\w-]*", node.value))


def is_word_of_state(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() in _STATES


def is_answer(node: ast.expr) -> bool:
    """Whether a variable, attribute or entry is named as an answer."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return isinstance(node.slice.value, str) and keys.is_answer_name(node.slice.value)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return keys.is_answer_name(name)


def mentions(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is about one of `names`: a variable, attribute, entry or call so called."""
    for inner in ast.walk(node):
        name = ""
        if isinstance(inner, ast.Name):
            name = inner.id
        elif isinstance(inner, ast.Attribute):
            name = inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) < 40:
            name = inner.value
        elif isinstance(inner, ast.Call):
            name = called(inner)
        parts = keys.words(name) if name else ()
        if "".join(parts) in names or (parts and parts[-1] in names):
            return True
    return False
