"""Tools in the shapes that frameworks write them."""

import json

import pytest
from hypothesis import given, settings

from rlx.formats.conversation import tools
from rlx.formats.conversation.tooling import MAX_TOOLS
from tests.formats.conversation.test_turns import VALUES

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
CHAT = {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "weather", "description": "Of a city.", "parameters": SCHEMA, "strict": True}
MCP = {"name": "weather", "description": "Of a city.", "inputSchema": SCHEMA}


@pytest.mark.parametrize(
    "value",
    [[CHAT], [FLAT], [MCP], json.dumps([CHAT]), [json.dumps(MCP)], {"tools": [FLAT]}, {"weather": {**MCP}}, CHAT],
)
def test_a_tool_is_the_same_in_every_shape(value: object) -> None:
    (tool,) = tools(value)
    assert (tool.name, tool.description) == ("weather", "Of a city.")
    assert tool.parameters is not None
    assert tool.parameters.value == SCHEMA


def test_built_in_tools_and_names_alone_are_tools() -> None:
    assert [tool.name for tool in tools([{"type": "web_search"}, "bash"])] == ["web_search", "bash"]


def test_of_very_many_tools_the_first_are_read() -> None:
    assert len(tools(["x"] * 1000)) == MAX_TOOLS


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_anything_is_read_without_an_error(value: object) -> None:
    assert len(tools(value)) <= MAX_TOOLS
