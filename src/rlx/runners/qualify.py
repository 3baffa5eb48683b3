"""Whether this machine's sandbox can stand in for a task's, found out from the task's files before anything runs."""

import math
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rlx.errors import UserError
from rlx.formats.base import Environment
from rlx.index.environment import IndexedEnvironment
from rlx.model import Blob, FileEntry, Listing
from rlx.runners.reach import NETWORK, grading, is_grader, places
from rlx.sandboxes.docker.compose import danger
from rlx.sandboxes.dockerfile import Entry, Host, ImageFacts, Plan, Refusal, base_of, needs, plan, told
from rlx.sandboxes.hf.fit import unfit
from rlx.sandboxes.replay import replayable
from rlx.texts import Say, say

DOCKERFILE = "environment/Dockerfile"
_LOOKED_AT = {"task.toml", DOCKERFILE, "environment/.dockerignore"}
_MOST_WARNINGS = 6
_MOST_FOLDERS = 200
_MOST_GRADERS = 20
_LONGEST_COMMAND = 120


@dataclass(frozen=True, slots=True)
class Verdict:
    reason: Say | None = None
    """Why it cannot."""
    source: str | None = None
    """The line of the file that says so."""
    notes: tuple[Say, ...] = ()
    warnings: tuple[Say, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """What is looked at of a task."""

    texts: Mapping[str, str]
    paths: frozenset[str]
    context: Mapping[str, Entry] | None
    """What is in `environment/`; None where not all of it is known."""
    is_whole: bool
    """All paths are known."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the task's settings say, as far as they can be read."""
        try:
            return tomllib.loads(self.texts.get("task.toml", ""))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    @property
    def image(self) -> str | None:
        image = _table(self.settings, "environment").get("docker_image")
        return image if isinstance(image, str) else None

    @property
    def network(self) -> bool:
        """Whether the agent has one, as far as the settings say."""
        environment = _table(self.settings, "environment")
        return environment.get("network_mode", "public") == "public" and environment.get("allow_internet") is not False

    @property
    def minutes(self) -> float | None:
        """That the agent and the verifier may take together."""
        seconds = [_table(self.settings, name).get("timeout_sec", 600.0) for name in ("agent", "verifier")]
        numbers = [float(each) for each in seconds if isinstance(each, int | float)]
        return (
            round(sum(numbers) / 60, 1) if len(numbers) == len(seconds) and all(map(math.isfinite, numbers)) else None
        )

    @property
    def has_solution(self) -> bool:
        """Also where that cannot be known."""
        named = re.compile(r"(steps/[^/]+/)?solution/solve\.\w+")
        return not self.is_whole or any(named.fullmatch(path) for path in self.paths)


async def material(environment: Environment, ref: str) -> Material | None:
    """Of a task whose files were read or lie in its row; None for others, which are looked at when they run."""
    if not isinstance(environment, IndexedEnvironment):
        return await _looked_up(environment, ref)
    record = await environment.record(ref)
    walked = environment.index.header.walked
    paths = frozenset(entry.path for entry in record.files)
    texts = {path: str(masked.text) for path, masked in record.texts.items()}
    return Material(texts, paths, None if walked else _context(record.files), not walked)


async def _looked_up(environment: Environment, ref: str) -> Material | None:
    """By asking for the files; None where there are none, or more folders than are looked into."""
    entries: list[FileEntry] = []
    folders = [""]
    try:
        for folder in folders:
            listed = await environment.files(ref, folder)
            if not isinstance(listed, Listing) or listed.truncated or len(folders) > _MOST_FOLDERS:
                return None
            entries += [entry for entry in listed.entries if not entry.is_dir]
            folders += [entry.path for entry in listed.entries if entry.is_dir and entry.withheld is None]
        known = {entry.path: entry for entry in entries}
        texts = {}
        graders = [path for path in known if is_grader(path)]
        for path in (*(_LOOKED_AT & known.keys()), *graders[:_MOST_GRADERS]):
            blob = await environment.files(ref, path)
            if isinstance(blob, Blob) and blob.text is not None:
                texts[path] = str(blob.text)
    except UserError:
        return None
    return Material(texts, frozenset(known), _context(entries), False)


def _context(entries: Iterable[FileEntry]) -> dict[str, Entry]:
    prefix = "environment/"
    return {
        entry.path.removeprefix(prefix): Entry("file", size=entry.size)
        for entry in entries
        if entry.path.startswith(prefix) and not entry.is_dir
    }


def qualify(found: Material, host: Host) -> Verdict:
    """How `host` would make the environment of a task and what it will reach for, or why it cannot."""
    verdict = _made_by(found, host)
    if verdict.reason is not None:
        return verdict
    return replace(verdict, warnings=(*verdict.warnings, *grading(found.texts)))


def qualify_image(found: Material) -> Verdict:
    """Whether a sandbox of the image itself can be made into the environment of a task."""
    text = found.texts.get(DOCKERFILE)
    if text is None or found.context is None or found.image is not None:
        return Verdict()
    ignored = found.texts.get("environment/.dockerignore")
    made = plan(text, found.context, host=Host("", image=ImageFacts({})), dockerignore=ignored)
    if isinstance(made, Refusal):
        return Verdict(made.why, f"{DOCKERFILE}:{made.line}" if made.line else DOCKERFILE)
    lacking = unfit(made)
    if lacking is not None:
        return Verdict(lacking[0], f"{DOCKERFILE}:{lacking[1]}")
    return Verdict(notes=made.notes)


def qualify_compose(found: Material) -> Verdict:
    """Whether the compose files of a task stay in their containers, as far as they were read."""
    for path, text in found.texts.items():
        if "compose" in path and path.endswith((".yml", ".yaml")):
            what = danger(text)
            if what is not None:
                return Verdict(say("sandbox.named.compose", path=path, what=what), path)
    return Verdict()


def _made_by(found: Material, host: Host) -> Verdict:
    text, image = found.texts.get(DOCKERFILE), found.image
    if text is None or found.context is None:
        if image is None or text is not None:
            return Verdict()
        base = base_of(image, host)
        if isinstance(base, Refusal):
            return Verdict(base.why, "task.toml")
        return Verdict(notes=base.notes)
    ignored = found.texts.get("environment/.dockerignore")
    made = plan(text, found.context, host=host, dockerignore=ignored)
    if isinstance(made, Refusal):
        return Verdict(made.why, f"{DOCKERFILE}:{made.line}" if made.line else DOCKERFILE)
    lacking = replayable(made)
    if lacking is not None:
        return Verdict(lacking[0], f"{DOCKERFILE}:{lacking[1]}")
    return Verdict(notes=made.notes, warnings=_warnings(made))


def _warnings(made: Plan) -> tuple[Say, ...]:
    asked = needs(made).of("docker")
    if asked:
        return tuple(told(need) for need in asked[:_MOST_WARNINGS])
    entrypoint = made.image.entrypoint
    first = (say("launch.entrypoint", command=shlex.join(entrypoint)[:_LONGEST_COMMAND]),) if entrypoint else ()
    from_network = needs(made).of(*NETWORK)
    if not from_network:
        return first
    summed = say("launch.network", n=len(from_network), places=places(from_network))
    return (*first, summed, *(told(need) for need in from_network[:_MOST_WARNINGS]))


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, Mapping) else {}
