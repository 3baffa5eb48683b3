"""Reads folders of tasks for the index: which files are wanted, a record of each task, and the pages made of it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio.to_thread

from rlx.answers import Masked, Shown, ShownJson, file_text, file_verdict, name, record, whole
from rlx.answers.files import CODE
from rlx.answers.shown import Json
from rlx.formats.folders import summary
from rlx.formats.folders.discovery import MARKS, Place, places
from rlx.formats.folders.facts import Facts, facts_out, find_facts
from rlx.formats.folders.parts import Parts, is_test, read_parts
from rlx.formats.folders.sections import task_view
from rlx.formats.folders.terminal import CONFIGURATION, TerminalTask, read_terminal
from rlx.formats.harbor.facets import difficulty
from rlx.formats.harbor.finish import finish
from rlx.formats.harbor.instruction import agent_text
from rlx.formats.harbor.sizes import length_range, timeout_range, words_in
from rlx.formats.processors.cards import usual_facets
from rlx.formats.prose import heading, is_title, paragraphs, tidy
from rlx.formats.task_files import task_files, withheld_files
from rlx.hub.info import TreeEntry
from rlx.index.records import Counts, Finished, SummaryView, TaskPlan, TaskRecord, TaskView, ref_of
from rlx.model import TaskCard
from rlx.texts import Say, say

MAX_SCRIPT: Final = 64 * 1024
"""Bytes of a checker that is read."""
MAX_SCRIPTS: Final = 24
MAX_DETAILS: Final = 256 * 1024
MAX_SEARCHED: Final = 2000
"""Characters of the prompt that are searched."""
_PEOPLE = re.compile(r"(^|[_-])(e?[_-]?mails?|phones?|address|canary)([_-]|$)", re.IGNORECASE)
_NO_FACETS: Final = (*CONFIGURATION, "instruction", "description", "task_id", "task_name")


class FoldersReader:
    """Meets `rlx.index.records.Reader`."""

    format = "folders"
    version = 1
    marks = MARKS

    def plan(self, tree: Mapping[str, TreeEntry]) -> tuple[TaskPlan, ...]:
        return tuple(_plan(place) for place in places(tree))

    def sought(self, root: str, data: Mapping[str, bytes]) -> Iterable[str]:
        """What a Terminal-Bench task may hold: no other make is found where not everything is listed."""
        paths = (*MARKS.names, *MARKS.parts, "tests/test_outputs.py", "Dockerfile", "solution.yaml")
        return [f"{root}/{path.rstrip('/')}" if root else path.rstrip("/") for path in paths]

    def shared(self, tree: Mapping[str, TreeEntry]) -> tuple[str, ...]:
        return ()

    def read(self, plan: TaskPlan, data: Mapping[str, bytes]) -> TaskRecord:
        skip = len(plan.root) + 1 if plan.root else 0
        raw = {path[skip:]: value for path, value in data.items()}
        decoded = {path: value.decode("utf-8", "replace") for path, value in raw.items()}
        parts = read_parts([entry.path[skip:] for entry in plan.files]) or Parts("name", ())
        terminal = read_terminal(raw.get(parts.settings, b"")) if parts.settings else None
        unread = [path for path in parts.prompts if path not in raw]
        facts = find_facts(parts, terminal, decoded, unread)
        prompt = _prompt(parts, terminal, decoded)
        table = _table(terminal, decoded.get(parts.details) if parts.details else None)
        masked = ((path, file_text(path, value, task_root=plan.root)) for path, value in raw.items())
        texts = {path: text for path, text in masked if isinstance(text, Masked)}
        files = task_files(plan)
        facets = {key: tuple(map(name, values)) for key, values in _facets(facts, prompt, table).items() if values}
        briefs = tuple(name(text) for text in paragraphs(prompt))
        return TaskRecord(
            card=TaskCard(
                plan.ref, _title(table, prompt, plan), briefs[0] if briefs else name(""), facets, _odd(facts)
            ),
            search=" ".join([*_words(table), prompt[:MAX_SEARCHED]]),
            settings=whole({"table": table, "facts": facts_out(facts)}),
            texts=texts,
            files=files,
            withheld=(*withheld_files(files), *(item for text in texts.values() for item in text.withheld)),
            notes={
                "briefs": briefs,
                "metadata": _meta(table),
                "numbers": {"length": words_in(prompt), "timeout": facts.agent_seconds},
                "unparsed": facts.problem is not None,
                "rule": facts.rule,
                "graded": _graded(facts),
            },
        )

    async def finish(self, records: Sequence[TaskRecord], shared: Mapping[str, bytes]) -> Finished:
        return await anyio.to_thread.run_sync(_finished, records)

    def task_view(self, record: TaskRecord) -> TaskView:
        return task_view(record)

    def summary_view(self, header: ShownJson, counts: Counts) -> SummaryView:
        return summary.summary_view(header, counts)

    def reviews(self) -> bool:
        return False

    async def review(self, plans: Sequence[TaskPlan], data: Mapping[str, bytes]) -> Mapping[str, ShownJson]:
        return {}


def _plan(place: Place) -> TaskPlan:
    skip = len(place.root) + 1 if place.root else 0
    sizes = {entry.path[skip:]: entry.size for entry in place.files}
    parts = place.parts
    wanted = [path for path in _wanted(parts, sizes) if file_verdict(path, task_root=place.root).kind != "withhold"]
    return TaskPlan(
        ref_of(place.root),
        place.root,
        place.files,
        tuple(f"{place.root}/{path}" if place.root else path for path in dict.fromkeys(wanted)),
    )


def _wanted(parts: Parts, sizes: Mapping[str, int]) -> Iterator[str]:
    """What a page shows, the most telling first."""
    yield from (path for path in parts.prompts if path in sizes)
    if parts.details and sizes.get(parts.details, 0) <= MAX_DETAILS:
        yield parts.details
    yield from (path for path in (parts.dockerfile, parts.compose) if path and path in sizes)
    scripts = [
        path for path in parts.checkers if path.lower().rpartition(".")[2] in CODE and sizes.get(path, 0) <= MAX_SCRIPT
    ]
    yield from sorted(scripts, key=lambda path: path.count("/"))[:MAX_SCRIPTS]


def _prompt(parts: Parts, terminal: TerminalTask | None, texts: Mapping[str, str]) -> str:
    if terminal:
        return terminal.prompt or ""
    return "\n\n".join(agent_text(texts[path]).text for path in parts.prompts if path in texts)


def _table(terminal: TerminalTask | None, details: str | None) -> Mapping[str, Json]:
    """What the author says of the task, masked; addresses of people are left out."""
    found: dict[str, Json] = dict(terminal.values) if terminal else {}
    if details is not None:
        try:
            value = json.loads(details)
        except (ValueError, RecursionError):
            value = None
        masked = record(value).value.value
        found |= masked if isinstance(masked, dict) else {}
    return {key: value for key, value in found.items() if not _PEOPLE.search(key) and value not in (None, "", [], {})}


def _facets(facts: Facts, prompt: str, table: Mapping[str, Json]) -> dict[str, Sequence[str]]:
    usual = usual_facets(table, _NO_FACETS)
    told = usual.get("difficulty", ())
    level = difficulty(str(told[0])) if told else None
    limit = [timeout_range(facts.agent_seconds)] if facts.agent_seconds is not None else []
    return {
        "graded": [_graded(facts)],
        "runs": [_runs(facts)],
        "difficulty": [level] if level else [],
        "category": usual.get("category", ()),
        "tags": usual.get("tags", ()),
        "length": [length_range(words_in(prompt))],
        "timeout": limit,
        "base": [facts.base.partition("@")[0][:60]] if facts.base else [],
    }


def _meta(table: Mapping[str, Json]) -> dict[str, tuple[Shown, ...]]:
    """Values by which lists may be filtered, where they turn out to tell tasks apart."""
    return {
        key.removeprefix("meta:"): values
        for key, values in usual_facets(table, _NO_FACETS).items()
        if key.startswith("meta:")
    }


def _graded(facts: Facts) -> str:
    if facts.checkers:
        return "Tests" if facts.is_terminal or any(map(is_test, facts.checkers)) else "Checker"
    return "Reference answer"


def _runs(facts: Facts) -> str:
    if facts.compose:
        return "Compose"
    return "Dockerfile" if facts.dockerfile else "Nothing"


def _title(table: Mapping[str, Json], prompt: str, plan: TaskPlan) -> Shown:
    """What its author calls it, else a heading that says something, else its folder."""
    for key in ("title", "name", "task_name"):
        value = table.get(key)
        if isinstance(value, str) and " " in value.strip() and is_title(tidy(value)):
            return name(tidy(value))
    return name(heading(prompt) or plan.root.rpartition("/")[2])


def _words(table: Mapping[str, Json]) -> Iterator[str]:
    for key in ("title", "name", "description", "category", "difficulty", "tags"):
        value = table.get(key)
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


def _odd(facts: Facts) -> Say | None:
    return say(f"folders.problem.{facts.problem}") if facts.problem else None


def _finished(records: Sequence[TaskRecord]) -> Finished:
    """As of Harbor's tasks, whose second pass knows nothing of their files; the header tells how parts were found."""
    made = finish(records, {})
    facts: Any = made.header.value
    rules = [str(item.notes.get("rule", "")) for item in records]
    told = {"rules": {rule: rules.count(rule) for rule in sorted(set(rules)) if rule}}
    return replace(made, header=record({**facts, **told}).value)
