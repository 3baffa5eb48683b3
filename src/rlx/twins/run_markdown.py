"""Rollouts as Markdown: one with all that was said in it, and lists of them."""

from collections.abc import Iterator, Sequence

from rlx.model import Messages
from rlx.rollout import Rollout
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.conversations import messages_markdown
from rlx.twins.inline import fence, line, span
from rlx.twins.parts import NOWHERE, Addresses, fact, heading, join
from rlx.twins.run import RunView, masked, moments
from rlx.twins.run_words import change_said, field_said, kind_said, sandbox_said, source_said, value_said


def run_markdown(view: RunView, language: str = DEFAULT, *, at: Addresses = NOWHERE) -> str:
    return join(_parts(view, language, at))


def _parts(view: RunView, language: str, at: Addresses) -> Iterator[str]:
    run = view.rollout
    yield f"# {line(title_of(run), language)}"
    yield "\n".join(_facts(view, language, at))
    if run.failure is not None:
        yield line(failure_said(run), language)
        if run.failure.message:
            yield fence(run.failure.message, "text")
        yield fact(say("run.kind"), words(kind_said(run.failure.kind), language), language)
    if run.rewards or run.steps:
        yield heading(say("run.scores"), language)
        rows = [f"- {span(name)}: {value:g}" for name, value in run.rewards.items()]
        for step in run.steps:
            rows += [f"- {line(step.name, language)}, {span(name)}: {value:g}" for name, value in step.rewards.items()]
            rows += [f"- {line(step.name, language)}: {span(step.error)}"] if step.error else []
        yield "\n".join(rows)
    if view.spans:
        yield heading(say("run.phases"), language)
        yield "\n".join(
            fact(say(f"run.stage_{part.stage}"), words(seconds_said(part.seconds), language), language)
            for part in view.spans
            if not part.waits
        )
    if view.withheld:
        yield words(say("run.solver_withheld"), language)
    if view.messages:
        yield heading(say("run.transcript"), language)
        yield messages_markdown(Messages(view.messages), language)
    if view.tests is not None:
        yield heading(say("run.tests"), language)
        marks = {True: say("run.passed"), False: say("run.failed"), None: say("run.not_known")}
        yield "\n".join(f"- {words(marks[item.passed], language)}: {span(item.name)}" for item in view.tests.items)
    for log in view.logs:
        yield heading(say("run.log_of", source=words(source_said(log.source), language)), language)
        yield fence(log.text.text, "text")
    if view.files:
        yield heading(say("run.changed"), language)
        yield "\n".join(f"- {span(item.path)}: {line(change_said(item.change), language)}" for item in view.files)
    if view.kept:
        yield heading(say("run.artifacts"), language)
        yield "\n".join(f"- {span(file.path)}: {file.size:,}" for file in view.kept)
    notes = [*run.notes, *view.notes]
    if notes:
        yield heading(say("run.notes"), language)
        yield "\n".join(f"- {line(note, language)}" for note in notes)


def _facts(view: RunView, language: str, at: Addresses) -> Iterator[str]:
    run, usage = view.rollout, view.usage
    yield fact(say("run.status"), words(say(f"run.status_{run.status}"), language), language)
    yield fact(say("run.reward"), words(reward_said(run), language), language)
    yield fact(say("run.task"), at.task(view.key, run.ref), language)
    yield fact(say("run.environment"), at.env(view.key), language)
    yield fact(say("run.agent"), span(run.agent), language)
    if run.model is not None:
        yield fact(say("run.model"), span(run.model.id), language)
    if run.sandbox is not None:
        yield fact(say("run.sandbox"), words(sandbox_said(run.sandbox), language), language)
    for key, value in run.fields.items():
        if value is not None:
            yield f"- {line(field_said(key), language)}: {line(value_said(value), language)}"
    yield fact(say("run.rollout"), span(run.id), language)
    for name, moment in moments(run):
        yield fact(say(f"run.{name}"), moment.isoformat(timespec="seconds"), language)
    for name in ("tokens_in", "tokens_out", "model_calls", "tool_calls"):
        yield fact(say(f"run.{name}"), words(count_said(getattr(usage, name)), language), language)
    yield fact(say("run.cost"), words(dollars_said(view.cost), language), language)
    if run.judge_calls is not None:
        yield fact(say("judge.calls"), words(count_said(run.judge_calls), language), language)
        yield fact(say("judge.cost"), words(dollars_said(run.judge_cost), language), language)


def runs_markdown(
    rollouts: Sequence[Rollout], total: int, language: str, *, at: Addresses, following: str | None = None
) -> str:
    """A page of rollouts, one a line."""
    parts = [f"# {words(say('run.title'), language)}", words(say("run.found", n=total), language)]
    rows = []
    for run in map(masked, rollouts):
        told = [run.env, run.ref, run.agent, *([run.model.id] if run.model else [])]
        state = f"{words(say(f'run.status_{run.status}'), language)}, {words(reward_said(run), language)}"
        rows.append(f"- {at.named(run.id, f'/run/{run.id}')}: {' · '.join(map(span, told))}: {state}")
    parts.append("\n".join(rows))
    url = at.twin(following) if following is not None else None
    if url is not None:
        parts.append(fact(say("twins.next_page"), f"<{url}>", language))
    return join(parts)


def title_of(run: Rollout) -> Say:
    return say("run.named", agent=run.agent, task=run.title or run.ref)


def failure_said(run: Rollout) -> Say:
    """Which boundary a failure crossed, in a sentence."""
    return say(f"run.cause_{run.failure.cause}") if run.failure is not None else say("run.not_known")


def reward_said(run: Rollout) -> Say:
    return say("run.no_reward") if run.reward is None else say("run.figure", figure=f"{run.reward:.3g}")


def seconds_said(seconds: float | None) -> Say:
    if seconds is None:
        return say("run.going_on")
    if seconds < 100:
        return say("run.seconds", figure=f"{seconds:.1f}")
    return say("run.minutes", minutes=int(seconds // 60), seconds=int(seconds % 60))


def count_said(count: int | None) -> Say:
    return say("run.not_known") if count is None else say("run.figure", figure=f"{count:,}")


def dollars_said(dollars: float | None) -> Say:
    return say("run.not_known") if dollars is None else say("run.dollars", figure=f"{dollars:.4f}")
