"""The request of a row: what is sent to the model, wherever the row keeps it. Takes masked values, of whatever kind."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import MARK, Json, name, prose
from rlx.formats.conversation import tools, turns
from rlx.formats.processors.prompts.cells import at, is_empty, text_of
from rlx.formats.rows.media import named_media
from rlx.model import Message, Tool
from rlx.model.blocks import Attachment

REQUEST: Final = "responses_create_params"
_ELSEWHERE: Final = (
    "problem_statement",
    f"{REQUEST}.metadata.problem_statement",
    "task_data.problem_statement",
    "prompt",
    "question",
    "problem",
    "instruction",
    "task_description",
    "task_data.prompt",
    "task_data.question",
)
"""Where the prompt is when the request has none, best first."""
_STEPS: Final = ("step_description_prompt", "prompt", "description", "question")
_PARSED: Final = 8_000_000
_KNOWN: Final = frozenset({"input", "tools", "instructions", "metadata"})
_WORDS: Final = 3
"""Words from which a message of a user says what is wanted."""


@dataclass(frozen=True, slots=True)
class Request:
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    settings: Mapping[str, Json]
    """What else the request says: sampling, limits, how tools are chosen."""
    elsewhere: str | None = None
    """The column that the prompt is taken from, where the request holds none."""
    steps: tuple[str, ...] = ()
    """Prompts that are sent one after another."""
    pointer: str | None = None
    """The column that names a task whose prompt the framework keeps."""


def params(row: Mapping[str, Json]) -> Mapping[str, Json]:
    """The request as an object; nothing where it is none."""
    value = row.get(REQUEST)
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _PARSED:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def request(row: Mapping[str, Json]) -> Request:
    told = params(row)
    settings = {
        key: value for key, value in told.items() if key not in _KNOWN and not is_empty(value) and value != MARK
    }
    instructions = told.get("instructions")
    before = turns([{"role": "system", "content": instructions}]) if _is_text(instructions) else ()
    given = tools(told.get("tools"))
    if not is_empty(told.get("input")):
        return Request((*before, *turns(told["input"]), *_media(told)), given, settings)
    column, text = elsewhere(row)
    if column is not None:
        return Request((*before, *turns(text)), given, settings, column)
    steps = tuple(_steps(row))
    return Request(before, given, settings, None, steps, None if steps else pointer(row))


def asked(row: Mapping[str, Json]) -> str:
    """What is wanted, in the words of the user: the last message that says it, else the first there is."""
    told = params(row).get("input")
    if is_empty(told):
        column, text = elsewhere(row)
        return text if column is not None else next(_steps(row), "")
    said = turns(told)
    users = [message.text for message in said if message.kind == "message" and message.role in {"user", "human"}]
    words = [text for text in users if len(text.split()) >= _WORDS] or users
    return words[-1] if words else next((message.text for message in said if message.text.strip()), "")


def elsewhere(row: Mapping[str, Json]) -> tuple[str | None, str]:
    """The column that holds the prompt of a request without one, and the prompt."""
    for path in _ELSEWHERE:
        value = at(row, path)
        if _is_text(value):
            return path, str(value)
    return None, ""


def pointer(row: Mapping[str, Json]) -> str | None:
    """A column that names the task: its only one, or one that is called so."""
    named = [key for key in ("instance_id", "task_id", "task_idx", "task_name", "id") if not is_empty(row.get(key))]
    return named[0] if named else None


def media(value: Json) -> Iterator[Attachment]:
    """Media that the metadata of a request holds, which some agents hand over."""
    for item in value.values() if isinstance(value, dict) else ():
        found = named_media(item) if isinstance(item, str) else None
        if found is not None:
            yield Attachment(name(found[0]), found[1], name(found[2]))


def _media(told: Mapping[str, Json]) -> tuple[Message, ...]:
    found = tuple(media(told.get("metadata")))
    return (Message(name("user"), prose(""), media=found),) if found else ()


def _steps(row: Mapping[str, Json]) -> Iterator[str]:
    found = row.get("sub_steps")
    for step in found if isinstance(found, Sequence) and not isinstance(found, str) else ():
        told = [step.get(key) for key in _STEPS] if isinstance(step, dict) else []
        text = next((text_of(value) for value in told if _is_text(value)), "")
        if text:
            yield text


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value != MARK
