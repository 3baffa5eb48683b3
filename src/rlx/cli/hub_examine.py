"""Looks at a folder as the explorer would at the repository it is about to become."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from rlx.cli.session import open_environment, with_services
from rlx.errors import BadInput
from rlx.formats.base import Environment
from rlx.hub.repo import Repo
from rlx.ids import EnvKey, Kind
from rlx.localhub.cards import parse_card
from rlx.model import Summary, TaskQuery, Viewer
from rlx.publish.detect.detect import detect
from rlx.services import Services
from rlx.settings import Settings
from rlx.texts import words

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_PAGE = 500
_SPEC = "environment.toml"
"""Of an environment that `rlx new` wrote."""

type Shape = Literal["folders", "rows", "generated", "space"]


@dataclass(frozen=True, slots=True)
class Problem:
    ref: str
    why: str


@dataclass(frozen=True, slots=True)
class Examined:
    shape: Shape
    title: str
    brief: str
    frameworks: Sequence[str]
    """Tags of those that can load it."""
    tasks: Sequence[str]
    """Refs; empty where it has no list of tasks."""
    problems: Sequence[Problem]


def kind_of(folder: Path) -> Kind:
    """Whether a folder is a Space: its card names an SDK, or it has the file of an OpenEnv server."""
    readme = folder / "README.md"
    text = readme.read_text("utf-8", "replace") if readme.is_file() else ""
    is_space = bool(parse_card(text).values("sdk")) or (folder / "openenv.yaml").is_file()
    return "space" if is_space else "dataset"


def examine(folder: Path, key: EnvKey) -> Examined:
    """What is in `folder`. Raises `BadInput` for what is no environment."""
    with looking_at(folder, key) as (settings, _):

        async def work(services: Services, viewer: Viewer) -> Examined:
            return await _examined(services, viewer, folder, key)

        return with_services(settings, work)


@contextmanager
def looking_at(folder: Path, key: EnvKey | None = None) -> Iterator[tuple[Settings, EnvKey]]:
    """Settings under which `folder` is a hub's only repository, and its key."""
    key = key or EnvKey(kind_of(folder), "local", _UNSAFE.sub("-", folder.resolve().name).strip("-.") or "folder")
    with TemporaryDirectory() as place:
        hub = Path(place) / "hub"
        above = hub / f"{key.kind}s" / key.org
        above.mkdir(parents=True)
        (above / key.name).symlink_to(folder.resolve(), target_is_directory=True)
        yield Settings(hub=str(hub), store=Path(place) / "store", cache_dir=Path(place) / "cache"), key


async def _examined(services: Services, viewer: Viewer, folder: Path, key: EnvKey) -> Examined:
    info = await services.library.info(key, viewer)
    detection = await detect(Repo(services.hub, info, viewer.token or False))
    frameworks = [support.framework for support in detection.supports if support.state != "claimed"]
    if key.kind == "space":
        lacking = (
            [] if (folder / "Dockerfile").is_file() else [Problem("Dockerfile", "A Space of the SDK docker needs one.")]
        )
        sdk = parse_card(_readme(folder)).values("sdk")
        wrong = lacking if not sdk or sdk == ["docker"] else []
        return Examined("space", _heading(folder, key), "", frameworks, (), wrong)
    if (folder / _SPEC).is_file():
        return _generated(folder, frameworks)
    environment = await open_environment(services, key, viewer, filled=True)
    summary = await environment.summary()
    if summary.format == "files" or not summary.tasks:
        why = words(summary.why) if summary.why else "It has no tasks."
        raise BadInput(f"{folder} is no environment that can be published. {why}", hint="See docs/formats.md.")
    refs, problems = await _tasks(environment)
    shape: Shape = "folders" if any((folder / ref).is_dir() for ref in refs[:1]) else "rows"
    return Examined(shape, _title(summary, folder, key), str(summary.brief), frameworks, refs, problems)


def _generated(folder: Path, frameworks: Sequence[str]) -> Examined:
    from rlx.generator.spec import load_spec  # imported late: only what `rlx new` wrote has one

    spec = load_spec(folder / _SPEC)
    problems = [Problem(part, "Nobody has decided this part yet.") for part in spec.undecided]
    return Examined("generated", spec.title, spec.goal, frameworks, (), problems)


async def _tasks(environment: Environment) -> tuple[list[str], list[Problem]]:
    refs: list[str] = []
    problems: list[Problem] = []
    while page := (await environment.tasks(TaskQuery(offset=len(refs), limit=_PAGE))).items:
        refs += [card.ref for card in page]
        problems += [Problem(card.ref, words(card.problem)) for card in page if card.problem is not None]
    return refs, problems


def _title(summary: Summary, folder: Path, key: EnvKey) -> str:
    return str(summary.title) if (folder / "README.md").is_file() else _named(key)


def _heading(folder: Path, key: EnvKey) -> str:
    told = parse_card(_readme(folder)).values("title")
    return told[0] if told else _named(key)


def _readme(folder: Path) -> str:
    path = folder / "README.md"
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _named(key: EnvKey) -> str:
    return key.name.replace("-", " ").replace("_", " ").strip().capitalize()
