"""The page of a folder: what the agent gets, what grades it, what it runs in, and how each part was told."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rlx.answers import name, prose, whole
from rlx.answers.shown import MARK, Json
from rlx.formats.folders.facts import Facts, facts_in
from rlx.formats.folders.support import task_support
from rlx.formats.folders.terminal import CONFIGURATION
from rlx.formats.harbor.instruction import agent_text
from rlx.formats.harbor.metadata import label
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.table import plain
from rlx.formats.processors.support import run_there
from rlx.index.records import TaskRecord, TaskView, root_of
from rlx.model import Block, Code, Disclose, FilesBlock, KeyValues, Note, Prompt, Row, Section, Steps, Text, Value
from rlx.texts import say
from rlx.texts.values import facet_value

OPEN_SCRIPTS: Final = 4
"""Checkers that are shown unfolded."""
_NAMED: Final = 12
_MAX_ROWS: Final = 60
_LONG: Final = 2000


def task_view(record: TaskRecord) -> TaskView:
    stored: Any = record.settings.value
    facts, table = facts_in(stored["facts"]), stored["table"]
    sections = [
        Section("prompt", say("folders.section.prompt"), tuple(_prompt(record, facts))),
        Section("grading", say("folders.section.grading"), tuple(_grading(record, facts))),
        Section("environment", say("folders.section.environment"), tuple(_environment(record, facts))),
    ]
    if facts.is_terminal and not facts.problem:
        sections.append(_run_there(record))
    told = tuple(_metadata(table))
    if told:
        sections.append(Section("metadata", say("folders.section.metadata"), told))
    sections.append(Section("reading", say("folders.section.reading"), tuple(_reading(facts))))
    some = any(entry.is_dir for entry in record.files)
    sections.append(Section("files", say("folders.section.files"), (FilesBlock(record.files, some),)))
    return TaskView(tuple(sections), tuple(_glance(record, facts)), (), task_support(facts))


def _prompt(record: TaskRecord, facts: Facts) -> Iterator[Block]:
    if facts.problem:
        yield Note(say(f"folders.problem.{facts.problem}"), "warn")
        if facts.line:
            yield Note(say("folders.problem.at", path=facts.settings or "", line=facts.line))
    if facts.is_terminal:
        if facts.prompt is not None:
            yield from _given(facts.prompt, say("folders.prompt.setting", path=facts.settings or ""))
        return
    for path in facts.prompts:
        if path in record.texts:
            yield from _given(agent_text(record.texts[path].text).text, say("folders.prompt.file", path=path))


def _given(text: str, note: Text) -> Iterator[Block]:
    if text.strip():
        yield Prompt(prose(text), note)
    else:
        yield Note(say("folders.prompt.empty"), "warn")


def _grading(record: TaskRecord, facts: Facts) -> Iterator[Block]:
    yield Steps(tuple(_account(record, facts)))
    codes = [
        Code(record.texts[path].text, name(path), masked=record.texts[path].masked)
        for path in _first(facts.checkers)
        if path in record.texts
    ]
    yield from codes[:OPEN_SCRIPTS]
    if codes[OPEN_SCRIPTS:]:
        yield Disclose(say("folders.grading.more", n=len(codes) - OPEN_SCRIPTS), tuple(codes[OPEN_SCRIPTS:]))
    withheld = {entry.path for entry in record.files if entry.withheld}
    hidden = [path for path in (*facts.checkers, *facts.expected) if path in withheld]
    if hidden:
        yield Note(say("folders.grading.withheld", n=len(hidden)))


def _account(record: TaskRecord, facts: Facts) -> Iterator[Text]:
    """How it is graded, as far as that can be told."""
    checkers, expected, solutions = facts.counts
    if facts.is_terminal:
        script = any(entry.path == "run-tests.sh" for entry in record.files)
        yield say("folders.grading.terminal" if script else "folders.grading.terminal_pytest")
        if facts.parser:
            yield say("folders.grading.parser", name=facts.parser)
        if facts.test_seconds:
            yield say("folders.grading.limit", limit=duration(facts.test_seconds))
        return
    if checkers:
        yield say("folders.grading.checkers", n=checkers, first=facts.checkers[0])
        yield say("folders.grading.unsaid")
    elif expected:
        yield say("folders.grading.expected", n=expected)
    else:
        yield say("folders.grading.solution", n=solutions)


def _environment(record: TaskRecord, facts: Facts) -> Iterator[Block]:
    rows = []
    if facts.base:
        rows.append(Row(say("folders.env.base"), name(facts.base), note=name(facts.dockerfile or ""), code=True))
    if facts.workdir:
        rows.append(Row(say("folders.env.folder"), name(facts.workdir), code=True))
    if facts.services:
        names = tuple(name(service) for service in facts.services)
        rows.append(Row(say("folders.env.services"), names, note=name(facts.compose or "")))
    if rows:
        yield KeyValues(tuple(rows))
    shown = [path for path in (facts.dockerfile, facts.compose) if path and path in record.texts]
    for path in shown:
        yield Code(record.texts[path].text, name(path), masked=record.texts[path].masked)
    if not rows and not shown:
        yield Note(say("folders.env.nothing"))


def _run_there(record: TaskRecord) -> Section:
    """Terminal-Bench's first harness is no longer kept up; Harbor turns its tasks into ones of its own."""
    folder = shlex.quote(root_of(record.card.ref) or ".")
    commands = f"harbor task migrate -i {folder} -o harbor-tasks\nharbor run -p harbor-tasks -a oracle"
    return run_there("Harbor", prose(commands), say("folders.run.migrate"))


def _metadata(table: Mapping[str, Json]) -> Iterator[Block]:
    rows = [
        Row(name(label(key)), _value(value))
        for key, value in table.items()
        if not _is_nested(value) and key not in CONFIGURATION
    ]
    if rows:
        yield KeyValues(tuple(rows[:_MAX_ROWS]))
    settings = [Row(name(key), _value(table[key]), code=True) for key in CONFIGURATION if key in table]
    if settings:
        yield KeyValues(tuple(settings))
    nested = [(key, value) for key, value in table.items() if _is_nested(value) and key not in CONFIGURATION]
    for key, value in nested[:_MAX_ROWS]:
        yield Value(whole(value), name(label(key)))


def _reading(facts: Facts) -> Iterator[Block]:
    """Which file was taken for what, by what rule, and how sure that is."""
    yield Note(say("folders.reading.terminal" if facts.is_terminal else "folders.reading.inferred"))
    rows = [Row(say("folders.reading.prompt"), _paths(facts.prompts), say(f"folders.reading.rule_{facts.rule}"), True)]
    kinds = ("checkers", "expected", "solutions")
    for kind, paths, count in zip(kinds, (facts.checkers, facts.expected, facts.solutions), facts.counts, strict=True):
        if paths:
            more = count - min(len(paths), _NAMED)
            values = (*_paths(paths), *([say("folders.reading.more", n=more)] if more else []))
            rule = "terminal" if facts.is_terminal and kind != "expected" else kind
            rows.append(Row(say(f"folders.reading.{kind}"), values, say(f"folders.reading.rule_{rule}"), True))
    world = [path for path in (facts.dockerfile, facts.compose) if path]
    if world:
        rows.append(Row(say("folders.reading.world"), _paths(world), say("folders.reading.rule_world"), True))
    yield KeyValues(tuple(rows))


def _glance(record: TaskRecord, facts: Facts) -> Iterator[Row]:
    for key in ("difficulty", "category", "graded"):
        values = record.card.facets.get(key)
        if values:
            yield Row(say(f"facet.{key}"), facet_value(values[0], key))
    if facts.agent_seconds:
        yield Row(say("folders.glance.agent"), duration(facts.agent_seconds))
    yield Row(say("folders.glance.prompt"), _paths(facts.prompts), say(f"folders.glance.sure_{facts.rule}"), True)


def _paths(paths: Sequence[str]) -> tuple[Text, ...]:
    return tuple(name(path) for path in paths[:_NAMED])


def _first(paths: Sequence[str]) -> Sequence[str]:
    """Those nearest to the task's folder first."""
    return sorted(paths, key=lambda path: path.count("/"))


def _value(value: Json) -> Text | tuple[Text, ...]:
    if isinstance(value, list):
        return tuple(name(plain(item)[:_LONG]) for item in value[:_MAX_ROWS])
    return name(plain(value)[:_LONG])


def _is_nested(value: Json) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict | list) and item for item in items) and value != MARK
