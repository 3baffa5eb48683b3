"""Publishing to a local hub: what is sent, how it is gone on from, and what comes back."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rlx.errors import BadInput, Forbidden, NotFound, Upstream
from rlx.hub.writing import Conflict, HubWriter
from rlx.ids import EnvKey, parse_key
from rlx.localhub import Fault, LocalHubServer
from rlx.publish.pull import STATE, is_safe, pull
from rlx.publish.push import BATCH_FILES, Wanted, push
from tests.publish.hubs import alice, serving

type Told = list[tuple[str, Mapping[str, object]]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with serving(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture
def key(request: pytest.FixtureRequest) -> EnvKey:
    """A repository of the test's own."""
    return parse_key(f"alice/{request.node.name[:60].strip('_')}")


def send(
    writer: HubWriter, key: EnvKey, files: Mapping[str, bytes | Path], told: Told, pull: bool = False
) -> tuple[str, int, int, int | None]:
    waits: list[float] = []
    made = push(
        writer,
        files,
        Wanted(key, "Publish it", pull=pull),
        lambda event, facts: told.append((event, facts)),
        pause=waits.append,
    )
    return made.sha, made.sent, made.known, made.pull


def many(count: int = BATCH_FILES + 50) -> dict[str, bytes | Path]:
    return {"README.md": b"---\ntags: [x]\n---\n", **{f"tasks/{n:04}.txt": b"%d" % n for n in range(count)}}


def test_a_push_that_was_stopped_goes_on_and_sends_nothing_twice(server: LocalHubServer, key: EnvKey) -> None:
    writer, files = alice(server), many()
    told: Told = []
    server.hub.faults.add(Fault(path="*/commit/main", after=1, status=503))
    with pytest.raises(Upstream):
        send(writer, key, files, told)
    first = [facts for event, facts in told if event == "commit"]
    server.hub.faults.clear()
    again: Told = []
    sha, sent, known, _ = send(writer, key, files, again)
    assert [facts["files"] for facts in first] == [BATCH_FILES]
    assert (sent, known) == (len(files) - BATCH_FILES, BATCH_FILES)
    assert set(writer.files(key, sha)) == set(files)
    assert send(writer, key, files, [])[:3] == (sha, 0, len(files))
    changed = {**files, "tasks/0000.txt": b"other"}
    assert send(writer, key, changed, [])[1] == 1


def test_a_commit_whose_answer_was_lost_is_not_made_again(server: LocalHubServer, key: EnvKey) -> None:
    told: Told = []
    server.hub.faults.add(Fault(path="*/commit/main", times=1, truncate=10))
    sha, sent, _, _ = send(alice(server), key, {"a.txt": b"a"}, told)
    server.hub.faults.clear()
    assert [event for event, _ in told].count("again") == 1
    assert sent == 0
    assert list(alice(server).files(key, sha)) == ["a.txt"]


def test_a_stranger_opens_one_pull_request_and_goes_on_with_it(server: LocalHubServer, key: EnvKey) -> None:
    bob = HubWriter(server.url, "hf_bob")
    send(alice(server), key, {"a.txt": b"a"}, [])
    with pytest.raises(Forbidden, match="does not allow"):
        send(bob, key, {"a.txt": b"b"}, [])
    first = send(bob, key, {"a.txt": b"b"}, [], pull=True)
    second = send(bob, key, {"a.txt": b"b", "c.txt": b"c"}, [], pull=True)
    assert (first[3], second[3]) == (1, 1)
    assert [number for number, _ in bob.pulls(key, "bob")] == [1]
    assert set(bob.files(key, "refs/pr/1")) == {"a.txt", "c.txt"}
    assert set(bob.files(key, "main")) == {"a.txt"}
    with pytest.raises(BadInput, match="There is no"):
        send(bob, parse_key("bob/nowhere"), {"a.txt": b"b"}, [], pull=True)


def test_who_wrote_meanwhile_is_not_overwritten(server: LocalHubServer, key: EnvKey) -> None:
    writer = alice(server)
    send(writer, key, {"a.txt": b"a"}, [])
    head = writer.head(key)
    writer.commit(key, {"a.txt": b"theirs"}, title="Theirs", parent=head)
    with pytest.raises(Conflict, match="Somebody else wrote"):
        writer.commit(key, {"a.txt": b"mine"}, title="Mine", parent=head)


def test_errors_name_no_token(server: LocalHubServer, key: EnvKey) -> None:
    wrong = "hf_" + "secretOfSomebodyElse0123456789"
    with pytest.raises(Forbidden) as caught:
        HubWriter(server.url, wrong).name()
    assert wrong not in f"{caught.value.message} {caught.value.hint} {HubWriter(server.url, wrong)!r}"
    with pytest.raises(Upstream):
        HubWriter("http://127.0.0.1:9", wrong).name()


def bring(server: LocalHubServer, key: EnvKey, folder: Path, *, force: bool = False) -> tuple[int, int]:
    done = pull(alice(server), key, folder, None, lambda event, facts: None, force=force)
    return done.got, done.known


def test_a_pull_brings_what_changed_and_leaves_what_was_changed_here(
    server: LocalHubServer, key: EnvKey, tmp_path: Path
) -> None:
    writer, folder = alice(server), tmp_path / "got"
    send(writer, key, {"a.txt": b"a", "한/b c.txt": b"b", "big.bin": b"x" * 100_000}, [])
    assert bring(server, key, folder) == (3, 0)
    assert (folder / "한/b c.txt").read_bytes() == b"b"
    assert bring(server, key, folder) == (0, 3)
    (folder / "own.txt").write_text("mine")
    send(writer, key, {"a.txt": b"a2", "한/b c.txt": b"b2"}, [])
    (folder / "a.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"would be replaced: a\.txt"):
        bring(server, key, folder)
    assert (folder / "한/b c.txt").read_bytes() == b"b"
    assert bring(server, key, folder, force=True) == (2, 1)
    assert ((folder / "a.txt").read_bytes(), (folder / "own.txt").read_text()) == (b"a2", "mine")


def test_a_pull_that_was_stopped_goes_on(server: LocalHubServer, key: EnvKey, tmp_path: Path) -> None:
    send(alice(server), key, {f"{n:03}.txt": b"%d" % n for n in range(90)}, [])
    server.hub.faults.add(Fault(path="*/resolve/*/070.txt", method="GET", status=404))
    with pytest.raises(NotFound):
        bring(server, key, tmp_path)
    server.hub.faults.clear()
    got, known = bring(server, key, tmp_path)
    assert (got + known, got < 90) == (90, True)
    assert {path.name for path in tmp_path.iterdir()} == {".cache", *(f"{n:03}.txt" for n in range(90))}
    assert [path.name for path in (tmp_path / STATE).iterdir()] == ["brought.json"]


def test_a_link_in_the_folder_is_not_written_through(server: LocalHubServer, key: EnvKey, tmp_path: Path) -> None:
    send(alice(server), key, {"sub/a.txt": b"a", "b.txt": b"b"}, [])
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "sub").symlink_to(outside)
    with pytest.raises(BadInput, match="in the way"):
        bring(server, key, folder, force=True)
    (folder / "sub").unlink()
    (folder / "b.txt").symlink_to(outside / "b.txt")
    with pytest.raises(BadInput, match="would be replaced"):
        bring(server, key, folder)
    bring(server, key, folder, force=True)
    assert list(outside.iterdir()) == []
    assert not (folder / "b.txt").is_symlink()


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a/b.txt", True),
        ("한글/50% #1?.txt", True),
        ("../a", False),
        ("/a", False),
        ("a/../b", False),
        ("a//b", False),
        (".git/config", False),
        ("a/.GIT/hooks/x", False),
        ("a\\..\\b", False),
        ("a\nb", False),
        (".cache/rlx-pull/brought.json", False),
    ],
)
def test_only_paths_below_the_folder_are_brought(path: str, safe: bool) -> None:
    assert is_safe(path) is safe
