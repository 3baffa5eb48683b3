"""Reads Harbor tasks for the index: which files are wanted, a record of each task, and the pages made of it."""

import re
from collections.abc import Iterator, Mapping, Sequence

import anyio.to_thread

from rlx.answers import Masked, Shown, ShownJson, Withheld, file_text, file_verdict, name, record, toml_values, whole
from rlx.formats.harbor import summary
from rlx.formats.harbor.dataset import MANIFEST, REGISTRY
from rlx.formats.harbor.discovery import MARKS, SETTINGS, Place, places
from rlx.formats.harbor.facets import metadata_values, task_facets
from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE, facts_out, find_facts
from rlx.formats.harbor.finish import finish
from rlx.formats.harbor.instruction import agent_text
from rlx.formats.harbor.problems import problem_of
from rlx.formats.harbor.running import Subject
from rlx.formats.harbor.schema import TaskSettings
from rlx.formats.harbor.scripts import CODE, suffix
from rlx.formats.harbor.sections import task_view
from rlx.formats.harbor.seeking import sought
from rlx.formats.harbor.settings import read_settings
from rlx.formats.harbor.sizes import agent_seconds, words_in
from rlx.formats.harbor.toml import TomlFile, TomlProblem, parse_toml
from rlx.formats.harbor.verdict import IGNORES, Question, available, verdicts
from rlx.formats.prose import heading, is_title, paragraphs, shorten, tidy
from rlx.formats.task_files import task_files, withheld_files
from rlx.hub.info import TreeEntry
from rlx.index.records import Counts, Finished, SummaryView, TaskPlan, TaskRecord, TaskView
from rlx.model import TaskCard

MAX_SCRIPT = 64 * 1024
"""Bytes of a grader's script that is read."""
MAX_SCRIPTS = 24
MAX_SEARCHED = 2000
"""Characters of the instruction that are searched."""
_STEP_FILE = re.compile(r"steps/[^/]+/(instruction\.md|tests/[^/]+)")


class HarborReader:
    """Meets `rlx.index.records.Reader`."""

    format = "harbor"
    version = 4
    marks = MARKS

    def plan(self, tree: Mapping[str, TreeEntry]) -> tuple[TaskPlan, ...]:
        return tuple(_plan(place) for place in places(tree))

    def sought(self, root: str, data: Mapping[str, bytes]) -> Iterator[str]:
        skip = len(root) + 1 if root else 0
        for path in sought({path[skip:]: value for path, value in data.items()}):
            yield f"{root}/{path}" if root else path

    def shared(self, tree: Mapping[str, TreeEntry]) -> tuple[str, ...]:
        return tuple(path for path in tree if path.rpartition("/")[2] in (MANIFEST, REGISTRY) and path.count("/") <= 2)

    def read(self, plan: TaskPlan, data: Mapping[str, bytes]) -> TaskRecord:
        skip = len(plan.root) + 1 if plan.root else 0
        raw = {path[skip:]: value for path, value in data.items()}
        paths = tuple(entry.path[skip:] for entry in plan.files)
        file = _settings_file(raw)
        decoded = {path: value.decode("utf-8", "replace") for path, value in raw.items()}
        written = read_settings(file.table)
        instructions = [path for path in _instructions(written) if path in raw]
        not_utf8 = [path for path in instructions if not _is_utf8(raw[path])]
        facts = find_facts(file, written, paths, decoded, not_utf8)
        values = toml_values(file.table, path=SETTINGS).value.value
        shown = values if isinstance(values, dict) else {}
        subject = Subject(read_settings(shown), facts, frozenset(paths))
        texts = {path: text for path, value in raw.items() if isinstance(text := _text(plan, path, value), Masked)}
        agent = "\n\n".join(agent_text(decoded[path]).text for path in instructions)
        briefs = _briefs(subject.settings, agent)
        files = task_files(plan)
        card = TaskCard(
            ref=plan.ref,
            title=_title(subject.settings, agent, plan),
            brief=briefs[0] if briefs else name(""),
            facets=task_facets(subject, agent),
            problem=problem_of(subject),
        )
        return TaskRecord(
            card=card,
            search=_searched(subject.settings, agent),
            settings=whole({"file": shown, "facts": facts_out(facts)}),
            texts=texts,
            files=files,
            withheld=(*withheld_files(files), *(item for text in texts.values() for item in text.withheld)),
            notes={
                "briefs": briefs,
                "metadata": metadata_values(subject.settings.metadata),
                "numbers": {}
                if facts.problem
                else {"length": words_in(agent), "timeout": agent_seconds(subject.settings)},
                "unparsed": file.problem is not None,
            },
        )

    async def finish(self, records: Sequence[TaskRecord], shared: Mapping[str, bytes]) -> Finished:
        return await anyio.to_thread.run_sync(finish, records, shared)

    def task_view(self, record: TaskRecord) -> TaskView:
        return task_view(record)

    def summary_view(self, header: ShownJson, counts: Counts) -> SummaryView:
        return summary.summary_view(header, counts)

    def reviews(self) -> bool:
        return available()

    async def review(self, plans: Sequence[TaskPlan], data: Mapping[str, bytes]) -> Mapping[str, ShownJson]:
        return {
            ref: record({"harbor": verdict.harbor, "loads": verdict.loads, "why": verdict.why}).value
            for ref, verdict in (await verdicts([_question(plan, data) for plan in plans])).items()
        }


def _question(plan: TaskPlan, data: Mapping[str, bytes]) -> Question:
    skip = len(plan.root) + 1 if plan.root else 0
    held = {path[skip:]: data[path] for path in plan.judged if path in data}
    return Question(plan.ref, tuple(entry.path[skip:] for entry in plan.files), held)


def _plan(place: Place) -> TaskPlan:
    sizes = {place.relative(entry.path): entry.size for entry in place.files}
    steps = [path for path in sizes if path.startswith("steps/") and path.endswith("/instruction.md")]
    core = [path for path in (SETTINGS, "instruction.md", *steps) if path in sizes]
    wanted = list(dict.fromkeys([*core, *_wanted(sizes)]))
    kept = [path for path in wanted if path in core or file_verdict(path, task_root=place.root).kind != "withhold"]
    judged = [*core, *(path for path in IGNORES if path in sizes)]
    return TaskPlan(place.ref, place.root, place.files, _absolute(place, kept), _absolute(place, judged))


def _absolute(place: Place, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(place.absolute, paths))


def _wanted(sizes: Mapping[str, int]) -> Iterator[str]:
    """What a page shows beside the settings and instructions, the most telling first."""
    first = ("tests/test.sh", "tests/test.bat", DOCKERFILE, COMPOSE, "tests/Dockerfile", "tests/docker-compose.yaml")
    yield from (path for path in first if path in sizes)
    scripts = [path for path in sizes if suffix(path) in CODE and sizes[path] <= MAX_SCRIPT]
    yield from [path for path in scripts if _STEP_FILE.fullmatch(path)][: 4 * MAX_SCRIPTS]
    graders = sorted((path for path in scripts if path.startswith("tests/")), key=lambda path: path.count("/"))
    yield from graders[:MAX_SCRIPTS]


def _instructions(settings: TaskSettings) -> tuple[str, ...]:
    """In the order the agent gets them."""
    return tuple(f"steps/{step.name}/instruction.md" for step in settings.steps) or ("instruction.md",)


def _settings_file(raw: Mapping[str, bytes]) -> TomlFile:
    if SETTINGS not in raw:
        return TomlFile(problem=TomlProblem("The file could not be read"))
    return parse_toml(raw[SETTINGS])


def _text(plan: TaskPlan, path: str, data: bytes) -> Masked | Withheld:
    return file_text(path, data, task_root=plan.root)


def _title(settings: TaskSettings, agent: str, plan: TaskPlan) -> Shown:
    """What the settings call it, else a short description, else a heading that says something, else its folder.

    Empty for a whole repository that says none of it: it is called by its name where that is known.
    """
    metadata = settings.metadata
    described = [settings.package.description if settings.package else None, metadata.get("description")]
    for value in (metadata.get("title"), *described):
        if isinstance(value, str) and is_title(tidy(value)):
            return name(tidy(value).removesuffix("."))
    return name(heading(agent) or plan.root.rpartition("/")[2])


def _briefs(settings: TaskSettings, agent: str) -> tuple[Shown, ...]:
    """Candidates, the best first: paragraphs of the instruction, then descriptions."""
    found = list(paragraphs(agent))
    if len(found) > 1 and len(found[0]) < 60 and found[0].endswith(":"):
        found[:2] = [shorten(f"{found[0]} {found[1]}")]
    described = [settings.package.description if settings.package else None, settings.metadata.get("description")]
    return tuple(name(text) for text in [*found, *(shorten(tidy(text)) for text in described if isinstance(text, str))])


def _searched(settings: TaskSettings, agent: str) -> str:
    package = settings.package
    words: list[object] = [package.name, package.description, *package.keywords] if package else []
    words += [settings.metadata.get(key) for key in ("title", "description", "category", "domain", "language")]
    tags = settings.metadata.get("tags")
    words += tags if isinstance(tags, list) else [tags]
    return " ".join([*(word for word in words if isinstance(word, str)), agent[:MAX_SEARCHED]])


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
