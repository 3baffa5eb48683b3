"""The page of a row: its task, what may score it, and its other columns by what they seem to be for."""

from collections.abc import Iterator, Mapping, Sequence

from rlx.answers import Json, name, prose
from rlx.formats.conversation import is_conversation, turns
from rlx.formats.processors.base import RowCard, ShownRow
from rlx.formats.processors.prompts.cells import at, held, is_empty, text_of, told, withheld_places
from rlx.formats.processors.prompts.roles import Cast
from rlx.model import Block, Messages, Note, Prompt, Row, Section, Steps, Text
from rlx.texts import say
from rlx.texts.values import facet_value

_SYSTEM = ("system_prompt", "system")


def sections(row: ShownRow, found: Cast) -> tuple[Section, ...]:
    rest = [path for path in row.value if path not in found.used]
    title = [path for path in found.title if not path.startswith(tuple(f"{task}." for task in found.task))]
    known = [
        Section("prompt", say("rows.section.prompt"), tuple(_prompt(row, found))),
        Section("grading", say("rows.section.grading"), tuple(_grading(row, found))),
        Section("environment", say("rows.section.environment"), told(row.value, found.environment)),
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
    """What is asked, as text: of a conversation, what the user says first."""
    value = task_value(row, found)[1]
    if is_conversation(value):
        said = turns(value)
        asked = [message.text for message in said if message.role == "user"] or [item.text for item in said]
        return asked[0] if asked else ""
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


def grading(hidden: Sequence[str]) -> tuple[Text, ...]:
    """How rows are graded in which answers stand at the `hidden` places."""
    return say("prompts.grading.unknown"), say("prompts.grading.withheld" if hidden else "prompts.grading.none")


def _prompt(row: ShownRow, found: Cast) -> Iterator[Block]:
    path, value = task_value(row.value, found)
    system = next((text for path in _SYSTEM if isinstance(text := row.value.get(path), str) and text.strip()), None)
    if path is None:
        yield Note(say("prompts.no_task"), "warn")
    elif is_conversation(value):
        yield Messages(turns(value))
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


def _grading(row: ShownRow, found: Cast) -> Iterator[Block]:
    yield Steps(grading(withheld_places(row)))
    yield from held(row)
    yield from told(row.value, found.grading)
