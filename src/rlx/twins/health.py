"""The health of a task or an environment as JSON and Markdown."""

from collections.abc import Iterator

from rlx.answers.shown import Json
from rlx.health.report import EnvReport, Runs, TaskReport, counts_json, reasons_of, task_json
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.inline import span
from rlx.twins.parts import fact, heading

MOST = 100
"""Tasks that a Markdown twin lists."""


def task_health_json(task: TaskReport, language: str = DEFAULT) -> dict[str, Json]:
    return task_json(task, {reason: words(reason, language) for reason in task.reasons})


def env_health_json(
    report: EnvReport, language: str = DEFAULT, *, offset: int = 0, limit: int | None = None
) -> dict[str, Json]:
    """Counts, and the tasks that were checked, the broken ones first."""
    shown = report.tasks[offset : None if limit is None else offset + limit]
    told = {reason: words(reason, language) for reason in reasons_of(shown)}
    return {
        **health_counts(report),
        "tasks": [task_json(task, told) for task in shown],
        "total": len(report.tasks),
        "offset": offset,
    }


def health_counts(report: EnvReport) -> dict[str, Json]:
    """How many tasks are what, without the tasks."""
    checked = None if report.checked_at is None else report.checked_at.isoformat()
    return {"revision": report.revision, "counts": counts_json(report), "checked_at": checked}


def task_health_markdown(task: TaskReport, language: str = DEFAULT) -> list[str]:
    """Parts of a document; none where nobody checked the task."""
    if task.checked_at is None and not task.stale:
        return []
    lines = [fact(say("health.state"), words(task.label, language), language)]
    lines += [f"- {words(reason, language)}" for reason in task.reasons]
    for label, runs in ((say("health.oracle"), task.oracle), (say("health.floor"), task.floor)):
        if runs.n:
            lines.append(fact(label, _runs(runs, language), language))
    if task.checked_at is not None:
        lines.append(
            fact(say("health.checked"), f"{task.checked_at:%Y-%m-%d}, {span(str(task.revision)[:8])}", language)
        )
    return [heading(say("health.title"), language), "\n".join(lines)]


def env_health_markdown(report: EnvReport, language: str = DEFAULT) -> list[str]:
    if not report.tasks:
        return []
    return [heading(say("health.title"), language), "\n".join(_env_lines(report, language))]


def _env_lines(report: EnvReport, language: str) -> Iterator[str]:
    if report.total is not None:
        yield f"- {words(say('health.of_tasks', n=report.total, checked=len(report.tasks)), language)}"
    for state in ("proven", "broken", "unproven"):
        yield fact(say(f"health.{state}"), str(report.count(state)), language)
    for task in [task for task in report.tasks if task.state == "broken"][:MOST]:
        why = " ".join(words(reason, language) for reason in task.reasons)
        yield f"- {span(task.ref)}: {why}"


def spread(runs: Runs) -> str | Say:
    """The scores of runs in one text."""
    if runs.low is None or runs.high is None:
        return say("health.no_reward")
    return f"{runs.low:g}" if runs.low == runs.high else f"{runs.low:g}–{runs.high:g}"


def _runs(runs: Runs, language: str) -> str:
    told = spread(runs)
    seconds = "" if runs.seconds is None else f", {words(say('health.seconds', seconds=f'{runs.seconds:g}'), language)}"
    return f"{words(told, language) if isinstance(told, Say) else told}{seconds}"
