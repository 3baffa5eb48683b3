"""The page of a task, from its record alone: sections in a fixed order, the facts at a glance, where it could run."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from rlx.answers import Masked, name, prose
from rlx.formats.harbor.configuration import configuration_blocks
from rlx.formats.harbor.environment import environment_blocks, healthcheck_row, network_said
from rlx.formats.harbor.facts import Facts, facts_in
from rlx.formats.harbor.grading import Grading
from rlx.formats.harbor.instruction import agent_text
from rlx.formats.harbor.metadata import expert_time, metadata_blocks
from rlx.formats.harbor.missing import missing_parts
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.problems import excerpt, problem_of
from rlx.formats.harbor.running import Subject, run_options
from rlx.formats.harbor.schema import Step
from rlx.formats.harbor.settings import read_settings
from rlx.formats.harbor.support import task_support
from rlx.formats.harbor.told import grading_sentences, overall_sentences
from rlx.index.records import TaskRecord, TaskView
from rlx.model import Block, Code, Disclose, FilesBlock, KeyValues, Note, Prompt, Row, Section, Steps, Text
from rlx.texts import Say, say
from rlx.texts.values import facet_value

OPEN_STEPS = 12
"""Steps whose instructions are sections of their own; those of longer tasks are folded into one."""
OPEN_SCRIPTS = 4
"""Grader scripts that are shown unfolded."""


def task_view(record: TaskRecord) -> TaskView:
    file, subject = open_record(record)
    options = run_options(subject)
    sections = [
        *_problem(record, subject),
        *_prompt(record, subject),
        Section("grading", say("harbor.section.grading"), tuple(_grading(record, subject))),
        Section("environment", say("harbor.section.environment"), environment_blocks(subject, record.texts)),
        Section(
            "configuration",
            say("harbor.section.configuration"),
            configuration_blocks(subject, file, record.texts.get("task.toml"), _verdict(record)),
        ),
    ]
    metadata = metadata_blocks(subject.settings)
    if metadata:
        sections.append(Section("metadata", say("harbor.section.metadata"), metadata))
    some = any(entry.is_dir for entry in record.files)
    sections.append(Section("files", say("harbor.section.files"), (FilesBlock(record.files, some),)))
    return TaskView(tuple(sections), tuple(_glance(record, subject)), options, task_support(subject))


def open_record(record: TaskRecord) -> tuple[Mapping[str, object], Subject]:
    """The masked settings of a stored record, and all that is known of the task."""
    stored: Any = record.settings.value
    review: Any = record.review.value if record.review else None
    refused = say("harbor.verdict.said", version=review["harbor"], why=review["why"]) if _refuses(review) else None
    paths = frozenset(f"{entry.path}/" if entry.is_dir else entry.path for entry in record.files)
    return stored["file"], Subject(read_settings(stored["file"]), facts_in(stored["facts"]), paths, refused)


def _refuses(review: Any) -> bool:
    return bool(review) and not review["loads"]


def _verdict(record: TaskRecord) -> Note:
    review: Any = record.review.value if record.review else None
    if not review:
        return Note(say("harbor.verdict.unknown"))
    if review["loads"]:
        return Note(say("harbor.verdict.loads", version=review["harbor"]), "ok")
    return Note(say("harbor.verdict.refuses", version=review["harbor"], why=review["why"]), "warn")


def _problem(record: TaskRecord, subject: Subject) -> Iterator[Section]:
    problem = problem_of(subject)
    blocks: list[Block] = []
    if problem:
        message = subject.facts.problem
        blocks.append(Note(problem, "bad" if message else "warn"))
        written = record.texts.get("task.toml")
        if message and message.line and written:
            blocks.append(excerpt(written, message.line))
    elif subject.refused:
        blocks.append(Note(say("harbor.problem.refused"), "warn", prose(_verdict_words(record))))
    if blocks:
        yield Section("problem", say("harbor.section.problem"), tuple(blocks))


def _verdict_words(record: TaskRecord) -> str:
    review: Any = record.review.value if record.review else {}
    return str(review.get("why", ""))


def _prompt(record: TaskRecord, subject: Subject) -> Iterator[Section]:
    steps = subject.settings.steps
    if not steps:
        yield Section(
            "prompt", say("harbor.section.prompt"), tuple(_instruction(record, subject.facts, "instruction.md"))
        )
        return
    told = Steps(overall_sentences(subject.settings))
    inner = list(zip(steps, _steps(record, subject), strict=True))
    folded = len(steps) > OPEN_STEPS
    disclosed = tuple(Disclose(_step_title(at, step), blocks) for at, (step, blocks) in enumerate(inner, 1))
    yield Section("steps", say("harbor.section.steps"), (told, *(disclosed if folded else ())))
    for at, (step, blocks) in enumerate(() if folded else inner, 1):
        yield Section(f"step-{at}", _step_title(at, step), blocks)


def _step_title(at: int, step: Step) -> Say:
    return say("harbor.section.step", n=at, name=step.name)


def _steps(record: TaskRecord, subject: Subject) -> Iterator[tuple[Block, ...]]:
    """What each step asks and what it starts from; its grader, folded."""
    seen: set[str] = set()
    workdirs = _workdirs(record)
    for at, step in enumerate(subject.settings.steps):
        blocks = list(_step(record, subject, step, workdirs.get(step.name, ())))
        # The settings are the masked ones: where a step of theirs could not be read, later ones may lack a grader.
        for grading in subject.facts.gradings[at : at + 1]:
            blocks.append(Disclose(say("harbor.steps.graded"), tuple(_grader(record, subject, grading, step, seen))))
            seen.update(grading.scripts)
        yield tuple(blocks)


def _workdirs(record: TaskRecord) -> Mapping[str, Sequence[str]]:
    """What is put in the folder before each step, by its name."""
    found: dict[str, list[str]] = {}
    for entry in record.files:
        parts = entry.path.split("/", 3)
        if len(parts) == 4 and parts[0] == "steps" and parts[2] == "workdir":
            found.setdefault(parts[1], []).append(entry.path)
    return found


def _step(record: TaskRecord, subject: Subject, step: Step, workdir: Sequence[str]) -> Iterator[Block]:
    yield from _instruction(record, subject.facts, f"steps/{step.name}/instruction.md")
    rows = [Row(say("harbor.glance.agent"), _limit(step.agent.timeout))]
    if workdir:
        rows.append(Row(say("harbor.steps.workdir"), tuple(name(path) for path in workdir[:40]), code=True))
    if f"steps/{step.name}/workdir/setup.sh" in workdir:
        rows.append(Row(say("harbor.steps.setup"), say("harbor.steps.setup_told")))
    if step.healthcheck:
        rows.append(healthcheck_row(step.healthcheck))
    if step.agent.network:
        rows.append(Row(say("harbor.env.network"), network_said(step.agent.network)))
    yield KeyValues(tuple(rows))


def _instruction(record: TaskRecord, facts: Facts, path: str) -> Iterator[Block]:
    found = record.texts.get(path)
    if found is None:
        listed = any(entry.path == path for entry in record.files)
        yield Note(say("harbor.prompt.unread" if listed else "harbor.prompt.missing", path=path), "warn")
        return
    instruction = agent_text(found.text)
    if not instruction.text.strip():
        yield Note(say("harbor.prompt.empty"), "warn")
    if instruction.text:
        yield Prompt(prose(instruction.text), _prompt_note(instruction.text))
    if path in facts.not_utf8:
        yield Note(say("harbor.prompt.not_utf8"), "warn")
    if instruction.newlines:
        yield Note(say("harbor.prompt.newlines"))
    if instruction.dropped:
        yield Note(say("harbor.prompt.dropped"), detail=prose(instruction.dropped))


def _prompt_note(text: str) -> Say:
    return say("harbor.prompt.words", n=len(text.split()))


def _grading(record: TaskRecord, subject: Subject) -> Iterator[Block]:
    if subject.facts.problem:
        yield Note(say("harbor.grading.unparsed"))
    if subject.settings.steps:
        yield Steps((say("harbor.grading.steps"), *overall_sentences(subject.settings)[1:]))
    else:
        yield from _grader(record, subject, subject.facts.gradings[0], None, frozenset())
    left = [entry for entry in record.files if "tests/" in entry.path and entry.withheld]
    if left:
        yield Note(say("harbor.grading.beside", n=len(left)))


def _grader(
    record: TaskRecord, subject: Subject, grading: Grading, step: Step | None, seen: Set[str]
) -> Iterator[Block]:
    """Its account and its scripts, but those that an earlier step showed."""
    yield Steps(grading_sentences(subject, grading, step))
    paths = [path for path in grading.scripts if path in record.texts and path not in seen]
    codes = [_code(path, record.texts[path]) for path in paths]
    yield from codes[:OPEN_SCRIPTS]
    if codes[OPEN_SCRIPTS:]:
        yield Disclose(say("harbor.grading.more", n=len(codes) - OPEN_SCRIPTS), tuple(codes[OPEN_SCRIPTS:]))


def _code(path: str, masked: Masked) -> Code:
    return Code(masked.text, name(path), masked=masked.masked)


def _glance(record: TaskRecord, subject: Subject) -> Iterator[Row]:
    settings, facts = subject.settings, subject.facts
    for key in ("difficulty", "category", "language"):
        values = record.card.facets.get(key)
        if values:
            yield Row(say(f"facet.{key}"), facet_value(values[0], key))
    if settings.steps:
        yield Row(say("harbor.glance.steps"), name(str(len(settings.steps))))
    if facts.problem or missing_parts(settings, subject.paths):
        return
    if not settings.steps:
        yield Row(say("harbor.glance.agent"), _limit(settings.agent.timeout))
        yield Row(say("harbor.glance.grader"), duration(settings.verifier.timeout))
    expert = expert_time(settings.metadata)
    if expert:
        yield Row(say("harbor.glance.expert"), expert)
    yield Row(say("harbor.glance.reward"), _reward(facts.gradings))
    if facts.judge:
        yield Row(say("harbor.glance.judge"), say("harbor.glance.judge_by", client=facts.judge.client))
    yield Row(say("harbor.env.network"), network_said(settings.environment.network))


def _reward(gradings: Sequence[Grading]) -> Text:
    scores = list(dict.fromkeys(score for grading in gradings for score in grading.scores))
    kinds = {grading.kind for grading in gradings}
    if "named" in kinds:
        return say("harbor.glance.scores", n=len(scores)) if scores else say("harbor.glance.named")
    if "one" in kinds:
        return say("harbor.glance.whole" if all(item.whole for item in gradings) else "harbor.glance.number")
    return say("harbor.glance.unknown")


def _limit(seconds: float | None) -> Say:
    return say("harbor.config.no_limit") if seconds is None else duration(seconds)
