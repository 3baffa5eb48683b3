"""The shape of the code: small modules and functions, everything annotated, folders that say what is in them."""

import ast
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rlx"
DATA = (PACKAGE / "demo" / "datasets", PACKAGE / "demo" / "spaces", ROOT / "tests" / "fixtures" / "hub")
"""Content that is read as data, never code of ours."""

MODULE_LINES = 500
MEDIAN_LINES = 120
FUNCTION_LINES = 80
BANNED = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
MAY_PRINT = "bench"

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    path: Path
    lines: int
    tree: ast.Module

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def ours(self) -> bool:
        return self.path.is_relative_to(PACKAGE)

    def functions(self) -> Iterator[Function]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def is_data(path: Path) -> bool:
    return any(path.is_relative_to(data) for data in DATA) or "__pycache__" in path.parts


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    paths = [path for top in ("src", "tests", "bench") for path in sorted((ROOT / top).rglob("*.py"))]
    texts = {path: path.read_text() for path in paths if not is_data(path)}
    return [Module(path, len(text.splitlines()), ast.parse(text)) for path, text in texts.items()]


def parameters(function: Function) -> Iterator[ast.arg]:
    found = function.args
    named = [*found.posonlyargs, *found.args, *found.kwonlyargs]
    yield from (arg for arg in named if arg.arg not in {"self", "cls"})
    yield from (arg for arg in (found.vararg, found.kwarg) if arg is not None)


def test_no_module_is_longer_than_the_cap(modules: list[Module]) -> None:
    assert {module.name: module.lines for module in modules if module.lines > MODULE_LINES} == {}


def test_the_median_module_is_small(modules: list[Module]) -> None:
    assert statistics.median(module.lines for module in modules if module.ours and module.lines) <= MEDIAN_LINES


def test_no_function_is_longer_than_the_cap(modules: list[Module]) -> None:
    lengths = {
        f"{module.name}: {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for module in modules
        for function in module.functions()
    }
    assert {name: length for name, length in lengths.items() if length > FUNCTION_LINES} == {}


def test_everything_is_annotated(modules: list[Module]) -> None:
    bare = [
        f"{module.name}: {function.name}"
        for module in modules
        for function in module.functions()
        if function.returns is None or any(arg.annotation is None for arg in parameters(function))
    ]
    assert bare == []


def test_no_module_has_a_name_that_says_nothing(modules: list[Module]) -> None:
    vague = [
        module.name
        for module in modules
        if BANNED & {part.removesuffix(".py") for part in module.path.relative_to(ROOT).parts}
    ]
    assert vague == []


def test_every_module_of_the_package_says_what_it_owns(modules: list[Module]) -> None:
    assert [
        module.name for module in modules if module.ours and module.lines and not ast.get_docstring(module.tree)
    ] == []


def test_nothing_prints_past_the_output_sink(modules: list[Module]) -> None:
    printing = [
        module.name
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert [name for name in printing if not name.startswith(f"{MAY_PRINT}/")] == []


def test_nothing_is_caught_to_be_forgotten(modules: list[Module]) -> None:
    forgetful = [
        f"{module.name}:{node.lineno}"
        for module in modules
        if module.ours
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
        and all(isinstance(statement, ast.Pass) for statement in node.body)
    ]
    assert forgetful == []


def indexed_folders() -> list[Path]:
    tops = (PACKAGE, ROOT / "tests", ROOT / "bench")
    folders = [path for top in tops for path in [top, *sorted(top.rglob("*"))] if path.is_dir() and not is_data(path)]
    return [folder for folder in folders if len(list(folder.glob("*.py"))) > 3]


def entries(folder: Path) -> set[str]:
    """What a folder's index must name: its files, and its folders with a slash."""
    found = {f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir()}
    return found - {"__pycache__/", "README.md", "__init__.py", "py.typed"}


def test_a_folder_of_more_than_three_modules_has_an_index_of_its_files() -> None:
    """A line of the index begins with a name in backticks: ``- `name.py`: what it does``."""
    wrong = {}
    for folder in indexed_folders():
        readme = folder / "README.md"
        named = set(re.findall(r"^- `([^`]+)`", readme.read_text(), re.M)) if readme.is_file() else set()
        if named != entries(folder):
            wrong[str(folder.relative_to(ROOT))] = sorted(named ^ entries(folder))
    assert wrong == {}
