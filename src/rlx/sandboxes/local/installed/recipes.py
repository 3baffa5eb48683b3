"""What the agents are made of: pinned files of PyPI and npm. The lists are `NAME.toml` beside this file.

Each has files for every processor (`any`), for one (`x86_64`), or for one and a version of Python (`cp312-x86_64`).
"""

import base64
import hashlib
import json
import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from rlx.sandboxes.local.machine import runtime
from rlx.sandboxes.local.registries import Pinned

VERSION: Final = 1
"""Raised when a layer comes to hold something else for the same files."""
FOLDER: Final = "/opt/rlx-agents"
"""Where a sandbox has the layers, each in a folder of its agent's name. No task's PATH leads there."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file, unpacked."""

    pinned: Pinned
    into: str
    """A folder below the agent's."""
    only: Sequence[str]
    without: Sequence[str]
    """Globs of paths in it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    agent: str
    version: str
    command: Sequence[str]
    """What starts it, by paths below its folder."""
    entry: str | None
    """Instead of a command, `module:function` for the interpreter that every sandbox has."""
    megabytes: int
    """That the layer takes, about."""
    fetched: int
    """Megabytes that are fetched for it, about."""
    memory_mb: int
    """Megabytes of memory that it takes while it works, beside what it runs."""
    parts: Sequence[Part]
    lacking: Sequence[str]
    """Projects that have no file for this machine; the layer cannot be made then."""

    @property
    def key(self) -> str:
        told = json.dumps([VERSION, self.version, self.command, self.entry, python_tag() if self.entry else None])
        digests = [f"{part.into} {part.pinned.digest} {part.only} {part.without}" for part in self.parts]
        named = hashlib.sha256("\n".join([told, *digests]).encode()).hexdigest()[:32]
        return f"agent-{self.agent}-{named}"

    @property
    def home(self) -> str:
        return f"{FOLDER}/{self.agent}"


@cache
def recipes() -> Mapping[str, Recipe]:
    """By agent, for this machine."""
    found = {}
    for file in files(__package__).iterdir():
        if file.name.endswith(".toml"):
            agent = file.name.removesuffix(".toml")
            found[agent] = _recipe(agent, tomllib.loads(file.read_text("utf-8")))
    return dict(sorted(found.items()))


def python_tag() -> str:
    """Of the interpreter that runs in sandboxes: `cp312`. Empty where there is none."""
    found = runtime()
    return f"cp{found.library.name.removeprefix('python').replace('.', '')}" if found is not None else ""


def _recipe(agent: str, table: Mapping[str, Any]) -> Recipe:
    machine, tag = platform.machine(), python_tag()
    parts, lacking = [], []
    for registry in ("npm", "pypi"):
        for entry in table.get(registry, ()):
            known = entry["files"]
            told = known.get("any") or known.get(machine) or known.get(f"{tag}-{machine}")
            if told is None:
                lacking.append(str(entry.get("project") or agent))
                continue
            project = told.get("project") or entry["project"]
            name = told.get("name") or f"{project.rpartition('/')[2]}-{entry['version']}.tgz"
            digest = f"sha256:{told['sha256']}" if "sha256" in told else _of_integrity(told["integrity"])
            pinned = Pinned("npm" if registry == "npm" else "pypi", project, name, digest)
            parts.append(Part(pinned, entry.get("into", "lib"), entry.get("only", ()), entry.get("without", ())))
    return Recipe(
        agent=agent,
        version=table["version"],
        command=tuple(table.get("command", ())),
        entry=table.get("entry"),
        megabytes=table["megabytes"],
        fetched=table["fetched"],
        memory_mb=table["memory_mb"],
        parts=tuple(parts),
        lacking=tuple(lacking),
    )


def _of_integrity(text: str) -> str:
    """npm writes digests as `sha512-` and base64."""
    algorithm, _, coded = text.partition("-")
    return f"{algorithm}:{base64.b64decode(coded).hex()}"
