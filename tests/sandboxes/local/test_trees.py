"""What a sandbox sends is written inside of the chosen folder, whatever the stream says."""

import io
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.local.inside import trees

NAMES = st.sampled_from(
    ["a", "b", "..", ".", "", "/", "a/b", "a/../b", "a/b/c", "/etc/passwd", "x\0y", "\udcff", "\ud800", "가"]
)
TARGETS = st.sampled_from(
    ["a", "..", "../..", "../outside", "/", "/etc", "a/../..", "a/..", "b/..", "a/b/../c", "b/c", ".", ""]
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"p": NAMES, "k": st.sampled_from("fdlx"), "m": st.one_of(st.integers(-1, 0o177777), st.none())},
        optional={"t": TARGETS, "end": st.just(True)},
    ),
    max_size=8,
)


def stream(records: list[dict[str, Any]], data: bytes = b"data") -> io.BytesIO:
    out = io.BytesIO()
    for record in records:
        out.write(json.dumps(record).encode() + b"\n")
        if record.get("k") == "f" and not record.get("end"):
            out.write(len(data).to_bytes(4, "big") + data + bytes(4))
    out.write(b'{"end": true}\n')
    out.seek(0)
    return out


def outside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leads_inside(link: Path, folder: Path) -> bool:
    """As the kernel follows it, through whatever links are on the way."""
    try:
        return link.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # it leads in a circle
        return True


def test_a_link_over_another_link_does_not_lead_out(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"p": "sub", "k": "d", "m": 0o755},
        {"p": "sub/top", "k": "l", "t": ".."},
        {"p": "out", "k": "l", "t": "sub/top/.."},
        {"p": "again", "k": "l", "t": "sub/top/sub"},
    ]
    found = trees.receive(stream(records), str(tmp_path / "in"), inward=True)
    assert (outside(tmp_path / "in"), found.skipped) == (["again", "sub"], 1)


@given(RECORDS, RECORDS)
def test_no_stream_writes_outside_of_its_folder(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "outside").write_text("untouched")
        for records in (first, second):  # the second meets the links of the first
            try:
                trees.receive(stream(records), str(top / "in" / "target"), inward=True, plain=True)
            except (trees.TreeError, OSError):
                continue
        assert outside(top) in (["in", "outside"], ["outside"])
        assert (top / "outside").read_text() == "untouched"
        if (top / "in").exists():
            assert outside(top / "in") in (["target"], [])
        for path in top.rglob("*"):
            if path.is_symlink():
                assert leads_inside(path, top / "in" / "target")


@given(st.binary(max_size=300))
def test_no_bytes_do_anything_but_be_refused_or_received(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        with suppress(trees.TreeError, OSError):
            trees.receive(io.BytesIO(data), str(Path(name) / "target"), inward=True, plain=True)
        assert outside(Path(name)) in (["target"], [])


def test_past_a_limit_nothing_more_is_written(tmp_path: Path) -> None:
    records = [{"p": f"f{number}", "k": "f", "m": 0o644} for number in range(10)]
    with pytest.raises(trees.TreeError, match="more than 2,500 bytes"):
        trees.receive(stream(records, b"x" * 1000), str(tmp_path / "in"), limit=2500)
    assert sum(path.stat().st_size for path in (tmp_path / "in").iterdir()) <= 2500


def test_set_id_bits_are_not_received(tmp_path: Path) -> None:
    trees.receive(stream([{"p": "", "k": "f", "m": 0o6755}]), str(tmp_path / "file"), plain=True)
    assert (tmp_path / "file").stat().st_mode & 0o7777 == 0o755


def test_a_stream_that_ends_too_soon_is_refused(tmp_path: Path) -> None:
    whole = stream([{"p": "a", "k": "f", "m": 0o644}]).getvalue()
    for size in range(len(whole) - 1):
        with pytest.raises(trees.TreeError):
            trees.receive(io.BytesIO(whole[:size]), str(tmp_path / "in"))


def test_pipes_are_left_out_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    os.mkfifo(source / "pipe")
    (source / "file").write_text("text")
    out = io.BytesIO()
    trees.send(str(source), out)
    out.seek(0)
    found = trees.receive(out, str(tmp_path / "target"))
    assert (found.skipped, outside(tmp_path / "target")) == (1, ["file"])
