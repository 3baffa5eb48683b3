"""Frameworks whose environments are programs: a manifest, a package or a server among the files tells of one."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Final

from rlx.publish.detect.base import UNREADABLE, Evidence, Files, Found, Way
from rlx.texts import say

MANIFESTS: Final = ("openenv.yaml", "openenv.yml")
READ: Final = 12
"""Files of a kind that are read."""
LIMIT: Final = 64 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_REQUIRED: Final = re.compile(r"\s*([A-Za-z0-9._-]+)")
_ORS: Final = re.compile(r"^\s*(?:from|import)\s+(openreward|ors)\b", re.MULTILINE)
_SERVERS: Final = re.compile(r"^(resources_servers|responses_api_agents)\s*:", re.MULTILINE)
_MANIFEST_NAME: Final = re.compile(r"^name: *([A-Za-z0-9_-]{1,100}) *$", re.MULTILINE)
_LOADS: Final = re.compile(r"^def load_environment\b|\b\w*Taskset\b", re.MULTILINE)
"""What Verifiers looks for in a package: the last API's function, or a taskset of the current one."""


async def detect_code(files: Files) -> Found:
    ways: list[Way] = []
    evidence: dict[str, tuple[Evidence, ...]] = {}
    for found in (await _openenv(files), await _verifiers(files), await _nemo_gym(files), await _ors(files)):
        for way, seen in found:
            ways.append(way)
            evidence[way.framework] = (*evidence.get(way.framework, ()), seen)
    return Found(tuple(ways), evidence)


type _Seen = list[tuple[Way, Evidence]]


async def _openenv(files: Files) -> _Seen:
    """The manifest at a Space's root, which `openenv push` writes and `openenv validate` asks for."""
    path = next((name for name in MANIFESTS if name in files.paths), None)
    if path is None or files.repo.key.kind != "space":
        return []
    named = _MANIFEST_NAME.search(await _text(files, path))
    told = named[1] if named is not None else ""
    return [(Way("openenv-server", path, told), Evidence(path, say("publish.seen.openenv_manifest")))]


async def _verifiers(files: Files) -> _Seen:
    """Packages that need `verifiers` and define what `vf-eval` loads."""
    found: _Seen = []
    for path in _named(files, ("pyproject.toml",)):
        project = _project(await _text(files, path))
        name = project.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or "verifiers" not in _needs(project):
            continue
        folder = path.rpartition("/")[0]
        module = name.replace("-", "_").replace(".", "_").lower()
        for place in (f"{module}.py", f"{module}/__init__.py", f"{module}/{module}.py"):
            source = f"{folder}/{place}" if folder else place
            if source in files.paths and _LOADS.search(await _text(files, source)):
                seen = Evidence(source, say("publish.seen.verifiers_package", name=name))
                found.append((Way("verifiers-package", folder, name), seen))
                break
    return found


async def _nemo_gym(files: Files) -> _Seen:
    """Settings of resources servers, which `gym env start` is given."""
    found: _Seen = []
    for path in _named(files, (".yaml", ".yml")):
        if "config" in path and _SERVERS.search(await _text(files, path)):
            found.append((Way("nemo-gym-config", path), Evidence(path, say("publish.seen.nemo_config"))))
    return found


async def _ors(files: Files) -> _Seen:
    """A Space's server of the Open Reward Standard, which says so in what it imports."""
    if files.repo.key.kind != "space":
        return []
    for path in _named(files, ("server.py", "app.py", "main.py")):
        if _ORS.search(await _text(files, path)):
            return [(Way("ors-server", path), Evidence(path, say("publish.seen.ors_server")))]
    return []


def _named(files: Files, endings: tuple[str, ...]) -> list[str]:
    """The first files so named, those nearest to the root first."""
    found = [path for path in files.paths if path.endswith(endings) and "node_modules/" not in path]
    return sorted(found, key=lambda path: (path.count("/"), path))[:READ]


async def _text(files: Files, path: str) -> str:
    """A file's text; empty where it cannot be had or is too long to be what is looked for."""
    entry = files.paths[path]
    if entry.size > LIMIT:
        return ""
    try:
        return (await files.repo.read(path, limit=LIMIT)).decode(errors="replace")
    except UNREADABLE:
        return ""


def _project(text: str) -> Mapping[str, object]:
    try:
        project = tomllib.loads(text).get("project")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return project if isinstance(project, dict) else {}


def _needs(project: Mapping[str, object]) -> frozenset[str]:
    """Names of the packages that a project depends on."""
    told = project.get("dependencies")
    needs: Iterable[object] = told if isinstance(told, list) else ()
    found = (_REQUIRED.match(item) for item in needs if isinstance(item, str))
    return frozenset(match[1].lower().replace("_", "-") for match in found if match is not None)
