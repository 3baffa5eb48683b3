"""The folder of a rollout: written whole, mirrored to the store, and closed to whatever a sandbox calls its files."""

import errno
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput, NotFound, TooLarge
from rlx.rollout import Rollout, new_id
from rlx.store.rollouts.bounds import Bounds
from rlx.store.rollouts.files import KEEP_LIVE, MIRRORED, RolloutFiles
from rlx.store.rollouts.names import check_id, file_name, shown_name
from rlx.store.rollouts.states import WrongState
from rlx.store.storage import DirectoryStorage, check_name
from tests.store.rollouts.scene import Clock, record


class Trouble(DirectoryStorage):
    """A store that is full when told so."""

    full = False

    def write(self, name: str, data: bytes) -> None:
        self._check()
        super().write(name, data)

    def put(self, name: str, source: Path) -> None:
        self._check()
        super().put(name, source)

    def _check(self) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Trouble:
    return Trouble(tmp_path / "store")


@pytest.fixture
def files(tmp_path: Path, store: Trouble, clock: Clock) -> RolloutFiles:
    return RolloutFiles(tmp_path / "one" / "live", store, clock=clock)


@pytest.fixture
def elsewhere(tmp_path: Path, store: Trouble, clock: Clock) -> RolloutFiles:
    """Another machine over the same store."""
    return RolloutFiles(tmp_path / "two" / "live", store, clock=clock)


def ended(rollout: Rollout, clock: Clock, status: str = "done") -> Rollout:
    return Rollout.model_validate({**rollout.model_dump(), "status": status, "updated_at": clock()})


def test_a_record_is_read_back_as_it_was_written(files: RolloutFiles, clock: Clock) -> None:
    rollout = record(clock, fields={"steps": 3, "note": None}, rewards={"a": 0.5}, notes=("one",))
    files.write(rollout)
    assert files.read(rollout.id) == rollout
    assert files.live_ids() == [rollout.id]
    with pytest.raises(NotFound):
        files.read(new_id())


def test_an_end_is_the_end(files: RolloutFiles, clock: Clock) -> None:
    rollout = record(clock)
    files.write(rollout)
    files.write(ended(rollout, clock, "failed"))
    for status in ("queued", "running", "done"):
        with pytest.raises(WrongState):
            files.write(ended(rollout, clock, status))
    assert files.read(rollout.id).status == "failed"


def test_what_has_ended_can_still_be_shown_to_others_or_not(files: RolloutFiles, clock: Clock) -> None:
    rollout = ended(record(clock), clock)
    files.write(rollout)
    files.write(rollout.model_copy(update={"visibility": "public", "updated_at": clock()}))
    assert files.read(rollout.id).visibility == "public"


def test_a_record_past_its_size_is_refused_and_the_last_one_stays(files: RolloutFiles, clock: Clock) -> None:
    rollout = record(clock)
    files.write(rollout)
    with pytest.raises(TooLarge):
        files.write(rollout.model_copy(update={"notes": ("x" * 300_000,)}))
    assert files.read(rollout.id) == rollout


def test_a_damaged_record_is_none_and_the_stores_is_used(files: RolloutFiles, clock: Clock, tmp_path: Path) -> None:
    rollout = ended(record(clock), clock)
    files.write(rollout)
    files.mirror(rollout.id)
    path = tmp_path / "one/live" / rollout.id / "rollout.json"
    for damage in (b"", b"{", b"\0" * 500, path.read_bytes()[:-9], path.read_bytes().replace(b'"queued"', b"3")):
        path.write_bytes(damage)
        assert files.read(rollout.id) == rollout


def test_a_record_that_names_another_rollout_is_not_taken_for_it(
    files: RolloutFiles, clock: Clock, tmp_path: Path
) -> None:
    rollout = record(clock)
    files.write(rollout)
    other = new_id()
    (tmp_path / "one/live" / rollout.id).rename(tmp_path / "one/live" / other)
    with pytest.raises(NotFound):
        files.read(other)


@pytest.mark.parametrize(
    "id", ["", "..", "../../etc", "a" * 16 + "\n", "A" * 16, "i" * 16, "a" * 17, "a/b" + "c" * 13, "\0" * 16]
)
def test_what_is_no_id_is_refused_wherever_it_is_given(files: RolloutFiles, id: str) -> None:
    for ask in (
        files.read,
        files.live,
        files.stored,
        files.log,
        files.events,
        files.listing,
        files.mirror,
        files.delete,
    ):
        with pytest.raises(BadInput):
            ask(id)
    with pytest.raises(BadInput):
        check_id(id)


@pytest.mark.parametrize(
    "path",
    ["", "rollout.json", "events.jsonl", "x/y", "artifacts", "artifacts/", "artifacts/..", "artifacts/../rollout.json",
     "artifacts/a/../../b", "artifacts/./a", "artifacts//a", "/artifacts/a", "artifacts/" + "x" * 300, "verifier/a/",
     "artifacts/\ud800"],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_refused(files: RolloutFiles, clock: Clock, path: str, tmp_path: Path) -> None:
    rollout = record(clock)
    files.write(rollout)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInput):
        files.put(rollout.id, path, b"data")
    assert sorted(tmp_path.rglob("*")) == before


@given(path=st.text(min_size=1, max_size=60))
def test_any_path_becomes_a_plain_name_of_its_own_or_is_refused(path: str) -> None:
    try:
        name = file_name(f"artifacts/{path}")
    except BadInput:
        assert any(part in {"", ".", ".."} for part in path.split("/")) or len(path.encode()) * 3 > 240
        return
    assert check_name(name) == name
    assert name.count("/") == 1
    assert not name.split("/")[1].startswith(".")
    assert shown_name(name) == f"artifacts/{path}"


def test_files_are_kept_listed_and_read_back_by_the_names_they_had(
    files: RolloutFiles, clock: Clock, tmp_path: Path
) -> None:
    rollout = record(clock)
    files.write(rollout)
    made = tmp_path / "made"
    made.write_bytes(b"\0binary\xff")
    files.put(rollout.id, "trajectory.json", b"{}")
    files.put(rollout.id, "verifier/stdout.txt", b"ok")
    name = files.put(rollout.id, "artifacts/sub dir/größe?.bin", made)
    assert [(file.path, file.size) for file in files.listing(rollout.id)] == [
        ("artifacts/sub dir/größe?.bin", 8),
        ("trajectory.json", 2),
        ("verifier/stdout.txt", 2),
    ]
    assert name is not None
    assert files.open(rollout.id, name).read_bytes() == b"\0binary\xff"
    for hidden in (
        "rollout.json",
        "artifacts/../rollout.json",
        "artifacts/none",
        ".mirrored",
        "artifacts/",
        "verifier",
    ):
        with pytest.raises(NotFound):
            files.open(rollout.id, hidden)


def test_links_pipes_and_folders_are_not_followed(files: RolloutFiles, clock: Clock, tmp_path: Path) -> None:
    rollout = record(clock)
    files.write(rollout)
    (tmp_path / "secret").write_text("host file")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "none", "."):
        assert files.put(rollout.id, "artifacts/a", tmp_path / name) is None
    assert files.listing(rollout.id) == []


def test_what_is_past_the_bounds_is_not_kept(tmp_path: Path, store: Trouble, clock: Clock) -> None:
    bounds = Bounds(files=3, file_bytes=10, files_bytes=18, trajectory_bytes=5)
    files = RolloutFiles(tmp_path / "live", store, clock=clock, bounds=bounds)
    rollout = record(clock)
    files.write(rollout)
    large = tmp_path / "large"
    large.write_bytes(b"x" * 11)
    assert files.put(rollout.id, "artifacts/large", large) is None
    assert files.put(rollout.id, "artifacts/large", b"x" * 11) is None
    assert files.put(rollout.id, "trajectory.json", b"x" * 6) is None
    assert files.put(rollout.id, "artifacts/a", b"x" * 10)
    assert files.put(rollout.id, "artifacts/b", b"x" * 9) is None
    assert files.put(rollout.id, "artifacts/b", b"x" * 8)
    assert files.put(rollout.id, "artifacts/a", b"x" * 9)
    assert files.put(rollout.id, "verifier/c", b"")
    assert files.put(rollout.id, "verifier/d", b"") is None
    assert files.put(rollout.id, "verifier/d", large) is None
    assert sum(file.size for file in files.listing(rollout.id)) <= 18


def test_another_machine_sees_all_of_it_once_it_is_mirrored(
    files: RolloutFiles, elsewhere: RolloutFiles, clock: Clock
) -> None:
    rollout = record(clock)
    files.write(rollout)
    log = files.log(rollout.id)
    log.append("log", {"text": "one"})
    files.put(rollout.id, "artifacts/a b", b"data")
    assert files.mirror(rollout.id)
    assert elsewhere.read(rollout.id) == rollout
    assert [event.data["text"] for event in elsewhere.events(rollout.id).events] == ["one"]
    log.append("log", {"text": "two"})
    assert files.mirror(rollout.id)
    assert [event.n for event in elsewhere.events(rollout.id, after=1).events] == [2]
    [file] = elsewhere.listing(rollout.id)
    assert (file.path, elsewhere.open(rollout.id, file.name).read_bytes()) == ("artifacts/a b", b"data")
    assert elsewhere.ids() == [rollout.id]
    assert elsewhere.live_ids() == []
    log.close()


def test_only_what_changed_is_copied_and_the_record_comes_last(tmp_path: Path, clock: Clock) -> None:
    done: list[str] = []

    class Noting(DirectoryStorage):
        def put(self, name: str, source: Path) -> None:
            done.append(name.partition("/")[2].partition("/")[2])
            super().put(name, source)

        def write(self, name: str, data: bytes) -> None:
            done.append(name.partition("/")[2].partition("/")[2])
            super().write(name, data)

    files = RolloutFiles(tmp_path / "live", Noting(tmp_path / "store"), clock=clock)
    rollout = record(clock)
    files.write(rollout)
    files.log(rollout.id).close()
    files.put(rollout.id, "verifier/a", b"1")
    files.mirror(rollout.id)
    assert sorted(done[:-1]) == ["events.jsonl", "verifier/a"]
    assert done[-1] == "rollout.json"
    done.clear()
    files.write(rollout.model_copy(update={"updated_at": clock()}))
    files.put(rollout.id, "verifier/b", b"2")
    files.mirror(rollout.id)
    assert done == ["verifier/b", "rollout.json"]


def test_an_older_record_never_takes_the_place_of_a_later_one_in_the_store(
    files: RolloutFiles, elsewhere: RolloutFiles, clock: Clock
) -> None:
    rollout = record(clock)
    files.write(rollout)
    files.mirror(rollout.id)
    elsewhere.adopt(rollout.id)
    elsewhere.write(ended(rollout, clock, "interrupted"))
    elsewhere.mirror(rollout.id)
    files.write(rollout.model_copy(update={"status": "starting", "updated_at": clock()}))
    assert not files.mirror(rollout.id)
    assert files.read(rollout.id).status == elsewhere.read(rollout.id).status == "interrupted"


def test_a_machine_that_goes_on_with_a_rollout_has_its_events_and_files(
    files: RolloutFiles, elsewhere: RolloutFiles, clock: Clock
) -> None:
    rollout = record(clock)
    files.write(rollout)
    log = files.log(rollout.id)
    log.append("log", {"text": "one"})
    log.close()
    files.put(rollout.id, "verifier/a", b"1")
    files.mirror(rollout.id)
    elsewhere.adopt(rollout.id)
    log = elsewhere.log(rollout.id)
    event = log.append("log", {"text": "two"})
    log.close()
    assert event is not None
    assert event.n == 2
    elsewhere.write(rollout.model_copy(update={"attempt": 2, "updated_at": clock()}))
    elsewhere.mirror(rollout.id)
    assert [event.n for event in files.events(rollout.id).events] == [1, 2]


def test_a_full_store_leaves_the_live_files_and_is_caught_up_with(
    files: RolloutFiles, elsewhere: RolloutFiles, store: Trouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    rollout = ended(record(clock), clock)
    files.write(rollout)
    store.full = True
    assert not files.try_mirror(rollout.id)
    assert "No space left" in caplog.text
    assert files.read(rollout.id) == rollout
    assert not files.is_mirrored(rollout.id, rollout)
    with pytest.raises(NotFound):
        elsewhere.read(rollout.id)
    store.full = False
    assert files.try_mirror(rollout.id)
    assert files.is_mirrored(rollout.id, rollout)
    assert elsewhere.read(rollout.id) == rollout


def test_what_is_deleted_is_gone_everywhere(files: RolloutFiles, clock: Clock, tmp_path: Path) -> None:
    rollout = ended(record(clock), clock)
    files.write(rollout)
    files.put(rollout.id, "verifier/a", b"1")
    files.mirror(rollout.id)
    files.delete(rollout.id)
    files.delete(rollout.id)
    assert files.ids() == []
    assert [path for path in tmp_path.rglob("*") if rollout.id in path.name] == []


def test_finished_copies_leave_the_local_disk_once_the_store_has_them(
    files: RolloutFiles, store: Trouble, clock: Clock, tmp_path: Path
) -> None:
    kept, gone, runs = (record(clock) for _ in range(3))
    store.full = True
    files.write(ended(kept, clock))
    files.try_mirror(kept.id)
    store.full = False
    files.write(ended(gone, clock))
    files.mirror(gone.id)
    files.write(runs)
    files.tidy()
    assert set(files.live_ids()) == {kept.id, gone.id, runs.id}
    clock.turn(KEEP_LIVE + 1)
    half = tmp_path / "one/live" / kept.id / ".rollout.json.1a2b"
    half.write_text("{")
    os.utime(half, (0, 0))
    files.tidy()
    assert set(files.live_ids()) == {kept.id, runs.id}
    assert not half.exists()
    assert files.read(gone.id).status == "done"
    assert (tmp_path / "store/runs" / gone.id / "rollout.json").is_file()
    assert not (tmp_path / "store/runs" / gone.id / MIRRORED).exists()


def test_the_files_say_what_they_are_to_anybody(files: RolloutFiles, clock: Clock, tmp_path: Path) -> None:
    rollout = record(clock, created_at=clock.now - timedelta(minutes=1))
    files.write(rollout)
    told = json.loads((tmp_path / "one/live" / rollout.id / "rollout.json").read_text())
    assert (told["schema_version"], told["id"], told["status"], told["reward"]) == (1, rollout.id, "queued", None)
