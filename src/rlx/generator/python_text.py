"""Values and texts as Python source, formatted as ruff would."""

from collections.abc import Mapping
from typing import Any

from rlx.generator.spec import Parameter, Tool

WIDTH = 120
_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "strings": "list[str]",
    "integers": "list[int]",
}


def literal(value: Any, used: int = 0, depth: int = 0) -> str:
    """The source of a value of strings, numbers, booleans, lists and mappings.

    `used` characters of its line are taken before it; `depth` is the indentation of that line, in fours.
    """
    line = _one_line(value)
    if used + len(line) <= WIDTH - 1:
        return line
    inside = " " * 4 * (depth + 1)
    if isinstance(value, Mapping):
        items = [_item(f"{string(key)}: ", each, depth + 1) for key, each in value.items()]
    elif isinstance(value, list | tuple):
        items = [_item("", each, depth + 1) for each in value]
    else:
        return _long_string(value, depth) if isinstance(value, str) and len(value.splitlines()) > 1 else line
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    return "\n".join([opening, *(f"{inside}{item}," for item in items), " " * 4 * depth + closing])


def string(text: str) -> str:
    """A string literal with double quotes, unless that would need escapes."""
    plain = repr(text)
    if plain.startswith('"') or '"' in text:
        return plain
    return f'"{plain[1:-1]}"'


def docstring(text: str) -> str:
    """A text for the inside of a docstring of one line."""
    safe = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'{safe[:-1]}\\"' if safe.endswith('"') else safe


def annotation(parameter: Parameter) -> str:
    return _TYPES[parameter.type]


def signature(tool: Tool, depth: int, method: bool = False) -> str:
    """The parameters of a function at `depth`, each with what pydantic is told of it."""
    first = "self" if method else ""
    if not tool.parameters:
        return f"({first})"
    lines = [f"{_pad(depth + 1)}self,"] if method else []
    lines += [_parameter(parameter, depth + 1) for parameter in tool.parameters]
    return "\n".join(["(", *lines, f"{_pad(depth)})"])


def passed(tool: Tool) -> str:
    """The arguments that hand a call on: the tool's name, and each parameter by its name."""
    return ", ".join([string(tool.name), *(f"{each.name}={each.name}" for each in tool.parameters)])


def field(parameter: Parameter, depth: int) -> str:
    """A line of a pydantic model for a parameter."""
    head = f"{_pad(depth)}{parameter.name}: {annotation(parameter)} = "
    line = f"{head}Field({', '.join(_words(parameter, True))})"
    return line if len(line) <= WIDTH else f"{head}{_exploded(_words(parameter, True), depth)}"


def _parameter(parameter: Parameter, depth: int) -> str:
    """A parameter of a function. Bounds are told to the model, and left to the domain to check."""
    head, kind, words = f"{_pad(depth)}{parameter.name}: ", annotation(parameter), _words(parameter, False)
    tail = "" if parameter.required else f" = {literal(parameter.default)}"
    field = f"Field({', '.join(words)})"
    if len(line := f"{head}Annotated[{kind}, {field}]{tail},") <= WIDTH:
        return line
    if len(_pad(depth + 1)) + len(field) + 1 > WIDTH:
        field = _exploded(words, depth + 1)
    return "\n".join(
        [f"{head}Annotated[", f"{_pad(depth + 1)}{kind},", f"{_pad(depth + 1)}{field},", f"{_pad(depth)}]{tail},"]
    )


def _words(parameter: Parameter, default: bool) -> list[str]:
    extra: dict[str, Any] = {}
    if parameter.minimum is not None:
        extra["minimum"] = parameter.minimum
    if parameter.maximum is not None:
        extra["maximum"] = parameter.maximum
    if parameter.choices:
        extra["enum"] = list(parameter.choices)
    words = [f"default={literal(parameter.default)}"] if default and not parameter.required else []
    words.append(f"description={string(parameter.description)}")
    return words + ([f"json_schema_extra={_one_line(extra)}"] if extra else [])


def _exploded(words: list[str], depth: int) -> str:
    return "\n".join(["Field(", *(f"{_pad(depth + 1)}{word}," for word in words), f"{_pad(depth)})"])


def _pad(depth: int) -> str:
    return " " * 4 * depth


def _item(key: str, value: Any, depth: int) -> str:
    return key + literal(value, used=4 * depth + len(key) + 1, depth=depth)


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{string(key)}: {_one_line(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_one_line(each) for each in value) + "]"
    return repr(value)


def _long_string(text: str, depth: int) -> str:
    inside = " " * 4 * (depth + 1)
    return "\n".join(["(", *(inside + string(line) for line in text.splitlines(keepends=True)), " " * 4 * depth + ")"])
