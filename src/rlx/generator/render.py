"""A specification becomes a tree of files: the shared modules, and a variant for each framework that wraps them.

Pure, deterministic and quick: the same specification gives the same bytes.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rlx.errors import BadInput
from rlx.generator import python_text
from rlx.generator.registry import archetype, targets
from rlx.generator.schemas import function
from rlx.generator.spec import EnvSpec, Task, dump_spec
from rlx.generator.targets.base import Target

SHARED = Path(__file__).parent / "templates"
ARCHETYPES = Path(__file__).parent / "archetypes"
SPEC_FILE = "environment.toml"
_PATHS = ("{package}", "{module}")

type Tree = dict[str, str]
"""Texts of files by their path, with slashes."""


def render(
    spec: EnvSpec, frameworks: Sequence[str] = (), *, domain: str | None = None, tests: str | None = None
) -> Tree:
    """Every file of the environment, for the frameworks named, or for those that the specification names.

    `domain` and `tests` are the texts of a domain module of one's own and of its tests, instead of an archetype's.
    Raises `BadInput` for what is undecided, for options that the archetype does not have, and for what it cannot serve.
    """
    if spec.undecided:
        raise BadInput(
            f"The specification leaves open: {', '.join(spec.undecided)}.",
            hint="Decide these parts in the file, and take their names out of undecided.",
        )
    if spec.action.surface == "text":
        raise BadInput(
            "Tagged text is asked for, which OpenEnv, ORS, Verifiers and NeMo Gym have no place for: they call tools.",
            hint="Set action.surface to 'tools'.",
        )
    names = tuple(frameworks or spec.target.frameworks)
    values = _values(spec, names)
    shared = _shared(spec, values, domain, tests)
    tree = {SPEC_FILE: dump_spec(spec), "README.md": _text(SHARED / "README.md.j2", values)}
    tree["ruff.toml"] = "line-length = 120\n"
    tree |= shared
    for name in names:
        folder = PurePosixPath(spec.target.folder(name))
        tree |= {str(folder / path): text for path, text in _variant(spec, targets()[name], values, shared).items()}
    return dict(sorted(tree.items()))


def write(tree: Mapping[str, str], out: Path, *, force: bool = False) -> list[Path]:
    """Write a tree, and return the files that are new or changed.

    Raises `BadInput`, before anything is written, where another text would be overwritten, unless `force` says so.
    """
    changed = {out / path: text for path, text in tree.items() if _read(out / path) != text}
    if (taken := [path for path in changed if path.exists()]) and not force:
        raise BadInput(
            f"{len(taken)} files under {out} hold something else, such as {taken[0].relative_to(out)}.",
            hint="Name another folder with --out, or overwrite them with --force.",
        )
    for path, text in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(changed)


def copies(spec: EnvSpec, name: str) -> dict[str, str]:
    """Paths of a variant's copies of shared modules, each with the path of what it has to equal, under the root."""
    target = targets()[name]
    folder = PurePosixPath(spec.target.folder(name)) / _placed(target.package, spec)
    return {str(folder / file): file for file in (f"{spec.module}.py", "tasks.py")}


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _values(spec: EnvSpec, frameworks: tuple[str, ...]) -> dict[str, object]:
    unknown = [name for name in frameworks if name not in targets()]
    if unknown:
        raise BadInput(f"There is no target {unknown[0]!r}.", hint=f"There are {', '.join(targets())}.")
    return {
        "spec": spec,
        "frameworks": frameworks,
        "targets": targets(),
        "generator": version("rl-explorer"),
        "public": [{"id": t.id, "split": t.split, "prompt": t.prompt, **t.given} for t in spec.tasks],
        "hidden": {t.id: t.hidden for t in spec.tasks if t.hidden},
        "rows": {task.id: _row(task, spec) for task in spec.tasks},
        "options": {},
    }


def _shared(spec: EnvSpec, values: dict[str, object], domain: str | None, tests: str | None) -> Tree:
    """The modules that every variant has a copy of, and their tests."""
    if domain is None and spec.archetype is None:
        raise BadInput("This specification has a domain module of its own, which was not given.")
    if spec.archetype is not None:
        kind = archetype(spec.archetype)
        unknown = set(spec.options) - set(kind.options)
        problems = [f"There is no option {name!r}." for name in sorted(unknown)] or list(kind.problems(spec))
        if problems and domain is None:
            raise BadInput(f"Archetype {kind.name} cannot serve this: " + " ".join(problems))
        values["options"] = kind.options_of(spec)
        folder = ARCHETYPES / spec.archetype / "templates"
        domain = domain if domain is not None else _text(folder / "domain.py.j2", values)
        tests = tests if tests is not None else _text(folder / "test_domain.py.j2", values)
    tree = {f"{spec.module}.py": domain or "", "tasks.py": _text(SHARED / "tasks.py.j2", values)}
    if tests is not None:
        tree |= {f"tests/test_{spec.module}.py": tests, "conftest.py": _text(SHARED / "conftest.py.j2", values)}
    return tree


def _variant(spec: EnvSpec, target: Target, values: Mapping[str, object], shared: Tree) -> Tree:
    """A target's files, by their paths in its folder."""
    tree = {}
    top = target.folder / "templates"
    mine: dict[str, object] = {
        **values,
        "target": target,
        "requirements": [target.requirement, *spec.backend.dependencies],
    }
    for path in sorted(top.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = _placed(path.relative_to(top).as_posix(), spec)
            template = name.endswith(".j2")
            text = _text(path, mine) if template else path.read_text(encoding="utf-8")
            if text or not template:  # a template that comes to nothing is left out
                tree[name.removesuffix(".j2")] = text
    package = PurePosixPath(_placed(target.package, spec))
    return tree | {str(package / file): shared[file] for file in (f"{spec.module}.py", "tasks.py")}


def _placed(path: str, spec: EnvSpec) -> str:
    return path.replace("{package}", spec.package).replace("{module}", spec.module)


def _text(path: Path, values: Mapping[str, object]) -> str:
    return _environment(path.parent).get_template(path.name).render(values)


def _row(task: Task, spec: EnvSpec) -> str:
    """A row of NeMo Gym: what the model is asked, and which task it is. Nothing hidden."""
    return _json(
        {
            "responses_create_params": {
                "input": [{"role": "user", "content": task.prompt}],
                "tools": [function(tool) for tool in spec.action.tools],
                "parallel_tool_calls": False,
            },
            "verifier_metadata": {"task_id": task.id},
            "agent_ref": {"type": "responses_api_agents", "name": f"{spec.package}_simple_agent"},
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@cache
def _environment(folder: Path) -> Environment:
    """Templates of a folder and the shared ones. They make source and Markdown, so nothing is escaped for HTML."""
    environment = Environment(  # noqa: S701  # not HTML
        loader=FileSystemLoader([folder, SHARED]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "literal": python_text.literal,
        "py": python_text.string,
        "doc": python_text.docstring,
        "annotation": python_text.annotation,
        "field": python_text.field,
        "signature": python_text.signature,
        "passed": python_text.passed,
        "camel": lambda name: "".join(word.capitalize() for word in name.split("_")),
        "json": _json,
        "toml": _json,  # strings and lists of strings are spelled alike
    }
    return environment
