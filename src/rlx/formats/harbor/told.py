"""How a task is graded, in sentences: what runs, what it calls, what it needs, what it writes."""

from collections.abc import Iterator

from rlx.formats.harbor.grading import Grading
from rlx.formats.harbor.missing import grader_image
from rlx.formats.harbor.phrases import duration, listed
from rlx.formats.harbor.running import Subject
from rlx.formats.harbor.schema import Step, TaskSettings
from rlx.texts import Say, say


def grading_sentences(subject: Subject, grading: Grading, step: Step | None = None) -> tuple[Say, ...]:
    """Of one grader, in the order things happen."""
    return (
        *_start(subject, grading, step),
        *_work(grading),
        *_variables(subject, step),
        *_reward(grading),
        *_gates(step),
    )


def overall_sentences(settings: TaskSettings) -> tuple[Say, ...]:
    """Of a task of several steps: how they make one reward."""
    if not settings.steps:
        return ()
    return (
        say("harbor.steps.count", n=len(settings.steps)),
        say("harbor.steps.final" if settings.reward_strategy == "final" else "harbor.steps.mean"),
    )


def _start(subject: Subject, grading: Grading, step: Step | None) -> Iterator[Say]:
    settings, paths = subject.settings, subject.paths
    verifier = step.verifier if step else settings.verifier
    for hook in settings.verifier.collect:
        yield say("harbor.grading.collect", command=hook.command[:200], service=hook.service)
    if grading.entry is None:
        bundled = grader_image(settings, paths, step)
        yield say("harbor.grading.bundled", image=bundled) if bundled else say("harbor.grading.no_entry")
    elif subject.facts.problem:
        yield say("harbor.grading.runs_unlimited", path=grading.entry)
    else:
        user = verifier.user or settings.verifier.user
        key = "harbor.grading.runs_as" if user else "harbor.grading.runs"
        told = {"user": user} if user else {}
        yield say(key, path=grading.entry, time=duration(verifier.timeout), **told)
    if settings.separate(step):
        image = grader_image(settings, paths, step)
        yield say("harbor.grading.own", image=image) if image else say("harbor.grading.copy")
        artifacts = [item.source for item in (*settings.artifacts, *(step.artifacts if step else ()))]
        sources = list(dict.fromkeys(["/logs/artifacts", *artifacts]))
        yield say("harbor.grading.artifacts", what=listed(sources))


def _work(grading: Grading) -> Iterator[Say]:
    if len(grading.scripts) > 1:
        yield say("harbor.grading.calls", what=listed(grading.scripts[1:]))
    if grading.runners:
        yield say("harbor.grading.runner", what=listed(grading.runners))
    if grading.judge and grading.judge.path:
        where = f"{grading.judge.path}:{grading.judge.line}" if grading.judge.line else grading.judge.path
        yield say("harbor.grading.judge", where=where, client=grading.judge.client)
    elif grading.judge:
        yield say("harbor.grading.judge_key", name=grading.judge.client)
    if grading.packages:
        yield say("harbor.grading.installs", what=listed(grading.packages))
    elif grading.network:
        yield say("harbor.grading.downloads", path=grading.network)


def _variables(subject: Subject, step: Step | None) -> Iterator[Say]:
    tables = {"verifier.env", "verifier.environment.env"} if step is None else {f"steps.{step.name}.verifier.env"}
    found = [item for item in subject.facts.variables if item.where in tables]
    needed = [item.name for item in found if not item.default]
    optional = [item.name for item in found if item.default]
    if needed:
        yield say("harbor.grading.needs", what=listed(needed))
    if optional:
        yield say("harbor.grading.takes", what=listed(optional))


def _reward(grading: Grading) -> Iterator[Say]:
    if grading.kind == "none":
        return
    if not grading.rewards:
        yield say("harbor.grading.no_reward" if grading.scripts else "harbor.grading.unread")
    elif grading.rewards[0] == "reward.txt":
        yield say("harbor.grading.whole" if grading.whole else "harbor.grading.number")
    elif grading.scores:
        key = "harbor.grading.scores_both" if len(grading.rewards) > 1 else "harbor.grading.scores"
        yield say(key, n=len(grading.scores), what=listed(grading.scores))
    else:
        yield say("harbor.grading.json_both" if len(grading.rewards) > 1 else "harbor.grading.json")


def _gates(step: Step | None) -> Iterator[Say]:
    for score, least in (step.min_reward if step else {}).items():
        yield say("harbor.steps.gate", score=score, least=f"{least:g}")
