"""The file of events: one writer, any number of readers, and whatever a crash leaves of it."""

import errno
import json
import os
import resource
import signal
import tempfile
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.store.rollouts.bounds import Bounds, bounded, dumped
from rlx.store.rollouts.events import WINDOW, EventLog, last_number, read_events
from tests.store.rollouts.scene import Clock

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=40)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


def log_at(path: Path, bounds: Bounds | None = None) -> EventLog:
    return EventLog(path, clock=Clock(), bounds=bounds)


def written(path: Path, count: int, *, size: int = 10) -> None:
    log = log_at(path)
    for number in range(count):
        log.append("log", {"text": f"{number}" + "x" * size})
    log.close()


def numbers(path: Path, after: int = 0, limit: int = 100_000) -> list[int]:
    found: list[int] = []
    while page := read_events(path, after=after, limit=limit).events:
        found += [event.n for event in page]
        after = found[-1]
    return found


def test_events_are_numbered_from_one_and_read_as_they_were_written(tmp_path: Path) -> None:
    log = log_at(tmp_path / "e")
    log.append("status", {"status": "queued"})
    log.append("message", {"text": "zwei\nZeilen\u2028und 漢字"})
    page = read_events(tmp_path / "e")
    assert [(event.n, event.kind, event.data) for event in page.events] == [
        (1, "status", {"status": "queued"}),
        (2, "message", {"text": "zwei\nZeilen\u2028und 漢字"}),
    ]
    assert (page.dropped, page.torn, page.more) == (0, False, False)
    log.close()


def test_a_rollout_without_events_has_none(tmp_path: Path) -> None:
    assert read_events(tmp_path / "none").events == ()


def test_a_page_goes_on_after_any_event_and_says_when_there_are_more(tmp_path: Path) -> None:
    written(tmp_path / "e", 10)
    page = read_events(tmp_path / "e", after=3, limit=4)
    assert [event.n for event in page.events] == [4, 5, 6, 7]
    assert page.more
    assert not read_events(tmp_path / "e", after=7).more
    assert read_events(tmp_path / "e", after=10).events == ()
    assert read_events(tmp_path / "e", after=99).events == ()


@pytest.mark.parametrize("after", [0, 1, 2, 499, 500, 1500, 2999, 3000, 3001])
def test_any_place_in_a_large_file_is_found(tmp_path: Path, after: int) -> None:
    written(tmp_path / "e", 3000, size=900)
    assert (tmp_path / "e").stat().st_size > 8 * WINDOW
    assert numbers(tmp_path / "e", after) == list(range(after + 1, 3001))


def test_the_end_of_a_large_file_is_found_without_reading_it_all(tmp_path: Path) -> None:
    written(tmp_path / "e", 12_000, size=900)
    opened = (tmp_path / "e").open("rb", buffering=0)
    size = os.fstat(opened.fileno()).st_size
    opened.close()
    before = _bytes_read()
    assert [event.n for event in read_events(tmp_path / "e", after=11_998).events] == [11_999, 12_000]
    assert _bytes_read() - before < size / 10


def _bytes_read() -> int:
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("rchar:"):
            return int(line.split()[1])
    raise AssertionError("no rchar")


@given(cut=st.integers(1, 60))
def test_half_a_line_at_the_end_is_not_read_and_the_next_writer_goes_on_after_the_last_whole_one(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e"
        written(path, 3, size=60)
        os.truncate(path, path.stat().st_size - cut)
        page = read_events(path)
        assert [event.n for event in page.events] == [1, 2]
        assert page.torn
        log = log_at(path)
        assert log.last == 2
        event = log.append("log", {"text": "again"})
        log.close()
        assert event is not None
        assert event.n == 3
        assert numbers(path) == [1, 2, 3]
        assert not read_events(path).torn


@given(place=st.integers(0, 10**6), length=st.integers(1, 300))
def test_damage_in_the_middle_costs_the_lines_it_hits_and_no_others(place: int, length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e"
        written(path, 50, size=20)
        lines = path.read_bytes().splitlines(keepends=True)
        data = bytearray(b"".join(lines))
        start = place % len(data)
        end = min(start + length, len(data))
        data[start:end] = b"\0" * (end - start)  # as a power failure leaves blocks that were never written
        path.write_bytes(data)
        ends = [sum(map(len, lines[: number + 1])) for number in range(50)]
        hit = {n + 1 for n, line in enumerate(lines) if ends[n] > start and ends[n] - len(line) < end}
        joined = {n + 1 for n in hit if start < ends[n - 1] <= end}  # its end is gone, so it runs into the next
        assert set(range(1, 51)) - hit - joined == set(numbers(path))


def test_a_line_longer_than_any_of_ours_is_left_off_and_counted(tmp_path: Path) -> None:
    written(tmp_path / "e", 2)
    with (tmp_path / "e").open("ab") as file:
        file.write(b'{"n":3,' + b"x" * 3 * WINDOW + b"\n")
        file.write(b'{"n":4,"at":"2026-11-30T12:00:00Z","kind":"log","data":{}}\n')
    page = read_events(tmp_path / "e")
    assert [event.n for event in page.events] == [1, 2, 4]
    assert page.dropped == 1
    assert log_at(tmp_path / "e").last == 4


@given(data=st.dictionaries(st.text(max_size=8), JSON, max_size=6), size=st.integers(64, 2000))
def test_whatever_comes_in_becomes_json_of_a_bounded_size(data: dict[str, Any], size: int) -> None:
    kept, _ = bounded(data, size)
    assert len(dumped(kept)) <= max(size, 40)
    json.loads(dumped(kept))


def test_what_fits_is_kept_as_it_is() -> None:
    data = {"text": "all of it", "items": [{"path": "a", "size": 3}], "ok": True, "seconds": 0.5, "error": None}
    assert bounded(data, 1000) == (data, 0)


@pytest.mark.parametrize(
    "hostile",
    [
        {"text": "\ud800 half a pair"},
        {"number": float("nan"), "other": float("inf")},
        {"deep": reduce(lambda inner, _: [inner], range(5000), list[object]())},
        {"many": [0] * 100_000},
        {"large": 10**5000},
        {"bytes": b"\xff"},
        {"k" * 10_000: 1},
    ],
)
def test_hostile_data_is_an_event_like_any_other(tmp_path: Path, hostile: dict[str, Any]) -> None:
    log = log_at(tmp_path / "e")
    assert log.append("log", hostile) is not None
    log.close()
    assert numbers(tmp_path / "e") == [1]
    assert (tmp_path / "e").stat().st_size < Bounds().event_bytes * 1.2


def test_a_long_text_is_cut_and_says_how_much_is_missing(tmp_path: Path) -> None:
    log = log_at(tmp_path / "e", Bounds(event_bytes=1000))
    event = log.append("output", {"id": "1", "text": "x" * 5000})
    log.close()
    assert event is not None
    assert len(event.data["text"]) + event.data["cut"] == 5001  # with the mark of the cut
    assert read_events(tmp_path / "e").events[0].data == event.data


@pytest.mark.parametrize("bounds", [Bounds(events=5, reserve=3), Bounds(log_bytes=500, reserve=3)])
def test_past_its_bounds_a_log_keeps_states_and_says_once_that_the_rest_is_missing(
    tmp_path: Path, bounds: Bounds
) -> None:
    log = log_at(tmp_path / "e", bounds)
    for number in range(40):
        log.append("log", {"text": f"line {number}"})
    assert log.append("log", {"text": "late"}) is None
    assert log.append("status", {"status": "done"}) is not None
    log.close()
    again = log_at(tmp_path / "e", bounds)
    assert again.append("log", {"text": "later"}) is None
    for _ in range(5000):
        again.append("status", {"status": "done"})
    again.close()
    events = read_events(tmp_path / "e", limit=9999).events
    assert [event.data["kind"] for event in events if event.kind == "note"] == ["events-cut"]
    assert sum(event.kind == "status" for event in events) >= 1
    assert (tmp_path / "e").stat().st_size < 500 + 3 * 1024 + 200


def test_a_writer_that_was_replaced_writes_where_nobody_reads(tmp_path: Path) -> None:
    first = log_at(tmp_path / "e")
    first.append("log", {"text": "one"})
    second = log_at(tmp_path / "e")
    first.append("log", {"text": "of a worker that does not know"})
    second.append("log", {"text": "two"})
    first.close()
    second.close()
    assert [event.data["text"] for event in read_events(tmp_path / "e").events] == ["one", "two"]


def test_a_full_disk_costs_events_and_nothing_else_and_is_told_once_there_is_room(tmp_path: Path) -> None:
    log = log_at(tmp_path / "e")
    log.append("log", {"text": "before"})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "e").stat().st_size + 30, limits[1]))
    try:
        assert log.append("log", {"text": "y" * 100}) is None
        assert log.append("status", {"status": "running"}) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    log.append("log", {"text": "after"})
    log.close()
    page = read_events(tmp_path / "e")
    assert [event.data.get("text") for event in page.events] == ["before", "2 events could not be written.", "after"]
    assert [event.n for event in page.events] == [1, 2, 3]
    assert (page.dropped, page.torn) == (0, False)


def test_a_folder_that_is_no_place_for_a_log_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    with pytest.raises(OSError, match=os.strerror(errno.EISDIR)):
        log_at(tmp_path / "e")


def test_the_newest_number_is_found_at_the_end_whatever_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "events"
    assert last_number(path) == 0
    path.write_bytes(b'{"n":1,"at":"2026-01-01T00:00:00Z","kind":"note","data":{}}\n')
    assert last_number(path) == 1
    with path.open("ab") as file:
        file.write(b'{"n":2,"at":"2026-01-01T00:00:00Z","kind":"note","data":{}}\n' + b"\0" * (WINDOW + 7) + b"\n")
        file.write(b'{"n":3,"half')
    assert last_number(path) == 2
