"""SkyRL: the environments of the SkyRL Gym that it brings along, which a row's `env_class` names."""

import ast
from collections.abc import Iterator, Mapping

from rlx.errors import BadInput
from rlx.formats.frameworks.packages import Package, classes, sentence

PACKAGE = "skyrl"
_ENVS = "skyrl_gym/envs/__init__.py"


def read(package: Package) -> Mapping[str, object]:
    found = next(package.match(f"**/{_ENVS}"), None)
    if found is None:
        raise BadInput(f"{package.name} {package.version} has no {_ENVS}, which registers environments.")
    root, envs = found.removesuffix(_ENVS), {}
    for name, entry in _registered(package.module(found)):
        module, _, called = entry.partition(":")
        path = f"{root}{module.replace('.', '/')}.py"
        made = classes(package.module(path)).get(called) if path in package.paths else None
        if made is not None:
            envs[name] = _entry(made)
    return {"envs": dict(sorted(envs.items()))}


def _registered(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "register":
            told = {item.arg: item.value.value for item in node.keywords if isinstance(item.value, ast.Constant)}
            if isinstance(told.get("id"), str) and isinstance(told.get("entry_point"), str):
                yield str(told["id"]), str(told["entry_point"])


def _entry(found: ast.ClassDef) -> Mapping[str, object]:
    needs: list[str] = []
    tools: list[str] = []
    turns: int | None = None
    for node in ast.walk(found):
        match node:
            case ast.Assert(ast.Compare(ast.Constant(str(key)), [ast.In()], [ast.Name("extras")])):
                needs.append(key)
            case ast.Call(ast.Name(called)) if called.endswith("ToolGroup"):
                tools.append(called.removesuffix("ToolGroup"))
            case ast.Assign([ast.Attribute(attr="max_turns")], ast.IfExp(orelse=ast.Constant(int(number)))):
                turns = number
            case ast.Assign([ast.Attribute(attr="max_turns")], ast.Constant(int(number))):
                turns = number
            case ast.Assign([ast.Attribute(attr="max_turns")], ast.Call(args=[_, ast.Constant(int(number))])):
                turns = number
    entry: dict[str, object] = {"about": sentence(ast.get_docstring(found)), "needs": needs, "tools": tools}
    return entry if turns is None else {**entry, "turns": turns}
