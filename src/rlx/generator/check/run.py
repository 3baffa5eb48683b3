"""The whole check of an environment: every variant's files, tests, validators, server, parity and smoke rollout."""

import asyncio
import json
import resource
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlx.errors import BadInput, RlxError
from rlx.generator.archetypes.base import Call
from rlx.generator.check import model
from rlx.generator.check.compare import Difference, compare
from rlx.generator.check.environments import Frameworks
from rlx.generator.check.plan import ROUNDS, Plan, make_plan
from rlx.generator.check.processes import Done, execute
from rlx.generator.check.report import Report, Stage, Variant
from rlx.generator.check.servers import serving
from rlx.generator.registry import archetype, targets
from rlx.generator.render import SPEC_FILE, copies
from rlx.generator.spec import EnvSpec, load_spec
from rlx.generator.targets.base import Target
from rlx.store.passing import passing

HERE = Path(__file__).parent
AT_ONCE = 2
"""Variants that are checked at the same time."""
SECONDS = 600.0
"""For any one program."""
_IGNORED = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".rlx", "outputs")

type Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Check:
    """What a check is of, and how it is done."""

    spec: EnvSpec
    root: Path
    """A copy of the project's folder: programs may litter it."""
    frameworks: Frameworks
    plan: Plan
    wanted: Mapping[str, Any]
    """What the rules alone show of the plan."""
    smoke: Mapping[str, str]
    """Variables that name the model of smoke rollouts. Empty: none is made."""


@dataclass(slots=True)
class _Stages:
    told: Told
    framework: str
    done: list[Stage] = field(default_factory=list)

    async def run(self, name: str, work: Callable[[], Awaitable[tuple[bool, str]]]) -> bool:
        begun = time.monotonic()
        try:
            ok, detail = await work()
        except RlxError as error:
            ok, detail = False, error.message
        self.done.append(Stage(name, ok, time.monotonic() - begun, detail))
        self.told(f"{self.framework}: {name} {'ok' if ok else 'failed'} ({self.done[-1].seconds:.1f} s)")
        return ok


async def check(
    folder: Path,
    frameworks: Frameworks,
    *,
    only: Sequence[str] = (),
    rounds: int = ROUNDS,
    smoke: Mapping[str, str] | None = None,
    told: Told = lambda line: None,
) -> Report:
    """Check the environment in a folder that `rlx new` wrote. `smoke` names a model other than the scripted one."""
    begun, before = time.monotonic(), _processor_seconds()
    spec = load_spec(folder / SPEC_FILE)
    kind = archetype(spec.archetype) if spec.archetype else None
    names = [name for name in spec.target.frameworks if (folder / spec.target.folder(name)).is_dir()]
    names = [name for name in names if not only or name in only]
    if not names:
        raise BadInput(f"{folder} holds no variant to check.", hint="Write them with rlx new --spec.")
    plan = make_plan(spec, kind, rounds)
    with passing("new-check-") as scratch:
        root = Path(shutil.copytree(folder, scratch / "environment", ignore=_IGNORED))
        wanted = await reference(spec, root, plan, frameworks)
        script = list(kind.script(spec)) if kind else _first_calls(plan)
        async with model.serving(script) as url:
            scripted = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "MODEL": model.NAME, "MAX_TURNS": "3"}
            job = Check(spec, root, frameworks, plan, wanted, scripted if smoke is None else smoke)
            gate = asyncio.Semaphore(AT_ONCE)

            async def one(name: str) -> Variant:
                async with gate:
                    return await check_variant(job, targets()[name], told)

            variants = await asyncio.gather(*(one(name) for name in names))
    return Report(
        name=spec.name,
        title=spec.title,
        archetype=spec.archetype or "custom",
        rounds=len(plan.rounds),
        calls=plan.calls,
        variants=variants,
        seconds=time.monotonic() - begun,
        processor_seconds=_processor_seconds() - before,
    )


def _processor_seconds() -> float:
    """Processor time of all programs that this process started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def reference(spec: EnvSpec, root: Path, plan: Plan, frameworks: Frameworks) -> Mapping[str, Any]:
    """What the rules alone show. Raises `BadInput` when they fail."""
    tools = {
        tool.name: [each.model_dump(include={"name", "type", "default"}, exclude_none=True) for each in tool.parameters]
        for tool in spec.action.tools
    }
    names = json.dumps({"module": spec.module, "class": spec.class_name, "tools": tools})
    command = [sys.executable, str(HERE / "driving.py"), str(HERE / "reference.py"), str(root), names]
    done = await execute(
        command, root, frameworks.variables, seconds=SECONDS, given=json.dumps(plan.as_json()).encode()
    )
    if done.code != 0:
        raise BadInput(f"The rules themselves fail: {done.output[-1500:]}", hint="Run the tests in tests/.")
    seen: Mapping[str, Any] = json.loads(done.output.splitlines()[0])
    return seen


async def check_variant(job: Check, target: Target, told: Told) -> Variant:
    """Everything about one variant."""
    spec, folder = job.spec, job.root / job.spec.target.folder(target.name)
    stages = _Stages(told, target.name)
    python = Path()
    version, imported, differences = "", 0.0, list[Difference]()

    async def environment() -> tuple[bool, str]:
        nonlocal python
        python = await job.frameworks.python(target, spec.backend.dependencies)
        return True, ""

    async def program(*command: str, more: Mapping[str, str] | None = None) -> Done:
        variables = {**job.frameworks.variables, "PYTHONPATH": str(folder), **(more or {})}
        variables["PATH"] = f"{python.parent}:{variables.get('PATH', '')}"
        return await execute(command, folder, variables, seconds=SECONDS)

    async def imports() -> tuple[bool, str]:
        nonlocal version, imported
        name = target.requirement.split(">")[0].split("=")[0]
        asked = f"import time; t = time.process_time(); {target.imports}; t = time.process_time() - t; "
        asked += f"import importlib.metadata as m; print(t, m.version('{name}'))"
        done = await program(str(python), "-c", asked)
        if done.code == 0:
            seconds, version = done.output.split()[:2]
            imported = float(seconds)
        return (
            done.code == 0,
            done.output if done.code else f"{version}, imported in {imported:.1f} s of processor time",
        )

    async def files() -> tuple[bool, str]:
        wrong = [path for path, source in copies(spec, target.name).items() if not _same(job.root, path, source)]
        if wrong:
            return False, f"{', '.join(wrong)} differ from the shared modules."
        done = await program(str(python), "-m", "ruff", "check", "--no-cache", ".")
        formatted = await program(str(python), "-m", "ruff", "format", "--no-cache", "--check", ".")
        return done.code == 0 and formatted.code == 0, f"{done.output}\n{formatted.output}".strip()

    async def tests() -> tuple[bool, str]:
        done = await program(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider")
        return done.code == 0, done.output

    async def validators() -> tuple[bool, str]:
        return await _all(program, [_command(words, spec, python, "") for words in target.validators])

    if await stages.run("environment", environment) and await stages.run("import", imports):
        await stages.run("files", files)
        await stages.run("tests", tests)
        if target.validators:
            await stages.run("validators", validators)
        differences = await _online(job, target, python, folder, stages, program)
    commands = [*target.validators, *target.validators_online]
    processes = 3 + sum(words[0] != "python" for words in commands) + target.rollout_imports * bool(job.smoke)
    return Variant(
        target.name, target.title, target.requirement, version, stages.done, differences, imported, processes
    )


async def _online(
    job: Check,
    target: Target,
    python: Path,
    folder: Path,
    stages: _Stages,
    program: Callable[..., Awaitable[Done]],
) -> list[Difference]:
    """What needs the variant's server: parity, validators by address, and a rollout."""
    differences: list[Difference] = []
    begun = time.monotonic()
    try:
        async with serving(target, python, folder, job.frameworks.variables) as url:
            if url:
                stages.done.append(Stage("server", True, time.monotonic() - begun))

            async def parity() -> tuple[bool, str]:
                nonlocal differences
                differences, failure = await drive(job, target, python, folder, url)
                told = f"{job.plan.calls} calls in {len(job.plan.rounds)} sequences"
                return not differences and not failure, failure or f"{told}, {len(differences)} differences"

            async def online() -> tuple[bool, str]:
                return await _all(program, [_command(each, job.spec, python, url) for each in target.validators_online])

            async def rollout() -> tuple[bool, str]:
                done = await program(str(python), "rollout.py", *([url] if url else []), more=job.smoke)
                return done.code == 0 and "Reward:" in done.output, done.output[-4000:]

            await stages.run("parity", parity)
            if target.validators_online:
                await stages.run("live validators", online)
            if job.smoke:
                await stages.run("rollout", rollout)
    except RlxError as error:
        stages.done.append(Stage("server", False, time.monotonic() - begun, error.message))
    return differences


async def drive(job: Check, target: Target, python: Path, folder: Path, url: str) -> tuple[list[Difference], str]:
    """The differences of a variant from the rules, and how playing it failed, if it did."""
    command = [str(python), str(HERE / "driving.py"), str(target.folder / "drive.py"), str(folder), url]
    given = json.dumps(job.plan.as_json()).encode()
    done = await execute(command, folder, job.frameworks.variables, seconds=SECONDS, given=given)
    if done.code != 0:
        return [], done.output[-1500:]
    seen = json.loads(done.output.splitlines()[0])
    return compare(job.spec, job.plan, job.wanted, seen, target.steps), ""


async def _all(program: Callable[..., Awaitable[Done]], commands: Sequence[Sequence[str]]) -> tuple[bool, str]:
    done = [await program(*command) for command in commands]
    return all(each.code == 0 for each in done), "\n".join(each.output[-2000:] for each in done)


def _command(words: Sequence[str], spec: EnvSpec, python: Path, url: str) -> list[str]:
    """A command of a target with what it names filled in, its program taken from the framework's environment."""
    names = {
        "{package}": spec.package,
        "{name}": spec.name,
        "{url}": url,
        "{low}": str(spec.reward.low),
        "{high}": str(spec.reward.high),
    }
    filled = [names.get(word, word) for word in words]
    return [str(python.with_name(filled[0])), *filled[1:]]


def _same(root: Path, path: str, source: str) -> bool:
    return (root / path).is_file() and (root / path).read_bytes() == (root / source).read_bytes()


def _first_calls(plan: Plan) -> list[Call]:
    return [Call(tool, arguments) for _, tool, arguments in plan.rounds[0].calls[:3]]
