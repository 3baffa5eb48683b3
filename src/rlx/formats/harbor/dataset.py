"""What a repository says of itself as a dataset: `dataset.toml` and `registry.json`, read tolerantly.

Tasks that a manifest lists and the repository lacks are said, not failed: samples and splits are common.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from rlx.formats.harbor.table import as_text
from rlx.formats.harbor.toml import parse_toml

MANIFEST, REGISTRY = "dataset.toml", "registry.json"
MAX_LISTED = 20
"""Absent tasks that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Manifest:
    path: str
    name: str | None = None
    version: str | None = None
    description: str | None = None
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    """Names of its tasks, as written."""
    problem: str | None = None
    """Why it could not be read."""


def manifests(shared: Mapping[str, bytes]) -> tuple[Manifest, ...]:
    """Every manifest among the repository's files, in path order."""
    found: list[Manifest] = []
    for path in sorted(shared):
        name = path.rpartition("/")[2]
        if name == MANIFEST:
            found.append(_dataset(path, shared[path]))
        elif name == REGISTRY:
            found += _registry(path, shared[path])
    return tuple(found)


def absent(manifest: Manifest, refs: Collection[str]) -> tuple[str, ...]:
    """Listed tasks that no folder of the repository is. A task's folder is the part after `org/`, in most sources."""
    folders = {ref.rpartition("/")[2] for ref in refs} | set(refs)
    return tuple(name for name in manifest.listed if name not in folders and name.rpartition("/")[2] not in folders)


def _dataset(path: str, data: bytes) -> Manifest:
    file = parse_toml(data)
    if file.problem:
        return Manifest(path, problem=file.problem.message)
    table = file.table.get("dataset")
    head = table if isinstance(table, Mapping) else {}
    return Manifest(
        path=path,
        name=as_text(head.get("name")),
        version=as_text(head.get("version")),
        description=as_text(head.get("description")),
        authors=_names(head.get("authors")),
        keywords=_names(head.get("keywords")),
        listed=_names(file.table.get("tasks")),
    )


def _registry(path: str, data: bytes) -> Iterable[Manifest]:
    """Harbor's list of datasets, or an older object with the tasks in a list of any name."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        yield Manifest(path, problem="The file is not JSON")
        return
    datasets = value if isinstance(value, list) else [value]
    for item in datasets[:50]:
        if not isinstance(item, Mapping):
            continue
        lists = [item.get("tasks"), *(inner for key, inner in item.items() if key != "tasks")]
        listed = next((names for names in map(_paths, lists) if names), ())
        yield Manifest(
            path=path,
            name=as_text(item.get("name")),
            version=as_text(item.get("version")),
            description=as_text(item.get("description")),
            listed=listed,
        )


def _names(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    named = (item.get("name") if isinstance(item, Mapping) else item for item in items)
    return tuple(name for name in map(as_text, named) if name)


def _paths(value: object) -> tuple[str, ...]:
    """Task paths, else names, of a list of objects."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    named = (as_text(item.get("path")) or as_text(item.get("name")) for item in items)
    return tuple(name for name in named if name)
