"""Which column plays which role: from their names, and from what the first rows hold. What is withheld plays no part
that is shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rlx.answers import MARK, Json
from rlx.answers.keys import names, words
from rlx.errors import BadInput
from rlx.formats.processors.base import Roles
from rlx.formats.processors.prompts.cells import at, is_empty, leaves, opened, text_of
from rlx.formats.rows.sources.json_rows import KEY

SINGLE: Final = ("task", "id", "title")
"""Roles that one column plays; of the others several may."""
ROLES: Final = (*SINGLE, "context", "grading", "environment", "answer")
SIMULATED: Final = names("user_scenario simulated_user user_simulation user_simulator user_script")
"""Columns that tell a simulated user what to say: nothing that an agent gets."""
_TASK: Final = (
    *("instruction", "instructions", "agent_instructions", "prompt", "user_prompt", "question", "problem"),
    *("problem_statement", "task_description", "task", "query", "user_query", "invocation", "input", "messages"),
    *("conversation", "conversations", "goal", "request", "puzzle", "description", "statement", "text", "content"),
)
_ID: Final = (
    *("task_id", "instance_id", "id", "uid", "uuid", "problem_id", "question_id", "sample_id", "example_id"),
    *("name", "key", "slug", "path", "idx", "index"),
)
_TITLE: Final = ("title", "task_name", "name", "summary", "headline", "statement", "reason_for_call")
_CONTEXT: Final = names(
    "system system_prompt context passage passages input choices options memories document documents article story "
    "image images audio video table schema starter_code entry_point code_context history known_info"
)
_GRADING: Final = re.compile(
    r"reward\w*|verif\w*|rubrics?|grad(?:e|er|ing)|scor(?:e|es|er|ing)|metrics?|tolerance|tests?|checks?|checker|checklist"
    r"|judge|eval|evaluat\w*|criteria|assertions?|targets?|answers?|expected"
)
_ENVIRONMENT: Final = names(
    "docker dockerfile environment env setup files repo commit sandbox tools cleanup timeout cpu cpus mem gpu "
    "gpus workdir create start init initial state container"
)
_LONGEST_TITLE: Final = 400
_PATHS: Final = 300
_LONGEST_ID: Final = 200
_SOME: Final = 12
"""Characters that a task has on average at least."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The columns, or dotted paths into them, of each role; in order, the first that a row has counts."""

    task: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    grading: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    """Columns that tell a simulated user what to say; no visitor chooses them."""
    by_name: bool = True
    """The task's column was known by its name, and not by its texts being the longest."""

    def of(self, role: str) -> tuple[str, ...]:
        found: tuple[str, ...] = getattr(self, role)
        return found

    @property
    def used(self) -> frozenset[str]:
        """Columns that play a part."""
        paths = (*self.simulated, *(path for role in ROLES for path in self.of(role)))
        return frozenset(path.split(".")[0] for path in paths) | frozenset(paths)


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows as a reader sees them."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Json], ...]
    found: Mapping[str, tuple[Json, ...]]
    """By column, and by dotted path into one, what is there and not empty."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Columns, then what objects in them hold."""
        return tuple(self.found)

    def values(self, path: str) -> tuple[Json, ...]:
        return self.found[path]

    def is_answer(self, path: str) -> bool:
        """Whether what it holds is withheld, in any row."""
        return any(value == MARK or (isinstance(value, list) and value == [MARK]) for value in self.values(path))

    def is_answered(self, path: str) -> bool:
        """Whether it holds conversations whose last turn is withheld."""
        ends = [value[-1] for value in self.values(path) if isinstance(value, list) and value]
        return any(isinstance(turn, dict) and MARK in turn.values() for turn in ends)


def sampled(columns: Sequence[str], rows: Sequence[Mapping[str, Json]]) -> Sample:
    """JSON in texts is read once here, for it is looked at again and again."""
    whole = [{key: opened(value) for key, value in row.items()} for row in rows]
    below = dict.fromkeys(path for row in whole for path in leaves(row))
    paths = list(dict.fromkeys([*columns, *below]))[:_PATHS]
    found = {path: tuple(value for row in whole if not is_empty(value := at(row, path))) for path in paths}
    return Sample(tuple(columns), tuple(rows), found)


def cast(sample: Sample) -> Cast:
    """Who plays what, as far as it can be seen."""
    paths = sample.paths
    open_ = [path for path in paths if not sample.is_answer(path)]
    simulated = tuple(path for path in sample.columns if path.lower() in SIMULATED and sample.found.get(path))
    answers = tuple(path for path in paths if path not in open_)
    asked = [path for path in open_ if path not in simulated and not _within(path, simulated)]
    named = [path for path in _ordered(asked, _TASK) if _is_task(sample, path)]
    task = tuple(named) or _longest(sample, asked)
    rest = [path for path in asked if path not in task[:1] and not _within(path, task[:1])]
    chosen = Cast(
        task=task,
        id=next(((path,) for path in _ordered(rest, (KEY, *_ID)) if _names_rows(sample, path)), ()),
        title=next(
            ((path,) for path in _ordered(open_, _TITLE) if path not in task[:1] and _is_title(sample, path)), ()
        ),
        answer=(*answers, *(path for path in open_ if sample.is_answered(path))),
        simulated=simulated,
        by_name=bool(named),
    )
    left = [path for path in rest if path not in chosen.id and sample.values(path)]
    environment = tuple(_top(path for path in left if _is_world(path)))
    context = tuple(_top(path for path in left if _last(path).lower() in _CONTEXT and path not in environment))
    grading = tuple(_top(path for path in (*left, *answers) if _grades(path) and path not in (*environment, *context)))
    shown = {*context, *environment, *grading}
    return replace(
        chosen,
        task=tuple(path for path in task if path == task[0] or path not in shown),
        context=context,
        grading=(*grading, *(answers if not grading else ())),
        environment=environment,
    )


def corrected(found: Cast, sample: Sample, roles: Roles) -> Cast:
    """`found` with columns in the roles that a visitor gave them: of roles that several play, the first.

    Raises `BadInput` for a role or a column that there is not, and for an answer that was to be shown.
    """
    paths, known = sample.paths, found.answer
    for role, path in roles.items():
        if role not in ROLES:
            raise BadInput(f"There is no role {role[:60]!r}.", hint=f"Roles are {', '.join(ROLES)}.")
        if not path and KEY not in sample.columns:
            continue
        if path not in paths:
            raise BadInput(f"There is no column {path[:60]!r}.", hint=f"Columns are {', '.join(paths)[:400]}.")
        named = path == roles.get("answer") and path not in known
        if role not in ("answer", "grading") and (sample.is_answer(path) or named):
            raise BadInput(f"The column {path[:60]!r} holds answers, which are not shown.", hint="Choose another one.")
        others = () if role in SINGLE else tuple(other for other in found.of(role) if other != path)
        changed: dict[str, Any] = {role: (path, *others)}
        found = replace(found, **changed)
    return found


def offered(sample: Sample) -> dict[str, tuple[str, ...]]:
    """The columns that may play each role."""
    paths = sample.paths
    open_ = tuple(path for path in paths if not sample.is_answer(path))
    scalars = tuple(path for path in open_ if all(isinstance(value, str | int) for value in sample.values(path)))
    return dict.fromkeys(ROLES, open_) | {"id": scalars, "title": scalars, "grading": paths, "answer": paths}


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _within(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(f"{other}.") for other in others)


def _ordered(paths: Sequence[str], known: Sequence[str]) -> list[str]:
    """Paths of known names, in the order of those: columns before what is inside of others."""
    places = {item: place for place, item in enumerate(known)}
    found = [path for path in paths if _last(path).lower() in places]
    return sorted(found, key=lambda path: (path.count("."), places[_last(path).lower()]))


def _top(paths: Iterable[str]) -> list[str]:
    """Without what is inside of another one of them."""
    kept = list(paths)
    return [path for path in kept if not _within(path, kept)]


def _is_task(sample: Sample, path: str) -> bool:
    values = sample.values(path)
    texts = [text_of(value) for value in values]
    if not any(texts) or all(isinstance(value, bool | int | float) for value in values):
        return False
    return sum(map(len, texts)) / len(texts) >= _SOME


def _longest(sample: Sample, paths: Sequence[str]) -> tuple[str, ...]:
    """The column of the longest texts, when they are longer than names are."""
    lengths = {path: [len(value) for value in sample.values(path) if isinstance(value, str)] for path in paths}
    means = {path: sum(found) / len(found) for path, found in lengths.items() if found}
    best = max(means, key=lambda path: means[path], default=None)
    return () if best is None or means[best] < _SOME else (best,)


def _names_rows(sample: Sample, path: str) -> bool:
    values = sample.values(path)
    plain = all(isinstance(value, str | int) and len(str(value)) <= _LONGEST_ID for value in values)
    return bool(values) and plain and len({str(value) for value in values}) == len(values) == len(sample.rows)


def _is_title(sample: Sample, path: str) -> bool:
    values = sample.values(path)
    texts = {value for value in values if isinstance(value, str)}
    fits = bool(texts) and sum(map(len, texts)) / len(texts) <= _LONGEST_TITLE
    return fits and len(texts) > len(values) / 2


def _is_world(path: str) -> bool:
    parts = words(_last(path))
    return bool(parts) and not _ENVIRONMENT.isdisjoint((parts[0], parts[-1]))


def _grades(path: str) -> bool:
    return any(_GRADING.fullmatch(word) for word in words(_last(path)))
