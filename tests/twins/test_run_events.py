"""What of a rollout's events is shown: whatever is recorded becomes JSON and messages, or is left out."""

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK
from rlx.rollout import Event, EventKind, Rollout, new_id
from rlx.twins.run_events import check_name, event_json, messages_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)
KEYS = ("text", "role", "id", "name", "arguments", "items", "passed", "failed", "tokens_in", "cost", "cut", "source")
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner)
)
DATA = st.dictionaries(st.sampled_from(KEYS), ANYTHING)
KINDS: tuple[EventKind, ...] = get_args(EventKind)


def rollout(agent: str = "simple") -> Rollout:
    plain: dict[str, Any] = {"env": "acme/tools", "ref": "a", "revision": "", "title": "", "runner": "harbor"}
    moments = {"created_at": NOW, "updated_at": NOW}
    return Rollout.model_validate({"id": new_id(), "sandbox": None, "agent": agent, **plain, **moments})


@given(st.lists(st.tuples(st.sampled_from(KINDS), DATA), max_size=12))
def test_whatever_was_recorded_is_shown_as_json_and_turns(happened: list[tuple[EventKind, dict[str, Any]]]) -> None:
    events = [Event(n=n, at=NOW, kind=kind, data=data) for n, (kind, data) in enumerate(happened, 1)]
    for event in events:
        told = event_json(event, rollout())
        assert told is not None
        assert (told["n"], told["kind"]) == (event.n, event.kind)
        json.dumps(told)
    messages = messages_of(events, rollout())
    assert len(messages) == sum(kind in {"prompt", "thinking", "message", "call", "output"} for kind, _ in happened)
    assert [
        event_json(event, rollout("oracle")) for event in events if event.kind not in {"status", "stage", "usage"}
    ] == [None for event in events if event.kind not in {"status", "stage", "usage"}]
    assert messages_of(events, rollout("oracle")) == ()


def test_outputs_stand_behind_their_calls_whatever_came_between() -> None:
    happened: list[tuple[EventKind, dict[str, Any]]] = [
        ("call", {"id": "a", "name": "one", "arguments": {}}),
        ("call", {"id": "b", "name": "two", "arguments": "not json"}),
        ("output", {"id": "a", "text": "first"}),
        ("output", {"id": "c", "text": "of nothing"}),
        ("output", {"id": "b", "text": "second"}),
    ]
    events = [Event(n=n, at=NOW, kind=kind, data=data) for n, (kind, data) in enumerate(happened, 1)]
    told = [(message.kind, message.name, message.text) for message in messages_of(events, rollout())]
    assert told == [
        ("call", "one", ""),
        ("output", "one", "first"),
        ("call", "two", "not json"),
        ("output", "two", "second"),
        ("output", None, "of nothing"),
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("test_a", "test_a"), ("test_a[42-x]", f"test_a[{MARK}]"), ("test_a[[1]\n]::b", f"test_a[{MARK}]::b")],
)
def test_a_test_is_named_without_what_it_expects(name: str, shown: str) -> None:
    assert check_name(name) == shown
