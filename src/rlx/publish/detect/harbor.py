"""Harbor task folders, where they lie, and which of them Harbor, OpenEnv and Verifiers find by themselves.

`harbor run --repo` takes the children of one folder (`--path`, by default `tasks`), or the datasets that a
`registry.json` names (harbor 0.25). `openenv harbor rollout` downloads `tasks/` and nothing else, and looks deeper only
where no child of it is a task (openenv 0.10, `openenv/harbor/tasks.py`). Verifiers asks Harbor for a registry's dataset
(verifiers 0.4).
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rlx.formats.harbor.dataset import REGISTRY, Manifest, absent, manifests
from rlx.formats.harbor.discovery import are_harbor, task_roots
from rlx.formats.packed.format import Packed
from rlx.publish.detect.base import UNREADABLE, Evidence, Files, Found, Way
from rlx.texts import say

FOLDERS: Final = 50
"""Folders of tasks that are told apart; the largest."""
DATASETS: Final = 50


async def detect_harbor(files: Files) -> Found:
    if files.repo.key.kind != "dataset":
        return Found()
    roots = task_roots(files.paths)
    if not are_harbor(roots, files.paths):
        return await _packed(files)
    named = await _registry(files, roots)
    ways = [*named, *_folders(roots)]
    evidence = {"harbor": tuple(_seen(way) for way in ways)}
    below = [root for root in roots if root.startswith("tasks/")]
    if below:
        ways.append(Way("openenv-tasks", "tasks", tasks=len(below)))
        evidence["openenv"] = (Evidence("tasks", say("publish.seen.openenv_tasks", n=len(below))),)
    else:
        evidence["openenv"] = (Evidence("", say("publish.seen.openenv_elsewhere")),)
    if named:
        ways += [Way("verifiers-harbor", way.path, way.name, way.version, tasks=way.tasks) for way in named]
        evidence["verifiers"] = (Evidence(REGISTRY, say("publish.seen.verifiers_harbor", n=len(named))),)
    else:
        evidence["verifiers"] = (Evidence("", say("publish.seen.verifiers_unregistered")),)
    return Found(tuple(ways), evidence)


def _folders(roots: Iterable[str]) -> list[Way]:
    """A way for every folder that holds tasks, the largest first. The repository itself may be one task."""
    if tuple(roots) == ("",):
        return [Way("harbor-path", "", tasks=1)]
    parents = Counter(root.rpartition("/")[0] for root in roots)
    largest = sorted(parents.items(), key=lambda item: (-item[1], item[0]))[:FOLDERS]
    return [Way("harbor-repo", parent, tasks=count) for parent, count in largest]


def _seen(way: Way) -> Evidence:
    if way.kind == "harbor-registry":
        return Evidence(REGISTRY, say("publish.seen.registry", name=way.name, version=way.version))
    if way.kind == "harbor-path":
        return Evidence("task.toml", say("publish.seen.one_task"))
    return Evidence(way.path, say("publish.seen.folders", n=way.tasks or 0))


async def _registry(files: Files, roots: tuple[str, ...]) -> list[Way]:
    """The datasets that the root's registry names, and whose tasks are all here."""
    if REGISTRY not in files.paths:
        return []
    try:
        data = await files.repo.read(REGISTRY, limit=1024 * 1024)
    except UNREADABLE:
        return []
    found = manifests({REGISTRY: data})
    return [way for manifest in found[:DATASETS] if (way := _dataset(manifest, roots)) is not None]


def _dataset(manifest: Manifest, roots: tuple[str, ...]) -> Way | None:
    if manifest.name is None or manifest.version is None or not manifest.listed or absent(manifest, roots):
        return None
    return Way("harbor-registry", "", manifest.name, manifest.version, tasks=len(manifest.listed))


async def _packed(files: Files) -> Found:
    """Tasks in archives or in a column of rows, which no framework reads before they are unpacked."""
    from rlx.formats.processors.harbor_packed import HarborPacked

    processor = HarborPacked()
    for table in files.tables:
        match = processor.match(table)
        if match is not None:
            path = (*table.paths, "")[0]
            return Found((Way("harbor-packed", path),), {"harbor": (Evidence(path, match.evidence),)})
    claim = await Packed().claim(files.repo)
    if claim is None or claim.confidence < 0.8:
        return Found()
    return Found((Way("harbor-packed"),), {"harbor": (Evidence("", claim.evidence),)})
