"""A tool as the JSON schema that models read, and whether what a framework publishes says the same."""

from collections.abc import Mapping
from typing import Any

from rlx.generator.spec import Parameter, Tool

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
}


def parameters_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if parameter.required],
        "additionalProperties": False,
    }


def function(tool: Tool) -> dict[str, Any]:
    """A tool in the flat form of the Responses API, strict where every parameter is required."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters_schema(tool),
        "strict": all(parameter.required for parameter in tool.parameters),
    }


def differences(tool: Tool, description: str, schema: Mapping[str, Any] | None) -> list[str]:
    """How what a framework publishes of a tool differs from the specification, as sentences."""
    wanted = parameters_schema(tool)
    schema = schema or {}
    found = []
    if description.strip() != tool.description.strip():
        found.append(f"{tool.name} is described otherwise.")
    published = schema.get("properties") or {}
    if set(published) != set(wanted["properties"]):
        found.append(f"{tool.name} takes {sorted(published)} instead of {sorted(wanted['properties'])}.")
    if sorted(schema.get("required") or []) != sorted(wanted["required"]):
        found.append(f"{tool.name} requires {sorted(schema.get('required') or [])}.")
    for name in set(published) & set(wanted["properties"]):
        for key, value in wanted["properties"][name].items():
            if published[name].get(key) != value:
                found.append(f"{tool.name}.{name} has {key} {published[name].get(key)!r} instead of {value!r}.")
    return found


def _property(parameter: Parameter) -> dict[str, Any]:
    schema = {**_TYPES[parameter.type], "description": parameter.description}
    if parameter.minimum is not None:
        schema["minimum"] = parameter.minimum
    if parameter.maximum is not None:
        schema["maximum"] = parameter.maximum
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema
