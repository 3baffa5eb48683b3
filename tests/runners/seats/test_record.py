"""What is kept of a seat."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from rlx.runners.seats.marks import Back, Ran
from rlx.runners.seats.plain import plain
from rlx.runners.seats.record import SHOWN, TAPE, Record

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def recorded() -> tuple[Record, list[tuple[str, Any]]]:
    told: list[tuple[str, Any]] = []
    record = Record(lambda kind, data: told.append((kind, data)), lambda text: text.replace("hush", "…"), lambda: NOW)
    record.instructed("Do it.")
    return record, told


def tape(record: Record) -> list[Any]:
    return [json.loads(line) for line in record.tape().decode().splitlines()]


def test_commands_and_what_they_showed_become_events_and_a_trajectory() -> None:
    record, told = recorded()
    record.show(b"$ ")
    record.told(Ran("ls"))
    record.show(b"\x1b[34ma\x1b[0m\r\nb\r\n")
    record.told(Back(0))
    record.told(Ran("sleep 9"))
    record.finish()
    assert [kind for kind, _ in told] == ["prompt", "call", "output", "call", "output"]
    assert told[1][1] == {"id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    assert told[2][1]["text"] == "a\nb\n"
    steps = record.trajectory()
    assert [step["source"] for step in steps] == ["user", "agent", "agent"]
    assert steps[1]["observation"]["results"][0]["content"] == "a\nb\n"


def test_an_output_of_any_size_is_kept_by_its_ends_and_what_is_left_out_is_told() -> None:
    record, told = recorded()
    record.told(Ran("yes"))
    for _ in range(800):
        record.show(b"0123456789abcde\n" * 4096)
    record.show(b"the end")
    record.told(Back(0))
    output = told[-1][1]
    assert output["cut"] == 800 * 65536 + 7 - 2 * SHOWN
    assert f"[{output['cut']:,} bytes left out]" in output["text"]
    assert output["text"].endswith("the end")
    assert len(record.tape()) < TAPE + 100_000
    assert "recording is full" in tape(record)[-1][2]


def test_a_secret_on_a_line_is_hidden_however_it_came() -> None:
    record, _ = recorded()
    record.show(b"key: hu")
    record.show(b"sh\r\nrest hush")
    record.finish()
    assert [line[2] for line in tape(record)[1:]] == ["key: …\r\n", "rest …"]


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (b"10%\r20%\r100%\r\ndone", "100%\ndone"),
        (b"ab\b\bxy", "xy"),
        (b"a\x1b]0;title\x07b\x1b[?25lc", "abc"),
        (b"before\x1b[?1049hmenus\x1b[2J\x1b[?1049lafter", "before[a full-screen program]\nafter"),
        (b"\x1b[?1049hnever left", "[a full-screen program]\n"),
        ("한글 \x00\x1b".encode(), "한글 "),
    ],
)
def test_what_a_terminal_showed_is_text(shown: bytes, text: str) -> None:
    assert plain(shown) == text
