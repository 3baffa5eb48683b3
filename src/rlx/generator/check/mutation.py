"""Mutants: a mistake is planted in a wrapper, and parity has to notice. One that it does not notice has survived."""

import asyncio
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rlx.errors import BadInput, RlxError
from rlx.generator.check.environments import Frameworks
from rlx.generator.check.plan import make_plan
from rlx.generator.check.run import AT_ONCE, Check, Told, drive, reference
from rlx.generator.check.servers import serving
from rlx.generator.registry import archetype, targets
from rlx.generator.render import SPEC_FILE
from rlx.generator.spec import EnvSpec, load_spec
from rlx.generator.targets.base import Mutant, Target
from rlx.store.passing import passing

ROUNDS = 60
_SPOIL = (
    "{key: value[:-1] if isinstance(value, (str, list)) else not value if isinstance(value, bool) else value + 1 "
    "for key, value in arguments.items()}"
)
_LEAK = 'return [tasks.full(task["id"]) for task in tasks.public(split)]'


@dataclass(frozen=True, slots=True)
class Fate:
    framework: str
    kind: str
    killed: bool
    by: str
    """What parity noticed: a kind of difference, or how the variant broke."""
    seconds: float


async def mutate(
    folder: Path, frameworks: Frameworks, *, only: Sequence[str] = (), told: Told = lambda line: None
) -> list[Fate]:
    """What becomes of every mutant of every variant of the environment in a folder."""
    spec = load_spec(folder / SPEC_FILE)
    kind = archetype(spec.archetype) if spec.archetype else None
    plan = make_plan(spec, kind, ROUNDS)
    wanted = await reference(spec, folder, plan, frameworks)
    job = Check(spec, folder, frameworks, plan, wanted, {})
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(target: Target, mutant: Mutant) -> Fate:
        async with gate:
            fate = await _fate(job, target, mutant)
        told(f"{fate.framework} {fate.kind}: {'killed by ' + fate.by if fate.killed else 'SURVIVED'}")
        return fate

    chosen = [targets()[name] for name in spec.target.frameworks if not only or name in only]
    return await asyncio.gather(*(one(target, mutant) for target in chosen for mutant in target.mutants))


async def _fate(job: Check, target: Target, mutant: Mutant) -> Fate:
    begun = time.monotonic()
    python = await job.frameworks.python(target, job.spec.backend.dependencies)
    with passing("mutant-") as scratch:
        source = job.root / job.spec.target.folder(target.name)
        folder = Path(shutil.copytree(source, scratch / source.name))
        plant(job.spec, folder, mutant)
        try:
            async with serving(target, python, folder, job.frameworks.variables) as url:
                differences, failure = await drive(job, target, python, folder, url)
        except RlxError as error:
            differences, failure = [], error.message
    last = failure.strip().splitlines()[-1][:200] if failure.strip() else ""
    by = differences[0].what if differences else last
    return Fate(target.name, mutant.kind, bool(by), by, time.monotonic() - begun)


def plant(spec: EnvSpec, folder: Path, mutant: Mutant) -> None:
    """Change the file. Raises `BadInput` where a text to change is not there: the mutant is out of date."""
    path = folder / mutant.file.replace("{package}", spec.package)
    text = path.read_text(encoding="utf-8")
    for old, new in mutant.changes:
        before, after = _filled(spec, old), _filled(spec, new)
        if before not in text:
            raise BadInput(f"{path.name} does not hold {before!r}, which the mutant {mutant.kind} changes.")
        text = text.replace(before, after, 1)
    path.write_text(text, encoding="utf-8")


def _filled(spec: EnvSpec, text: str) -> str:
    names = {
        "{package}": spec.package,
        "{class}": spec.class_name,
        "{tool}": spec.action.tools[0].name,
        "{spoil}": _SPOIL,
        "{leak}": _LEAK,
        "{hidden}": json.dumps(spec.tasks[0].hidden),
    }
    for name, value in names.items():
        text = text.replace(name, value)
    return text
