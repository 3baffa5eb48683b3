"""A Python package as files: a wheel, an unpacked one, or a folder of installed packages. Never imported."""

import ast
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from rlx.errors import BadInput

_LARGEST: Final = 8 * 1024 * 1024
"""Bytes of one file that is read."""
_SAYS: Final = 24
"""Characters that a sentence needs to say something."""


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    """As its metadata spells it."""
    version: str
    root: Path | zipfile.Path
    paths: tuple[str, ...]
    """Its files, in order."""

    def text(self, path: str) -> str:
        """Raises `BadInput` for a file that is too long to be one of ours to read."""
        data = (self.root / path).read_bytes()
        if len(data) > _LARGEST:
            raise BadInput(f"{path} of {self.name} has {len(data):,} bytes.")
        return data.decode("utf-8", "replace")

    def module(self, path: str) -> ast.Module:
        """A Python file, parsed. Raises `BadInput` where it is none."""
        try:
            return ast.parse(self.text(path))
        except (SyntaxError, ValueError) as error:
            raise BadInput(f"{path} of {self.name} {self.version} is no Python: {error}.") from None

    def yaml(self, path: str) -> object:
        """A YAML file; None where it is none: templates are among the configurations of packages."""
        try:
            return yaml.safe_load(self.text(path))
        except (yaml.YAMLError, ValueError):
            return None

    def match(self, pattern: str) -> Iterator[str]:
        """Its files that match a glob: `*` within a name, `**/` for any folders."""
        parts = re.split(r"(\*\*/|\*)", pattern)
        written = {"**/": "(?:[^/]+/)*", "*": "[^/]*"}
        wanted = re.compile("".join(written.get(part) or re.escape(part) for part in parts))
        yield from (path for path in self.paths if wanted.fullmatch(path))


def open_package(root: Path, name: str) -> Package:
    """The package `name` at `root`. Raises `BadInput` where it is not there."""
    if root.is_dir():
        opened: Path | zipfile.Path = root
    elif zipfile.is_zipfile(root):
        opened = zipfile.Path(root)
    else:
        raise _missing(root, name)
    folders = sorted(path.name for path in opened.iterdir() if path.name.endswith(".dist-info"))
    found = next((folder for folder in folders if _called(folder) == _plain(name)), None)
    if found is None:
        raise _missing(root, name)
    record = (opened / found / "RECORD").read_text("utf-8")
    listed = sorted(line.rsplit(",", 2)[0].strip('"') for line in record.splitlines() if line.count(",") >= 2)
    version = found.removesuffix(".dist-info").rpartition("-")[2]
    return Package(name, version, opened, tuple(item for item in listed if not item.startswith(("../", "/"))))


def _missing(root: Path, name: str) -> BadInput:
    return BadInput(
        f"There is no package {name} at {root}.",
        hint="Name a wheel, a folder it was unpacked into, or the site-packages it is installed in.",
    )


def _called(folder: str) -> str:
    return _plain(folder.removesuffix(".dist-info").rpartition("-")[0])


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def sentence(text: str | None, limit: int = 240) -> str:
    """The first sentence of a text that says something, on one line and cut to size."""
    paragraph = " ".join((text or "").strip().split("\n\n", 1)[0].split())
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph)
    first = parts[0] if len(parts[0]) >= _SAYS else " ".join(parts[:2])
    return first if len(first) <= limit else f"{first[: limit - 1].rpartition(' ')[0]}…"


def classes(module: ast.Module) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}


def constants(module: ast.Module) -> dict[str, str]:
    """Names at the top of a module that are given a text."""
    return {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
