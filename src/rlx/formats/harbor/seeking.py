"""What to look for in a task that is not listed: what any may hold, then what its settings and scripts name."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import normpath

from rlx.formats.harbor.discovery import SETTINGS
from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE
from rlx.formats.harbor.scripts import CODE, bare, suffix
from rlx.formats.harbor.settings import read_settings
from rlx.formats.harbor.toml import parse_toml

MAX_STEPS = 40
"""Steps whose files are looked for."""
MAX_NAMED = 24
"""Files that one script is looked through for."""

_ALWAYS = (
    SETTINGS,
    "instruction.md",
    "tests/test.sh",
    "tests/test.bat",
    "tests/test_outputs.py",
    DOCKERFILE,
    COMPOSE,
    "tests/Dockerfile",
    "tests/docker-compose.yaml",
    "environment",
    "solution",
    "tests",
    "steps",
)
_OF_STEP = (
    "instruction.md",
    "tests/test.sh",
    "tests/test.bat",
    "tests/Dockerfile",
    "tests/docker-compose.yaml",
    "tests",
)
_NO_PART = frozenset({"", ".", ".."})
_TESTS = "tests/"
_MAX_PATH = 200
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_MODULE = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)


def sought(data: Mapping[str, bytes]) -> Iterator[str]:
    """Task-relative paths, a folder's without a slash at its end. `data` is what was read of the task, by path."""
    yield from _ALWAYS
    steps = _steps(data[SETTINGS]) if SETTINGS in data else ()
    for step in steps:
        yield from (f"steps/{step}/{path}" for path in _OF_STEP)
    for path, value in data.items():
        if suffix(path) in CODE:
            names = _named(value.decode("utf-8", "replace"))
            yield from (f"{folder}{name}" for folder in _folders(path, steps) for name in names)


def _steps(settings: bytes) -> Sequence[str]:
    """Names of steps that can be folders."""
    names = [step.name for step in read_settings(parse_toml(settings).table).steps[:MAX_STEPS]]
    return [name for name in names if name.isprintable() and len(name) <= _MAX_PATH and _is_inside(name)]


def _folders(path: str, steps: Sequence[str]) -> Iterable[str]:
    """Where the scripts that one at `path` names may lie: a step's and the task's call one another."""
    head, found, _ = path.rpartition("tests/")
    if not found:
        return ()
    own = f"{head}{found}"
    others = [f"steps/{step}/tests/" for step in steps] if own == _TESTS else [_TESTS]
    return (own, *others)


def _named(text: str) -> list[str]:
    """Scripts that a script calls or imports, as paths in its folder."""
    lines = bare(text)
    named: dict[str, None] = {}
    for token in _PATH.findall(lines):
        if len(token) <= _MAX_PATH and suffix(token) in CODE:
            inner = normpath(token).rpartition("tests/")[2].lstrip("/")
            named.update(dict.fromkeys((inner, inner.rpartition("/")[2])))
    modules = [name for name in _MODULE.findall(lines) if name not in sys.stdlib_module_names]
    named.update(dict.fromkeys(f"{name}.py" for name in modules))
    return [name for name in named if _is_inside(name)][:MAX_NAMED]


def _is_inside(path: str) -> bool:
    return _NO_PART.isdisjoint(path.split("/"))
