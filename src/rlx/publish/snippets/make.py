"""Snippets of a repository at a revision, from templates that are data.

Every value that comes from a repository is quoted for the language it stands in. A commit is pinned by downloading it:
`harbor run --repo` and `gym dataset download` take branches and tags only (harbor 0.25 resolves with `git ls-remote`,
which knows no commits), and such snippets say that they read the newest revision.
"""

import json
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined

from rlx.errors import BadInput
from rlx.formats.processors.nemo_gym.servers import known
from rlx.formats.rows.layout import Split
from rlx.hub.info import RepoInfo
from rlx.hub.tree import Tree
from rlx.ids import ROOT_REF
from rlx.publish.detect.base import Detection, Support, Way
from rlx.publish.snippets.base import Choices, Snippet, Step
from rlx.settings import DEFAULT_HUB

ROWS: Final = "rows"
_ON_THE_HUB: Final = frozenset({"harbor-registry", "verifiers-harbor"})
"""Ways that go through git, and with that through the Hub itself."""
_FOLDERS: Final = 6
"""Folders of tasks of which each has a snippet."""


def snippets(
    info: RepoInfo, tree: Tree, splits: Sequence[Split], detection: Detection, choices: Choices, *, endpoint: str
) -> tuple[Snippet, ...]:
    """Every snippet that fits `choices`, the frameworks' in their order, then the rows as such.

    `endpoint` is the hub's. Raises `BadInput` for a framework that the files do not support.
    """
    made = [
        snippet
        for support in detection.supports
        if choices.framework in (None, support.framework)
        for snippet in _of(support, info, tree, choices, endpoint)
    ]
    folders = any(way.framework == "harbor" for support in detection.supports for way in support.ways)
    if info.key.kind == "dataset" and not folders and choices.framework in (None, ROWS):
        made += _rows(info, splits, choices, endpoint)
    if choices.framework is not None and not made:
        offered = sorted({support.framework for support in detection.supports if support.state != "claimed"})
        raise BadInput(
            f"Nothing of {info.key} is for {choices.framework[:60]!r} as chosen.",
            hint=f"Its files support {', '.join(offered)}." if offered else "Its files support no framework.",
        )
    return tuple(made)


def _of(support: Support, info: RepoInfo, tree: Tree, choices: Choices, endpoint: str) -> Iterable[Snippet]:
    ours = endpoint.rstrip("/") == DEFAULT_HUB
    ways = [way for way in support.ways if (ours or way.kind not in _ON_THE_HUB) and _fits(way, choices)]
    for way in ways[:_FOLDERS]:
        yield _make(way.kind, support.framework, support.state, way, _variables(way, info, tree, choices, endpoint))


def _fits(way: Way, choices: Choices) -> bool:
    """Whether a way holds the task and the config that were chosen."""
    if way.split:
        chosen = choices.config in (None, way.name)
        return chosen and (choices.task is None or _split_of(choices.task) == _table(way.name, way.split))
    if choices.task is None or way.kind in {"openenv-server", "ors-server", "nemo-gym-config", "verifiers-package"}:
        return True
    root = "" if choices.task == ROOT_REF else choices.task
    if way.kind == "harbor-repo":
        return root.rpartition("/")[0] == way.path
    if way.kind == "openenv-tasks":
        return root.startswith("tasks/")
    return True


def _rows(info: RepoInfo, splits: Sequence[Split], choices: Choices, endpoint: str) -> Iterable[Snippet]:
    """The first table that fits, read as a table."""
    for split in splits:
        if choices.config not in (None, split.config) or not split.paths:
            continue
        if choices.task is not None and _split_of(choices.task) != _table(split.config, split.name):
            continue
        way = Way("rows", split.paths[0], split.config, split=split.name)
        yield _make(ROWS, ROWS, ROWS, None, _variables(way, info, None, choices, endpoint))
        return


def _make(template: str, framework: str, state: str, way: Way | None, variables: Mapping[str, Any]) -> Snippet:
    data = _templates()[template]
    common = {name: _render(text, variables) for name, text in _common().items()}
    steps = tuple(
        Step(step["id"], step.get("language", "bash"), _render(step["text"], {**variables, **common}).strip("\n"))
        for step in data["steps"]
    )
    tested = tuple(f"{name} {versions()[name]}" for name in data["uses"])
    return Snippet(framework, way, state, tested, tuple(data["needs"]), steps)


def _variables(way: Way, info: RepoInfo, tree: Tree | None, choices: Choices, endpoint: str) -> dict[str, Any]:
    repo, folder = info.key.repo_id, info.key.repo_id.rpartition("/")[2]
    root = "" if choices.task in (None, ROOT_REF) else str(choices.task)
    at = way.path if way.kind in {"harbor-repo", "harbor-path", "openenv-tasks", "verifiers-package"} else ""
    place = root if root and way.kind == "harbor-repo" else at
    subdomain = info.subdomain or repo.lower().replace("/", "-").replace("_", "-").replace(".", "-")
    include = at if way.kind == "openenv-tasks" else place
    return {
        "v": versions(),
        "repo": repo,
        "sha": info.sha or "main",
        "endpoint": "" if endpoint.rstrip("/") == DEFAULT_HUB else endpoint,
        "url": f"{DEFAULT_HUB}/datasets/{repo}",
        "space_url": f"https://{subdomain}.hf.space",
        "folder": folder,
        "here": f"{folder}/{place}" if place else folder,
        "include": f"{include}/*" if include else way.path if way.split else "",
        "task": root.rpartition("/")[2],
        "index": _index(tree, root) if tree is not None and way.kind == "openenv-tasks" else 0,
        "row": choices.task.rpartition("/")[2] if choices.task and way.split else 0,
        "name": way.name,
        "config": way.name,
        "version": way.version,
        "split": way.split,
        "file": way.path,
        "local_file": f"{folder}/{way.path}",
        "server": _server(repo) if way.kind == "nemo-gym-rows" else "",
        "model": shlex.quote(choices.model) if choices.model else '"$MODEL"',
        "sandbox": choices.sandbox,
        "agent": choices.agent,
    }


def _index(tree: Tree, root: str) -> int:
    """The place of a task among those that OpenEnv finds: its own order is that of the folders' names."""
    from rlx.formats.harbor.discovery import task_roots

    roots = [found.split("/") for found in task_roots(tree.files) if found.startswith("tasks/")]
    flat = sorted(path for path in roots if len(path) == 2)
    order = flat or sorted(roots)
    wanted = root.split("/")
    return order.index(wanted) if wanted in order else 0


def _server(repo: str) -> str:
    found = known(None, repo, frozenset())
    return found.server.name if found.server is not None else ""


def _split_of(ref: str) -> str:
    return ref.rpartition("/")[0]


def _table(config: str, split: str) -> str:
    return split if config == "default" else f"{config}/{split}"


@cache
def versions() -> Mapping[str, str]:
    """The releases that the commands were checked against, by package."""
    return tomllib.loads(files("rlx.publish.snippets").joinpath("versions.toml").read_text())


@cache
def _templates() -> Mapping[str, Mapping[str, Any]]:
    folder = files("rlx.publish.snippets").joinpath("templates")
    found = {item.name.removesuffix(".toml"): tomllib.loads(item.read_text()) for item in folder.iterdir()}
    return {name: data for name, data in found.items() if name != "common"}


@cache
def _common() -> Mapping[str, str]:
    return tomllib.loads(files("rlx.publish.snippets").joinpath("templates/common.toml").read_text())


@cache
def _environment() -> Environment:
    made = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)  # noqa: S701 - no HTML
    made.filters |= {
        "sh": lambda value: shlex.quote(str(value)),
        "py": lambda value: json.dumps(str(value)),  # a string of Python and of YAML too
        "sql": lambda value: "'" + str(value).replace("'", "''") + "'",
        "glob": _literal,
        "json_list": lambda value: json.dumps([str(value)]),
    }
    return made


def _literal(name: str) -> str:
    """A pattern of `fnmatch` that is one name alone."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _render(text: str, variables: Mapping[str, Any]) -> str:
    return _environment().from_string(text.strip("\n")).render(variables)
