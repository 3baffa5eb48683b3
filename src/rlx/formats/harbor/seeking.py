"""What to look for in a task that is not listed: what any may hold, then what its settings and scripts name."""

import re
import sys
from collections.abc import Iterator, Mapping
from posixpath import normpath

from rlx.formats.harbor.discovery import SETTINGS
from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE
from rlx.formats.harbor.scripts import CODE, bare, suffix
from rlx.formats.harbor.settings import read_settings
from rlx.formats.harbor.toml import parse_toml

MAX_STEPS = 40
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
_MAX_PATH = 200
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_MODULE = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)


def sought(data: Mapping[str, bytes]) -> Iterator[str]:
    """Task-relative paths, a folder's without a slash at its end. `data` is what was read of the task, by path."""
    yield from _ALWAYS
    if SETTINGS in data:
        for step in read_settings(parse_toml(data[SETTINGS]).table).steps[:MAX_STEPS]:
            yield from (f"steps/{step.name}/{path}" for path in _OF_STEP)
    for path, value in data.items():
        folder = _tests(path)
        if folder and suffix(path) in CODE:
            yield from (f"{folder}{name}" for name in _named(value.decode("utf-8", "replace")))


def _tests(path: str) -> str | None:
    """The `tests/` a script lies in, where others are looked for."""
    head, found, _ = path.rpartition("tests/")
    return f"{head}{found}" or None


def _named(text: str) -> Iterator[str]:
    """Scripts that a script calls or imports, as paths in its folder."""
    lines = bare(text)
    named: dict[str, None] = {}
    for token in _PATH.findall(lines):
        if len(token) <= _MAX_PATH and suffix(token) in CODE:
            inner = normpath(token).rpartition("tests/")[2].lstrip("/")
            named.update(dict.fromkeys((inner, inner.rpartition("/")[2])))
    modules = [name for name in _MODULE.findall(lines) if name not in sys.stdlib_module_names]
    named.update(dict.fromkeys(f"{name}.py" for name in modules))
    yield from [name for name in named if not name.startswith("..")][:MAX_NAMED]
