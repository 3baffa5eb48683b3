"""verl: which reward function is used for which `data_source`, and the loops of its agents."""

import ast
from collections.abc import Iterator, Mapping

from rlx.errors import BadInput
from rlx.formats.frameworks.packages import Package, classes, sentence

PACKAGE = "verl"
_SCORES = "verl/utils/reward_score/__init__.py"


def read(package: Package) -> Mapping[str, object]:
    module = package.module(_SCORES)
    chosen = [
        node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "default_compute_score"
    ]
    if not chosen:
        raise BadInput(
            f"{_SCORES} of {package.name} {package.version} does not choose a reward by data_source any more."
        )
    scorers: dict[str, Mapping[str, object]] = {}
    for branch in _branches(chosen[0]):
        sources, prefixes = _conditions(branch.test)
        name = _imported(branch.body)
        if name and (sources or prefixes):
            scorers[name] = {"about": _about(package, name), "sources": sources, "prefixes": prefixes}
    loops = {
        name: about
        for path in package.match("verl/experimental/agent_loop/*.py")
        for name, about in _registered(package.module(path))
    }
    return {"scorers": scorers, "agent_loops": dict(sorted(loops.items()))}


def _branches(function: ast.FunctionDef) -> Iterator[ast.If]:
    for node in function.body:
        while isinstance(node, ast.If):
            yield node
            if len(node.orelse) != 1:
                break
            node = node.orelse[0]


def _conditions(test: ast.expr) -> tuple[list[str], list[str]]:
    """What `data_source` is compared with, and what it may start with."""
    sources: list[str] = []
    prefixes: list[str] = []
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "data_source":
            sources += [text for right in node.comparators for text in _texts(right)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            prefixes += [text for argument in node.args for text in _texts(argument)]
    return sources, prefixes


def _texts(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _imported(body: list[ast.stmt]) -> str | None:
    """The module a branch takes its reward from; of several the last, which needs no service beside."""
    found = [
        alias.name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None
        for alias in node.names
    ]
    return found[-1] if found else None


def _about(package: Package, name: str) -> str:
    for path in (f"verl/utils/reward_score/{name}.py", f"verl/utils/reward_score/{name}/__init__.py"):
        if path not in package.paths:
            continue
        module = package.module(path)
        told = ast.get_docstring(module)
        scoring = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "compute_score"]
        return sentence(next((text for text in (*map(ast.get_docstring, scoring), told) if text), None))
    return ""


def _registered(module: ast.Module) -> Iterator[tuple[str, str]]:
    for found in classes(module).values():
        for decorator in found.decorator_list:
            if (
                isinstance(decorator, ast.Call)
                and isinstance(decorator.func, ast.Name)
                and decorator.func.id == "register"
            ):
                yield from (
                    (text, sentence(ast.get_docstring(found))) for item in decorator.args for text in _texts(item)
                )
