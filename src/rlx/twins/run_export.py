"""Rollouts as rows of a dataset: what was said as chat messages with tool calls, rewards, and the ATIF trajectory.

Nothing in a row is anybody's: no owner, no address of an endpoint, no path of a machine, no secret; what is withheld on
pages is withheld here. Rollouts that go on are left out.
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rlx.answers.shown import Json
from rlx.errors import NotFound
from rlx.model import Message, Viewer
from rlx.rollout import Event, Rollout
from rlx.store.rollouts.names import TRAJECTORY
from rlx.store.rollouts.public import Scrub, public, public_event
from rlx.store.rollouts.views import Views
from rlx.twins.run import lasted, masked
from rlx.twins.run_events import messages_of, solves, tools_of
from rlx.twins.run_files import trajectory_of

_LEFT_OFF: Final = frozenset({"events-cut", "events-lost"})
"""Kinds of notes by which a record says that events are missing."""
EXPORTS: Final = 1_000
"""Rollouts of one export."""
_EVENTS: Final = 21_000
"""Of one rollout: as many as the record of one may have. Where there are more, its row is not `complete`."""
_GROUP: Final = 2_000
"""Messages that are kept in memory at once, and those of one row more."""


def exported(views: Views, ids: Sequence[str], viewer: Viewer | None, form: str) -> Iterator[bytes]:
    """The file, in pieces: `jsonl` or `parquet`. Each call blocks. Raises `Upstream`, `OSError`."""
    rows = (row for id in ids if (row := export_row(views, id, viewer)) is not None)
    if form == "parquet":
        yield from _parquet(rows)
        return
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"


def export_row(views: Views, id: str, viewer: Viewer | None) -> dict[str, Json] | None:
    """One rollout as a row; None for one that goes on, or is not there any more."""
    try:
        whole = views.find(id, viewer)
        if not whole.ended:
            return None
        read = _Read(views, whole, viewer)
        messages = messages_of(read.events(), whole)
    except NotFound:
        return None
    rollout = masked(public(whole))
    trajectory = None if solves(whole) or not views.owns(whole, viewer) else _trajectory(views, whole, viewer)
    chat: list[Json] = [*chat_of(messages)]
    return {
        "id": rollout.id,
        "env": rollout.env,
        "ref": rollout.ref,
        "revision": rollout.revision,
        "title": rollout.title,
        "agent": rollout.agent,
        "model": rollout.model.id if rollout.model else None,
        "sandbox": rollout.sandbox,
        "status": rollout.status,
        "graded": rollout.graded,
        "reward": rollout.reward,
        "rewards": json.dumps(dict(rollout.rewards), ensure_ascii=False),
        "failure": rollout.failure.kind if rollout.failure else None,
        "seconds": lasted(rollout),
        "tokens_in": rollout.usage.tokens_in,
        "tokens_out": rollout.usage.tokens_out,
        "cost": rollout.cost,
        "created_at": rollout.created_at.isoformat(),
        "messages": chat,
        "tools": json.dumps(list(read.tools.values()), ensure_ascii=False) if read.tools else None,
        "complete": read.is_complete,
        "trajectory": trajectory,
    }


@dataclass(slots=True)
class _Read:
    """The events of a rollout, a few at a time, and what they say beside its messages."""

    views: Views
    rollout: Rollout
    viewer: Viewer | None
    tools: dict[str, Json] = field(default_factory=dict)
    """By name; of several of a name the newest."""
    is_complete: bool = True
    """No event was left off, in its record or here, and no text of what was said was cut."""

    def events(self) -> Iterator[Event]:
        """Raises `NotFound`."""
        last = count = 0
        while True:
            page = self.views.events(self.rollout.id, self.viewer, after=last, limit=_EVENTS - count)
            self.is_complete &= page.dropped == 0
            for event in page.events:
                last, count = event.n, count + 1
                shown = public_event(event, self.rollout)
                self._look(shown)
                yield shown
            if not page.more or not page.events or count >= _EVENTS:
                self.is_complete &= not page.more
                return

    def _look(self, event: Event) -> None:
        if event.data.get("cut") or (event.kind == "note" and event.data.get("kind") in _LEFT_OFF):
            self.is_complete = False
        if event.kind == "tools" and not solves(self.rollout):
            for tool in tools_of(event):
                self.tools[_name(tool.value)] = tool.value


def _name(tool: Json) -> str:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    return str(function.get("name")) if isinstance(function, Mapping) else json.dumps(tool)


def chat_of(messages: Sequence[Message]) -> Iterator[dict[str, Json]]:
    """Messages as chat completions has them; arguments of calls are JSON in a text. Every message has every key."""
    current: dict[str, Any] | None = None
    pending: list[dict[str, Any]] = []
    turn: int | None = None
    for message in messages:
        if message.kind == "output":
            if current is not None:
                pending.append(_said("tool", message.text, tool_call_id=message.call_id))
            else:
                yield _said("tool", message.text, tool_call_id=message.call_id)
            continue
        if current is None or message.turn != turn or message.role != "assistant":
            if current is not None:
                yield current
                yield from pending
            current, pending, turn = _said(message.role, ""), [], message.turn
        if message.kind == "reasoning":
            current["reasoning_content"] = (current["reasoning_content"] or "") + message.text
        elif message.kind == "call":
            given = json.dumps(message.data.value, ensure_ascii=False) if message.data is not None else message.text
            function = {"name": message.name or "", "arguments": given}
            current["tool_calls"].append({"id": message.call_id or "", "type": "function", "function": function})
        else:
            current["content"] = f"{current['content']}{message.text}"
    if current is not None:
        yield current
        yield from pending


def _said(role: str, content: str, *, tool_call_id: str | None = None) -> dict[str, Any]:
    return {
        "role": str(role),
        "content": content,
        "reasoning_content": None,
        "tool_calls": [],
        "tool_call_id": tool_call_id,
    }


def _trajectory(views: Views, rollout: Rollout, viewer: Viewer | None) -> str | None:
    if TRAJECTORY not in {file.name for file in views.files(rollout.id, viewer)}:
        return None
    value = trajectory_of(views.open(rollout.id, TRAJECTORY, viewer))
    return None if value is None else json.dumps(Scrub.of(rollout).value(value.value), ensure_ascii=False)


class _Piece(io.RawIOBase):
    """A file that is written from its beginning to its end, and taken away as it grows."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        found = b"".join(self._parts)
        self._parts.clear()
        return found


def _parquet(rows: Iterator[dict[str, Json]]) -> Iterator[bytes]:
    """All rows in one file, in groups of a few, each told once it is written."""
    import pyarrow as pa  # imported late: a process that exports nothing does without
    import pyarrow.parquet as pq

    text, number, whole = pa.string(), pa.float64(), pa.int64()
    function = pa.struct([("name", text), ("arguments", text)])
    call = pa.struct([("id", text), ("type", text), ("function", function)])
    message = pa.struct(
        [
            ("role", text),
            ("content", text),
            ("reasoning_content", text),
            ("tool_calls", pa.list_(call)),
            ("tool_call_id", text),
        ]
    )
    kinds = {
        "graded": pa.bool_(),
        "reward": number,
        "seconds": number,
        "tokens_in": whole,
        "tokens_out": whole,
        "cost": number,
        "messages": pa.list_(message),
        "complete": pa.bool_(),
    }
    schema = pa.schema([(name, kinds.get(name, text)) for name in COLUMNS])
    held = _Piece()
    with pq.ParquetWriter(held, schema, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            yield held.taken()
    yield held.taken()


def _groups(rows: Iterator[dict[str, Json]]) -> Iterator[list[dict[str, Json]]]:
    """At least one, which may be empty."""
    group: list[dict[str, Json]] = []
    messages = 0
    for row in rows:
        said = row["messages"]
        messages += len(said) if isinstance(said, list) else 0
        group.append(row)
        if messages > _GROUP:
            yield group
            group, messages = [], 0
    yield group


COLUMNS: Final = (
    "id",
    "env",
    "ref",
    "revision",
    "title",
    "agent",
    "model",
    "sandbox",
    "status",
    "graded",
    "reward",
    "rewards",
    "failure",
    "seconds",
    "tokens_in",
    "tokens_out",
    "cost",
    "created_at",
    "messages",
    "tools",
    "complete",
    "trajectory",
)
"""Of every row, in order."""
