"""Conversations in every shape that rows write them in."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.answers import MARK
from rlx.formats.conversation import is_conversation, turns
from rlx.formats.conversation.bounds import TEXT, TURNS
from rlx.formats.rows.media import Numbered
from rlx.model import Message


def told(value: object) -> list[tuple[str, str, str]]:
    return [(item.role, item.kind, item.text) for item in turns(value)]


CHAT: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather in Oslo"}, {"type": "text", "text": "and Rome?"}]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Two cities.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}},
            {"id": "b", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "20 degrees"},
    {"role": "tool", "tool_call_id": "a", "content": "4 degrees", "is_error": True},
    {"role": "assistant", "content": "4 and 20 degrees.", "usage": {"completion_tokens": 7}},
]


def test_outputs_follow_their_calls_and_calls_of_one_turn_stay_together() -> None:
    found = turns(CHAT)
    assert [(item.kind, item.turn) for item in found] == [
        ("message", 0),
        ("message", 1),
        ("reasoning", 2),
        ("call", 2),
        ("output", 2),
        ("call", 2),
        ("output", 2),
        ("message", 5),
    ]
    oslo, cold, rome, warm = found[3:7]
    assert oslo.data is not None
    assert oslo.data.value == {"city": "Oslo"}
    assert rome.data is not None
    assert rome.data.value == {"city": "Rome"}
    assert (cold.text, cold.call_id, cold.name, cold.error) == ("4 degrees", "a", "weather", True)
    assert (warm.text, warm.call_id, warm.error) == ("20 degrees", "b", False)
    assert found[1].text == "Weather in Oslo\nand Rome?"
    assert found[-1].tokens == 7


def test_calls_written_as_json_strings_are_calls() -> None:
    chat = [{"role": "assistant", "content": "", "tool_calls": [json.dumps(CHAT[2]["tool_calls"][0]), "run it"]}]
    first, second = turns(chat)
    assert (first.kind, first.name, first.call_id) == ("call", "weather", "a")
    assert (second.kind, second.text) == ("call", "run it")
    assert told([{"role": "assistant", "tool_calls": json.dumps(CHAT[2]["tool_calls"])}])[0][1] == "call"


def test_items_of_responses_that_a_model_wrote_in_a_row_are_one_turn() -> None:
    items = [
        {"role": "developer", "content": "Use tools."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        {
            "type": "reasoning",
            "id": "r",
            "summary": [{"type": "summary_text", "text": "Think."}],
            "encrypted_content": "x",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c", "name": "ls", "arguments": '{"path": "."}'},
        {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "c", "output": "a.txt"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": "done"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    found = turns(items)
    assert [(item.kind, item.text) for item in found] == [
        ("message", "Use tools."),
        ("message", "Go"),
        ("reasoning", "Think."),
        ("message", "I look."),
        ("call", ""),
        ("output", "a.txt"),
        ("call", "*** Begin"),
        ("output", "done"),
        ("message", "Done."),
    ]
    assert len({item.turn for item in found[2:8]}) == 1
    assert found[8].turn != found[2].turn
    assert is_conversation(items)


def test_a_call_that_holds_its_own_output_is_a_call_and_an_output() -> None:
    item = {"type": "mcp_call", "id": "m", "name": "find", "arguments": "{}", "output": None, "error": "no such tool"}
    call, output = turns([item])
    assert (call.name, output.text, output.error) == ("find", "no such tool", True)
    assert turns([{"type": "web_search_call", "id": "w", "action": {"query": "x"}}])[0].name == "web_search"


def test_sharegpt_roles_are_roles_and_calls() -> None:
    talk = [
        {"from": "human", "value": "Hi"},
        {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
        {"from": "observation", "value": "2"},
        {"from": "gpt", "value": "<think>\nOne more.\n</think>\n\nThree."},
    ]
    assert told(talk) == [
        ("user", "message", "Hi"),
        ("assistant", "call", ""),
        ("tool", "output", "2"),
        ("assistant", "reasoning", "One more."),
        ("assistant", "message", "Three."),
    ]


def test_content_blocks_are_thoughts_calls_and_results() -> None:
    talk = [
        {"role": "user", "content": "Look"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "no file"}],
                    "is_error": True,
                },
                {"type": "text", "text": "Go on."},
            ],
        },
    ]
    found = turns(talk)
    assert [(item.role, item.kind) for item in found] == [
        ("user", "message"),
        ("assistant", "reasoning"),
        ("assistant", "message"),
        ("assistant", "call"),
        ("tool", "output"),
        ("user", "message"),
    ]
    assert found[4].error
    assert found[4].name == "read"


def test_outputs_without_an_id_answer_the_next_call() -> None:
    talk = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}],
        },
        {"role": "tool", "name": "g", "content": "of g"},
        {"role": "tool", "content": "of f"},
    ]
    assert [(item.name, item.text) for item in turns(talk) if item.kind == "output"] == [("f", "of f"), ("g", "of g")]


def test_an_output_of_no_call_stays_where_it_is() -> None:
    talk = [
        {"role": "user", "content": "a"},
        {"role": "tool", "tool_call_id": "?", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    assert [item.text for item in turns(talk)] == ["a", "b", "c"]


def test_a_text_is_a_message_of_a_user() -> None:
    assert told("How many?") == [("user", "message", "How many?")]
    assert not is_conversation("How many?")
    assert told(None) == []


def test_messages_are_found_under_their_usual_names_in_json_text_and_side_by_side() -> None:
    talk = [{"role": "user", "content": "Hi"}]
    assert (
        told({"messages": talk})
        == told(json.dumps(talk))
        == told({"role": ["user"], "content": ["Hi"]})
        == told([talk])
    )
    assert told({"input": "Hi", "instructions": "Briefly."})[0] == ("system", "message", "Briefly.")
    several = turns({"writer": talk, "critic": talk})
    assert [(item.note, item.turn) for item in several] == [("writer", 0), ("critic", 1)]


def test_media_are_files_of_the_row_and_text_after_them_is_a_part_of_its_own() -> None:
    picture = "data:image/png;base64," + "iVBORw0KGgo" + "A" * 400
    talk = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Is"},
                {"type": "image_url", "image_url": {"url": picture}},
                {"type": "text", "text": "bigger than"},
                {"type": "input_image", "image_url": picture},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            ],
        }
    ]
    first, second, third = turns(Numbered().named(talk))
    assert (first.text, first.media[0].kind, first.media[0].path) == ("Is", "image/png", "media/0.png")
    assert (second.text, second.media[0].path) == ("bigger than", "media/1.png")
    assert third.text == "‹image_url: https://example.com/a.png›"


def test_what_is_withheld_stays_withheld() -> None:
    assert told([{"role": "assistant", "content": MARK}]) == [("assistant", "message", MARK)]


def test_long_conversations_tell_how_much_is_left_out() -> None:
    found = turns([{"role": "user", "content": str(at)} for at in range(TURNS + 50)])
    gaps = [item for item in found if item.kind == "gap"]
    assert len({item.turn for item in found if item.kind != "gap"}) == TURNS
    assert [item.cut for item in gaps] == [50]
    assert found[-1].text == str(TURNS + 49)
    (long,) = turns("x" * (TEXT + 7))
    assert (len(long.text), long.cut) == (TEXT, 7)


WORDS = (
    st.sampled_from(("role", "from", "content", "value", "text", "type", "name", "arguments", "function", "messages"))
    | st.sampled_from(("message", "reasoning", "function_call", "tool_calls", "function_call_output", "call_id", "id"))
    | st.sampled_from(("input", "output", "user", "tool", "assistant", "system", "human", "gpt", "tool_use", "usage"))
    | st.sampled_from(("tool_result", "thinking", "image_url", "summary", "status", "error", "success", "metrics"))
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8) | WORDS | st.just("[{"),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=6)
        | inner.map(json.dumps)
    ),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_anything_is_read_without_an_error_and_in_order(value: object) -> None:
    found = turns(value)
    assert all(isinstance(item, Message) for item in found)
    ordered = [item.turn for item in found if item.kind != "output"]
    assert ordered == sorted(ordered)
    assert is_conversation(value) in {True, False}
