"""The page of an attempt: what the model was given, what it did, what it scored, and how the run was made."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from rlx.answers import name, prose
from rlx.formats.conversation import tools, turns
from rlx.formats.frameworks import table
from rlx.formats.processors.base import ShownRow
from rlx.formats.processors.prompts.cells import held, opened, told
from rlx.formats.processors.support import run_there
from rlx.formats.processors.verifiers_evals_attempts import Attempt, Score, run_of
from rlx.formats.processors.verifiers_page import LEGACY, legacy_command
from rlx.ids import EnvKey
from rlx.model import Block, KeyValues, Messages, Note, Prompt, Row, Section, Steps, Text, Tools, Transcript
from rlx.texts import say
from rlx.texts.values import facet_value

_SCORES = 60
"""Named scores that are listed."""
_ABOUT = ("id", "example_id", "task", "info")
_TOOLS = ("oai_tools", "tool_defs", "tools")


@dataclass(frozen=True, slots=True)
class Shape:
    """What is the same for all rows of a table."""

    key: EnvKey
    sha: str
    files: frozenset[str]
    traced: bool
    """Episodes of 0.4 and later."""


def outcome_of(attempt: Attempt) -> str:
    """A value of the facet `outcome`."""
    if attempt.error:
        return "Error"
    if attempt.reward is None:
        return "Not graded"
    return "Solved" if attempt.reward >= 1 else "Partly solved" if attempt.reward > 0 else "Failed"


def glance(attempt: Attempt) -> Iterator[Row]:
    outcome = name(outcome_of(attempt))
    yield Row(say("facet.outcome"), facet_value(outcome, "outcome"))
    if attempt.reward is not None:
        yield Row(say("facet.reward"), name(_figure(attempt.reward)))
    for key, text in (("facet.model", attempt.model), ("verifiers.environment", attempt.env)):
        if text:
            yield Row(say(key), name(text), code=True)
    if attempt.turns is not None:
        yield Row(say("facet.turns"), name(f"{attempt.turns:,}"))
    if attempt.tokens is not None:
        yield Row(say("facet.tokens"), name(f"{attempt.tokens:,.0f}"))


def sections(row: ShownRow, attempt: Attempt, shape: Shape) -> tuple[Section, ...]:
    known = (
        Section("prompt", say("rows.section.prompt"), tuple(_prompt(attempt))),
        Section("transcript", say("rows.section.transcript"), tuple(_transcript(attempt))),
        Section("outcome", say("rows.section.outcome"), tuple(_outcome(attempt))),
        Section("grading", say("rows.section.grading"), (Steps(tuple(_grading(row))), *held(row))),
        _run_there(attempt, shape),
        Section("metadata", say("rows.section.metadata"), tuple(_metadata(row, attempt, shape))),
    )
    return tuple(section for section in known if section.blocks)


def _prompt(attempt: Attempt) -> Iterator[Block]:
    if isinstance(attempt.prompt, str) and attempt.prompt.strip():
        yield Prompt(prose(attempt.prompt), say("prompts.words", n=len(attempt.prompt.split())))
    elif isinstance(attempt.prompt, list) and attempt.prompt:
        yield Messages(turns(attempt.prompt))
    else:
        yield Note(say("verifiers.prompt.none"), "warn")
    offered = tools(attempt.tools)
    if offered:
        yield Tools(tuple(offered))


def _transcript(attempt: Attempt) -> Iterator[Block]:
    for talk in attempt.talks:
        said = turns([{"role": "assistant", "content": talk.value}] if isinstance(talk.value, str) else talk.value)
        if said:
            several = len(attempt.talks) > 1
            yield Transcript(said, say("verifiers.evals.agent", name=talk.agent) if several else None)
        if talk.hidden:
            yield Note(say("verifiers.evals.branches", n=talk.hidden))


def _outcome(attempt: Attempt) -> Iterator[Block]:
    outcome = name(outcome_of(attempt))
    rows = [Row(say("facet.outcome"), facet_value(outcome, "outcome"))]
    if attempt.reward is not None:
        rows.append(Row(say("facet.reward"), name(_figure(attempt.reward))))
    rows += [_score(score) for score in (*attempt.scores, *attempt.metrics)[:_SCORES]]
    if attempt.stop:
        rows.append(Row(say("verifiers.evals.stop"), name(attempt.stop), code=True))
    rows += [Row(say("verifiers.evals.time", name=key), _seconds(value)) for key, value in attempt.timing.items()]
    if attempt.seconds is not None and not attempt.timing:
        rows.append(Row(say("verifiers.evals.time", name="total"), _seconds(attempt.seconds)))
    yield KeyValues(tuple(rows))
    if attempt.error:
        yield Note(say("verifiers.evals.error"), "bad", prose(attempt.error[:4000]))


def _score(score: Score) -> Row:
    weight = None if score.weight in (None, 1) else say("verifiers.evals.weight", weight=_figure(score.weight or 0))
    return Row(name(score.name), name(_figure(score.value)), weight)


def _grading(row: ShownRow) -> Iterator[Text]:
    yield say("verifiers.evals.grading")
    if row.withheld:
        yield say("verifiers.grading.withheld")


def _metadata(row: ShownRow, attempt: Attempt, shape: Shape) -> Iterator[Block]:
    described = f"{run_of(row.path).folder}/metadata.json".lstrip("/")
    facts: tuple[tuple[Text, str], ...] = (
        (say("verifiers.environment"), attempt.env),
        (say("facet.model"), attempt.model),
        (say("verifiers.evals.run"), attempt.run),
        (say("verifiers.evals.file"), row.path),
        (say("verifiers.evals.settings"), described if described in shape.files else ""),
    )
    yield KeyValues(tuple(Row(label, name(text), code=True) for label, text in facts if text))
    info = opened(row.value.get("info"))
    beside = {key: item for key, item in info.items() if key not in _TOOLS} if isinstance(info, dict) else info
    yield from told({**row.value, "info": beside}, _ABOUT)


def _run_there(attempt: Attempt, shape: Shape) -> Section:
    release = table("verifiers").source.version
    environment = shlex.quote(attempt.env) if attempt.env else "<environment-id>"
    model = shlex.quote(attempt.model) if attempt.model else "MODEL"
    if not shape.traced:
        note = say("verifiers.evals.legacy", version=LEGACY)
        return run_there("Verifiers", prose(f"{legacy_command(environment, model)} -s"), note)
    lines = (
        f"vf-eval {environment} -n 1 -r 1 -m {model} \\",
        "  --client.base-url https://HOST/v1 --client.api-key-var KEY_VAR \\",
        "  --env.agent.harness.id null --env.agent.runtime.type subprocess --no-push",
    )
    return run_there("Verifiers", prose("\n".join(lines)), say("verifiers.run.needs", version=release))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"


def _seconds(value: float) -> Text:
    return say("verifiers.evals.seconds", n=_figure(value) if value >= 1 else f"{value:.3f}")
