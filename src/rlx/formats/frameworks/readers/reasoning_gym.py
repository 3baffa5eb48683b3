"""reasoning-gym: the tasks it generates, and whether each compares answers or checks them by a program."""

import ast
from collections.abc import Iterator, Mapping

from rlx.formats.frameworks.packages import Package, classes, constants, sentence

PACKAGE = "reasoning-gym"


def read(package: Package) -> Mapping[str, object]:
    tasks = {}
    for path in package.match("reasoning_gym/*/**/*.py"):
        module = package.module(path)
        known = classes(module)
        for name, called in _registered(module):
            found = known.get(called)
            if found is None:
                continue
            checks = any(isinstance(node, ast.FunctionDef) and node.name == "score_answer" for node in found.body)
            about = sentence(ast.get_docstring(found) or ast.get_docstring(module))
            tasks[name] = {"group": path.split("/")[1], "about": about, "exact": not checks}
    return {"tasks": dict(sorted(tasks.items()))}


def _registered(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of tasks with the classes that make them."""
    named = constants(module)
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "register_dataset"):
            continue
        match node.args:
            case [ast.Constant(str(name)), ast.Name(called), *_]:
                yield name, called
            case [ast.Name(constant), ast.Name(called), *_] if constant in named:
                yield named[constant], called
