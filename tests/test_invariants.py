"""Every promise of INVARIANTS.md is numbered, and names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "INVARIANTS.md").read_text()
PROMISES = re.split(r"^(?=\d+\. )", TEXT, flags=re.M)[1:]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


def named(promise: str) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", promise)


def test_promises_are_numbered_without_gaps() -> None:
    numbers = [int(promise.split(".")[0]) for promise in PROMISES]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_every_promise_names_a_test() -> None:
    assert [promise.splitlines()[0] for promise in PROMISES if not named(promise)] == []


def test_every_named_test_exists() -> None:
    ids = [(path, name) for promise in PROMISES for path, name in named(promise)]
    missing = [
        f"{path}::{name}" for path, name in ids if not (ROOT / path).is_file() or name not in names_in(ROOT / path)
    ]
    assert missing == []
    assert len(ids) == len(re.findall(r"^ +- `tests/", TEXT, re.M)), "a test is named in a way that cannot be checked"
