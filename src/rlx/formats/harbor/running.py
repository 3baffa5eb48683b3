"""Where a task could run: for each sandbox, the first thing in the way, and where the task says so."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE, Facts
from rlx.formats.harbor.missing import grader_image, missing_parts
from rlx.formats.harbor.phrases import listed, none_of
from rlx.formats.harbor.schema import ALLOWLIST, NO_NETWORK, PUBLIC, TaskSettings
from rlx.formats.harbor.secrets import wanted
from rlx.model import RunOption
from rlx.texts import Say, say

SANDBOXES = ("local", "docker", "hf")
RUNNER = "harbor"
NOT_YET = say("harbor.run.not_yet")
"""The reason of an option that nothing in the task stands in the way of. Whoever runs tasks says what of it holds."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    reason: Say
    source: str | None
    """The file that says so, with a line when one is known."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """One sandbox's answer. `could` is about the task alone, not about what is installed here."""

    sandbox: str
    obstacle: Obstacle | None
    notes: tuple[Say, ...] = ()
    warnings: tuple[Say, ...] = ()

    @property
    def could(self) -> bool:
        return self.obstacle is None


@dataclass(frozen=True, slots=True)
class Subject:
    """All that is known of a task when it is asked where it could run."""

    settings: TaskSettings
    facts: Facts
    paths: Collection[str]
    refused: Say | None = None
    """Harbor's own words, when it was asked and would not load the task."""


def runnable(subject: Subject) -> tuple[Runnable, ...]:
    common = next(_common(subject), None)
    return tuple(_asked(subject, sandbox, common) for sandbox in SANDBOXES)


def run_options(subject: Subject) -> tuple[RunOption, ...]:
    """As the page offers them. Nothing runs yet, so that even what could run says so and is not offered."""
    return tuple(
        RunOption(
            runner=RUNNER,
            sandbox=item.sandbox,
            label=say(f"harbor.sandbox.{item.sandbox}"),
            ok=False,
            reason=item.obstacle.reason if item.obstacle else NOT_YET,
            source=item.obstacle.source if item.obstacle else None,
            notes=item.notes,
            warnings=item.warnings,
            variables=wanted(subject.facts.variables) if item.could else (),
        )
        for item in runnable(subject)
    )


def _asked(subject: Subject, sandbox: str, common: Obstacle | None) -> Runnable:
    """How it would be run is told only where it could be."""
    obstacle = common or next(_of_sandbox(subject, sandbox), None)
    if obstacle:
        return Runnable(sandbox, obstacle)
    return Runnable(sandbox, None, tuple(_notes(subject, sandbox)), tuple(_warnings(subject, sandbox)))


def _common(subject: Subject) -> Iterator[Obstacle]:
    """Whatever the sandbox."""
    settings, facts = subject.settings, subject.facts
    if facts.problem:
        at = f"task.toml:{facts.problem.line}" if facts.problem.line else "task.toml"
        yield Obstacle(say("harbor.run.unparsed"), at)
    lacking = missing_parts(settings, subject.paths)
    if lacking:
        yield Obstacle(say("harbor.run.missing", what=none_of(lacking)), None)
    if facts.mark:
        yield Obstacle(say("harbor.run.mark"), "task.toml:1")
    if facts.not_utf8:
        yield Obstacle(say("harbor.run.not_utf8"), facts.not_utf8[0])
    if subject.refused:
        yield Obstacle(say("harbor.run.refused", why=subject.refused), "task.toml")
    environment = settings.environment
    if not environment.image and not {DOCKERFILE, COMPOSE}.intersection(subject.paths):
        yield Obstacle(say("harbor.run.no_image"), "environment/")
    if any(item.os == "windows" for item in settings.surroundings):
        yield Obstacle(say("harbor.run.windows"), "task.toml")
    for item in settings.surroundings:
        if item.tpu:
            yield Obstacle(say("harbor.run.tpu", type=item.tpu), "task.toml")
        if item.gpus:
            n, types = int(item.gpus), ", ".join(item.gpu_types)
            yield Obstacle(
                say("harbor.run.gpu_of", n=n, types=types) if types else say("harbor.run.gpu", n=n), "task.toml"
            )


def _of_sandbox(subject: Subject, sandbox: str) -> Iterator[Obstacle]:
    settings, paths = subject.settings, subject.paths
    if sandbox == "docker":
        return
    for where, network in settings.networks:
        if network.mode == ALLOWLIST:
            yield Obstacle(say(f"harbor.run.allowlist_{sandbox}", where=where), "task.toml")
        elif network.mode == NO_NETWORK and sandbox == "hf":
            yield Obstacle(say("harbor.run.no_network_hf", where=where), "task.toml")
        elif network.mode not in (PUBLIC, NO_NETWORK):
            yield Obstacle(say("harbor.run.network_word", where=where, mode=network.mode), "task.toml")
    if len(set(_modes(settings))) > 1:
        yield Obstacle(say("harbor.run.phases"), "task.toml")
    if COMPOSE in paths:
        reason = "harbor.run.compose_image" if settings.environment.image else "harbor.run.compose"
        services = ", ".join(name for name in subject.facts.services if name != "main")
        yield Obstacle(say(f"{reason}_of", services=services) if services else say(reason), COMPOSE)
    for step in settings.steps or (None,):
        grader = grader_image(settings, paths, step)
        if grader and grader.endswith(".yaml"):
            yield Obstacle(say("harbor.run.compose"), grader)


def _modes(settings: TaskSettings) -> Iterator[str]:
    """Networks of the phases that share the agent's sandbox: a grader of its own is not one."""
    phases = [settings.environment.network, settings.agent.network]
    if not settings.separate():
        phases.append(settings.verifier.network)
    for step in settings.steps:
        phases += [step.agent.network, None if settings.separate(step) else step.verifier.network]
    yield from (network.mode for network in phases if network)


def _notes(subject: Subject, sandbox: str) -> Iterator[Say]:
    image, has_file = subject.settings.environment.image, DOCKERFILE in subject.paths
    if sandbox == "docker":
        yield say("harbor.run.pulls", image=image) if image else say("harbor.run.builds")
    elif has_file and (sandbox == "local" or not image):
        yield say("harbor.run.replays")
    elif image and sandbox == "hf":
        yield say("harbor.run.pulls", image=image)
    asked = [each for each in wanted(subject.facts.variables) if each.required and each.readers != ("solution",)]
    needed = [each.name for each in asked if not (each.of_model and "grader" in each.readers)]  # a judge's
    if needed:
        yield say("harbor.run.secrets", n=len(needed), names=", ".join(needed))
    if subject.facts.judge:
        yield say("harbor.run.judge", client=subject.facts.judge.client)


def _warnings(subject: Subject, sandbox: str) -> Iterator[Say]:
    settings = subject.settings
    named = (settings.agent.user, settings.verifier.user, *(step.agent.user for step in settings.steps))
    users = sorted({user for user in named if user})
    if sandbox == "hf" and not {"root", "0"}.issuperset(users):
        yield say("harbor.run.users_hf", names=listed(users))
    if sandbox == "hf" and (settings.environment.cpus or settings.environment.memory_mb):
        yield say("harbor.run.resources_hf")
    if sandbox == "local" and settings.environment.image and DOCKERFILE not in subject.paths:
        yield say("harbor.run.look_alike", image=settings.environment.image)
    own = settings.verifier.environment
    grader = settings.verifier.network or (own.network if own else settings.environment.network)
    wanting = [grading.network for grading in subject.facts.gradings if grading.network]
    if wanting and grader.mode == NO_NETWORK:
        yield say("harbor.run.offline_grader", path=wanting[0] or "")
