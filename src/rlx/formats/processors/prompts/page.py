"""The page of a row: its task, what may score it, and its other columns by what they seem to be for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from rlx.answers import MARK, Json, name, prose
from rlx.formats.conversation import is_conversation, turns
from rlx.formats.predict import Check, Unchecked, compared
from rlx.formats.processors.base import RowCard, ShownRow
from rlx.formats.processors.prompts.cells import at, held, is_empty, opened, text_of, told
from rlx.formats.processors.prompts.roles import Cast
from rlx.model import Block, Message, Messages, Note, Prompt, Row, Section, Steps, Text
from rlx.texts import say
from rlx.texts.values import facet_value

_SYSTEM = ("system_prompt", "system")


def sections(row: ShownRow, found: Cast, graded: Sequence[Text]) -> tuple[Section, ...]:
    """`graded` tells in sentences how an answer is scored."""
    rest = [path for path in row.value if path not in found.used]
    told_before = tuple(f"{path}." for path in (*found.task, *found.simulated))
    title = [path for path in found.title if not path.startswith(told_before)]
    known = [
        Section("prompt", say("rows.section.prompt"), tuple(_prompt(row, found))),
        Section("user", say("prompts.section.user"), tuple(_simulated(row, found))),
        Section("grading", say("rows.section.grading"), tuple(_grading(row, found, graded))),
        Section("environment", say("rows.section.environment"), tuple(_environment(row, found))),
        Section("metadata", say("rows.section.metadata"), told(row.value, [*found.id, *title, *rest])),
    ]
    return tuple(section for section in known if section.blocks)


def task_value(row: Mapping[str, Json], found: Cast) -> tuple[str | None, Json]:
    """The first column of those that may hold the task that does, and what it holds."""
    for path in found.task:
        value = at(row, path)
        if not is_empty(value):
            return path, value
    return None, None


def task_text(row: Mapping[str, Json], found: Cast) -> str:
    """What is asked, as text: of a conversation, what the user says first; of a simulated user, what it wants."""
    value = task_value(row, found)[1]
    if is_conversation(value):
        said = turns(value)
        asked = [message.text for message in said if message.role == "user"] or [item.text for item in said]
        return asked[0] if asked else ""
    if value is None and found.simulated:
        return text_of(next((item for path in found.title if not is_empty(item := at(row, path))), None))
    return text_of(value)


def glance(card: RowCard, text: str) -> tuple[Row, ...]:
    rows = [
        Row(say(f"facet.{key}"), facet_value(card.facets[key][0], key))
        for key in ("difficulty", "category")
        if card.facets.get(key)
    ]
    rows.append(Row(say("prompts.glance.length"), say("prompts.words", n=len(text.split()))))
    rows += [Row(say("facet.graded"), facet_value(value, "graded")) for value in card.facets.get("graded", ())[:1]]
    return tuple(rows)


def scored_by(hidden: Sequence[str], check: Check | Unchecked, *, tests: bool) -> Text | None:
    """What scores an answer, where that can be told; `tests`: those at the first of the `hidden` places that is one."""
    if isinstance(check, Check):
        return compared(check)[0]
    program = next((path for path in hidden if "test" in path.lower().rpartition(".")[2]), None)
    return say("prompts.grading.tests", column=program) if tests and program is not None else None


def grading(hidden: Sequence[str], scored: Text | None, check: Check | Unchecked) -> tuple[Text, ...]:
    """How rows are graded in which answers stand at the `hidden` places."""
    if isinstance(check, Check):
        return (*compared(check), say("prompts.grading.reference"))
    if scored is not None:
        return scored, say("prompts.grading.withheld_tests")
    return say("prompts.grading.unknown"), say("prompts.grading.withheld" if hidden else "prompts.grading.none")


def _prompt(row: ShownRow, found: Cast) -> Iterator[Block]:
    path, value = task_value(row.value, found)
    system = next((text for path in _SYSTEM if isinstance(text := row.value.get(path), str) and text.strip()), None)
    if path is None and found.simulated:
        yield Note(say("prompts.simulated"))
    elif path is None:
        yield Note(say("prompts.no_task"), "warn")
    elif is_conversation(value):
        yield from _conversation(turns(value))
    elif isinstance(value, str) and system:
        yield Messages(turns([{"role": "system", "content": system}, {"role": "user", "content": value}]))
    elif isinstance(value, str):
        yield Prompt(prose(value), say("prompts.words", n=len(value.split())))
    elif isinstance(value, dict) and all(isinstance(item, str) or is_empty(item) for item in value.values()):
        yield from (Prompt(prose(item), name(key)) for key, item in value.items() if isinstance(item, str) and item)
    else:
        yield from told(row.value, [path])
    beside = told(row.value, [item for item in found.context if item not in _SYSTEM or path is None])
    if beside:
        yield Note(say("prompts.context"))
        yield from beside


def _conversation(said: Sequence[Message]) -> Iterator[Block]:
    """All turns but the withheld ones at the end, which a model is to give."""
    given = list(said)
    while given and given[-1].text == MARK:
        given.pop()
    if given:
        yield Messages(tuple(given))
    if len(given) < len(said):
        yield Note(say("prompts.reply"))


def _simulated(row: ShownRow, found: Cast) -> Iterator[Block]:
    """What a simulated user is told, each text under its name."""
    for path in found.simulated:
        inner = opened(at(row.value, path))
        for key, value in inner.items() if isinstance(inner, dict) else ():
            texts = opened(value)
            if isinstance(texts, dict) and all(isinstance(item, str) or is_empty(item) for item in texts.values()):
                yield from (Prompt(prose(text), name(label)) for label, text in texts.items() if _reads(text))
            elif _reads(value):
                yield Prompt(prose(value), name(key))
            else:
                yield from told(row.value, [f"{path}.{key}"])
        if not isinstance(inner, dict):
            yield from told(row.value, [path])


def _reads(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip()) and value != MARK


def _environment(row: ShownRow, found: Cast) -> Iterator[Block]:
    if any(at(row.value, path) == MARK for path in found.environment):
        yield Note(say("prompts.environment.withheld"))
    yield from told(row.value, found.environment)


def _grading(row: ShownRow, found: Cast, graded: Sequence[Text]) -> Iterator[Block]:
    yield Steps(tuple(graded))
    yield from held(row)
    yield from told(row.value, [path for path in found.grading if path not in found.task])
