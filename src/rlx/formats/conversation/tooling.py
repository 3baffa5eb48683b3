"""Tools that an agent is given, in the shapes their frameworks write them."""

from collections.abc import Iterator, Mapping
from typing import Final

from rlx.answers import name, prose, whole
from rlx.formats.conversation.pieces import parsed, word
from rlx.model import Tool

MAX_TOOLS: Final = 300
_MAX_TEXT: Final = 20_000
_NAME: Final = 200
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "args_schema", "schema")
_LISTS: Final = ("tools", "functions", "functionDeclarations", "function_declarations", "tool_definitions")
_DEPTH: Final = 4


def tools(value: object) -> tuple[Tool, ...]:
    """The tools of `value`, at most 300: Responses' flat ones, a chat's with `function`, MCP's, a mapping of names to
    either, names alone, or JSON text of any. `value` passed `rlx.answers`. Never raises."""
    found: list[Tool] = []
    for tool in _tools(value, 0):
        found.append(tool)
        if len(found) == MAX_TOOLS:
            break
    return tuple(found)


def _tools(value: object, depth: int) -> Iterator[Tool]:
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _tools(item, depth + 1)
    elif isinstance(value, Mapping):
        yield from _in_object(value, depth)
    elif (inner := parsed(value)) is not None:
        yield from _tools(inner, depth + 1)
    elif isinstance(value, str) and value.strip():
        yield Tool(name(value[:_NAME]))


def _in_object(value: Mapping[str, object], depth: int) -> Iterator[Tool]:
    inner = value.get("function")
    held = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if isinstance(inner, Mapping):
        yield from _in_object(inner, depth + 1) if depth < _DEPTH else ()
    elif word(value.get("name")) is not None or isinstance(value.get("type"), str):
        yield _tool(value)
    elif held is not None:
        yield from _tools(held, depth + 1)
    else:
        for key, item in value.items():
            if isinstance(item, Mapping):
                yield from _tools({"name": str(key), **item} if "function" not in item else item, depth + 1)


def _tool(value: Mapping[str, object]) -> Tool:
    label = word(value.get("name")) or word(value.get("type")) or "?"
    told = value.get("description")
    schema = next((value[key] for key in _SCHEMAS if key in value), None)
    if isinstance(schema, str):
        schema = parsed(schema)
    return Tool(
        name=name(label[:_NAME]),
        description=prose(told[:_MAX_TEXT]) if isinstance(told, str) and told.strip() else None,
        parameters=whole(schema) if isinstance(schema, Mapping) and schema else None,
    )
