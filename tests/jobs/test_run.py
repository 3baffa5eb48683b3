"""Runs of the indexer: what they read, what they leave alone, what they publish, and what never gets in."""

import gzip
import json
from pathlib import Path

import pytest

from rlx.errors import BadInput, Upstream
from rlx.ids import parse_key
from rlx.index.listing import FILE as LISTING
from rlx.index.listing import Shrunk
from rlx.jobs.indexer.readings import IN_TROUBLE, Budget
from rlx.jobs.indexer.run import Options
from rlx.jobs.indexer.state import load_state
from rlx.localhub import Fault
from rlx.model import EnvQuery, TaskSearch
from rlx.store.instance import Instance
from rlx.store.storage import DirectoryStorage
from tests.jobs.sites import FEW, FIXTURES, Site, files
from tests.plugin.toy_environments import Toy

pytestmark = pytest.mark.anyio

TASKS = "datasets/acme/layout-tasks"
FLAT = "datasets/acme/layout-flat"
NEAR = """Write a parser for barometer telemetry frames that arrive over a serial line: verify the checksum, reject
frames that are cut short, convert pressure from counts to hectopascal, and print hourly averages as a table."""


def state_of(site: Site, key: str) -> str:
    card = site.snapshot().card(parse_key(key), Instance())
    assert card is not None
    return card.state


async def test_a_first_run_reads_everything_and_publishes_it(tmp_path: Path) -> None:
    site = Site(tmp_path)
    run = await site.run()
    assert (run.listed, run.read, run.failed, run.left) == (4, 4, 0, 0)
    snapshot = site.snapshot()
    assert snapshot.counts.environments == 4
    assert snapshot.counts.tasks == run.tasks == 6
    assert {state_of(site, key) for key in ("acme/layout-tasks", "space:acme/echo-env")} == {"ready"}
    events = [event for event, _ in site.events]
    assert events == ["listed", "plan", *["read"] * 4, "snapshot", "published", "done"]
    assert load_state(site.storage).last == run
    assert not (site.store / "indexer-lease.json").exists()


async def test_an_unchanged_hub_is_asked_for_nothing_but_its_listing(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    entries = files(site.store / "catalog")
    site.hub.requests.clear()
    site.tell_hub(datasets__acme__none={"likes": 1})
    site.meta[TASKS] = {"likes": 77, "trendingScore": 9}
    site.tell_hub()
    run = await site.run()
    assert (run.read, run.tasks) == (0, 6)
    assert {path.partition("?")[0] for _, path in site.hub.requests} == {"/api/datasets", "/api/spaces"}
    assert files(site.store / "catalog") == entries
    card = site.snapshot().card(parse_key("acme/layout-tasks"), Instance())
    assert card is not None
    assert card.likes == 77
    assert site.snapshot().environments(EnvQuery(), Instance()).items[0].key == card.key


async def test_only_what_changed_is_read_and_what_left_is_dropped(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    site.change(TASKS)
    (site.hub_folder / "spaces" / "acme" / "echo-env").rename(tmp_path / "gone")
    await site.run(Options(force=True))
    assert site.read() == ["acme/layout-tasks"]
    assert "space+acme__echo-env.json.gz" not in files(site.store / "catalog")
    assert site.snapshot().counts.environments == 3


async def test_an_entry_is_not_fetched_again_while_it_is_the_same(tmp_path: Path) -> None:
    class Noting(DirectoryStorage):
        def __init__(self, root: Path) -> None:
            super().__init__(root)
            self.asked: list[str] = []

        def read(self, name: str, *, limit: int) -> bytes:
            self.asked.append(name)
            return super().read(name, limit=limit)

    site = Site(tmp_path)
    site.storage = noting = Noting(site.store)
    await site.run()
    await site.run()
    noting.asked.clear()
    site.change(TASKS)
    await site.run()
    await site.run()
    assert [name for name in noting.asked if name.startswith("catalog/")] == ["catalog/acme__layout-tasks.json.gz"]


async def test_a_dry_run_says_what_it_would_read_and_changes_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run(Options(dry_run=True))
    assert not site.store.exists()
    assert [event for event, _ in site.events] == ["listed", "plan"]
    (plan,) = site.told("plan")
    assert (plan["environments"], plan["new"]) == (4, 4)
    await site.run()
    site.change(TASKS)
    before = files(site.store), files(site.root / "cache" / "indexer")
    await site.run(Options(dry_run=True))
    assert site.told("plan")[0]["ids"] == ["acme/layout-tasks"]
    assert (files(site.store), files(site.root / "cache" / "indexer")) == before


async def test_a_hub_that_lists_far_less_changes_nothing_unless_forced(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    before = files(site.store)
    for repo in FEW[1:]:
        (site.hub_folder / repo).rename(tmp_path / repo.replace("/", "-"))
    with pytest.raises(Shrunk, match="under 80 %"):
        await site.run()
    with pytest.raises(Shrunk):
        await site.run(Options(dry_run=True))
    assert files(site.store) == before
    (site.store / LISTING).write_bytes(b"damaged")
    with pytest.raises(Shrunk):  # the pointer remembers too
        await site.run()
    await site.run(Options(force=True))
    assert site.snapshot().counts.environments == 1


async def test_a_store_of_another_hub_is_left_as_it_is_unless_forced(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    before = files(site.store)
    site.hub_name = "https://hub.example"
    with pytest.raises(BadInput, match="another hub"):
        await site.run()
    assert files(site.store) == before
    await site.run(Options(force=True))
    assert site.snapshot().hub == load_state(site.storage).hub == "https://hub.example"


async def test_nothing_private_gated_or_disabled_gets_into_any_file(tmp_path: Path) -> None:
    repos = [
        str(path.relative_to(FIXTURES)) for kind in ("datasets", "spaces") for path in (FIXTURES / kind).glob("*/*")
    ]
    site = Site(tmp_path, repos)
    site.meta["datasets/acme/private-tasks"] = {"private": True}
    site.meta["datasets/acme/gated-tasks"] = {"gated": "manual"}
    site.meta["datasets/acme/layout-groups"] = {"disabled": True}
    site.tell_hub()
    for token in (None, "hf_alice"):
        site.change(TASKS, f"For {token}.\n")
        run = await site.run(token=token)
        assert run.failed == 0
    told = b"".join(gzip.decompress(data) if name.endswith(".gz") else data for name, data in files(site.store).items())
    assert b"layout-tasks" in told
    assert b"RLX-SHOWN" in told
    for word in (b"private-tasks", b"gated-tasks", b"layout-groups", b"RLX-CANARY", b"hf_alice"):
        assert word not in told
    assert not [path for path in (site.root / "cache" / "private").rglob("*") if path.is_file()]


async def test_what_becomes_private_while_it_waits_is_not_read(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    site.change(TASKS)
    site.meta[TASKS] = {"gated": "auto"}
    site.tell_hub()
    await site.run(Options(force=True), token="hf_alice")
    assert site.read() == []
    assert "acme__layout-tasks.json.gz" not in files(site.store / "catalog")
    assert site.snapshot().card(parse_key("acme/layout-tasks"), Instance()) is None


async def test_over_a_hub_only_tagged_repositories_are_listed(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run(everything=False)
    assert "acme/plain-files" not in site.read()
    assert "acme/layout-tasks" in site.read()


async def test_a_budget_leaves_the_rest_for_the_next_run_and_publishes(tmp_path: Path) -> None:
    site = Site(tmp_path)
    run = await site.run(Options(budget=Budget(count=1)))
    assert (run.read, run.left) == (1, 3)
    assert site.told("done")[0]["stopped"] == "count"
    assert site.snapshot().counts.environments == 4
    run = await site.run(Options(budget=Budget(minutes=0.0)))
    assert (run.read, run.left) == (0, 3)
    assert site.told("done")[0]["stopped"] == "time"
    run = await site.run()
    assert (run.read, run.left) == (3, 0)


async def test_a_long_run_publishes_what_it_has_read_so_far(tmp_path: Path) -> None:
    names = [f"datasets/acme/plain-{n}" for n in range(10)]
    site = Site(tmp_path, names)
    for name in names:
        site.change(name)
    run = await site.run(Options(budget=Budget(round=0.0)))
    assert (run.read, run.left) == (10, 0)
    assert len(site.told("published")) == 3  # four are read at once
    assert [event for event, _ in site.events if event == "read"] == ["read"] * 10
    assert site.events[-1][0] == "done"
    assert site.snapshot().card(parse_key("acme/plain-9"), Instance()) is not None


async def test_featured_ones_come_first_and_hidden_ones_are_not_read(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.meta[TASKS] = {"trendingScore": 9}
    site.tell_hub()
    site.operators(featured=["acme/plain-files"], hidden=["acme/layout-flat"])
    await site.run(Options(dry_run=True))
    assert site.told("plan")[0]["ids"] == ["acme/plain-files", "acme/layout-tasks", "space:acme/echo-env"]
    await site.run(Options(featured=True))
    assert site.read() == ["acme/plain-files"]
    await site.run(Options(top=1))
    assert site.read() == ["acme/layout-tasks"]
    snapshot = site.snapshot()
    assert snapshot.card(parse_key("acme/layout-flat"), Instance()) is not None
    assert snapshot.card(parse_key("acme/layout-flat"), Instance(hidden=frozenset({"acme/layout-flat"}))) is None


async def test_what_failed_is_left_alone_for_a_day_at_its_revision(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.hub.faults.add(Fault(path="*/layout-flat/tree/*", status=403, code="GatedRepo"))
    run = await site.run()
    assert (run.read, run.failed) == (3, 1)
    assert state_of(site, "acme/layout-flat") == "failed"
    assert site.told("failed")[0]["id"] == "acme/layout-flat"
    site.hub.faults.clear()
    site.later(hours=23)
    assert (await site.run()).read == 0
    assert state_of(site, "acme/layout-flat") == "failed"
    site.later(hours=2)
    await site.run()
    assert site.read() == ["acme/layout-flat"]
    assert state_of(site, "acme/layout-flat") == "ready"
    assert load_state(site.storage).attempts == {}


async def test_what_failed_is_read_at_once_when_it_changes(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.hub.faults.add(Fault(path="*/layout-flat/tree/*", status=403, code="GatedRepo"))
    await site.run()
    site.hub.faults.clear()
    site.change(FLAT)
    await site.run()
    assert site.read() == ["acme/layout-flat"]


async def test_what_was_read_before_stays_when_reading_it_again_fails(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    site.change(TASKS)
    site.hub.faults.add(Fault(path="*/layout-tasks/tree/*", status=403, code="GatedRepo"))
    run = await site.run()
    assert (run.failed, run.tasks) == (1, 6)
    assert state_of(site, "acme/layout-tasks") == "ready"


async def test_a_hub_that_goes_down_blames_no_environment(tmp_path: Path) -> None:
    names = [f"datasets/acme/plain-{n}" for n in range(IN_TROUBLE + 2)]
    site = Site(tmp_path, names)
    for name in names:
        site.change(name)
    site.hub.faults.add(Fault(path="*/tree/*", status=429))
    run = await site.run()
    assert run.read == 0
    assert site.told("done")[0]["stopped"] in ("hub", "rate")
    assert load_state(site.storage).attempts == {}
    site.hub.faults.clear()
    assert (await site.run()).read == len(names)


async def test_a_hub_that_is_away_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    before = files(site.store)
    site.hub.faults.add(Fault(path="/api/*", status=429))
    with pytest.raises(Upstream, match="rate limit"):
        await site.run()
    assert files(site.store) == before


@pytest.mark.parametrize(
    "damage", [b"", b"half", gzip.compress(b'{"version": 0}', mtime=0), gzip.compress(b"[]", mtime=0)]
)
async def test_a_damaged_or_older_entry_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    site = Site(tmp_path)
    await site.run()
    (site.store / "catalog" / "acme__layout-tasks.json.gz").write_bytes(damage)
    run = await site.run()
    assert site.told("plan")[0]["format"] == 1
    assert site.read() == ["acme/layout-tasks"]
    assert run.tasks == 6


async def test_a_damaged_state_is_started_anew(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    (site.store / "indexer-state.json").write_text('{"attempts": 3')
    assert (await site.run()).read == 0


async def test_tasks_of_environments_without_an_index_are_listed_within_a_budget(tmp_path: Path) -> None:
    names = ["datasets/acme/a", "datasets/acme/b"]
    site = Site(tmp_path, names, [Toy()])
    for repo in names:
        tasks = [{"ref": f"toy-{n}", "prompt": "Play."} for n in range(150)]
        (site.hub_folder / repo / "toy.json").write_text(json.dumps(tasks))
    run = await site.run(Options(budget=Budget(rows_each=120, rows=150)))
    assert run.tasks == 150
    run = await site.run(Options(budget=Budget(rows_each=120, rows=150)))
    assert (run.read, run.tasks) == (1, 240)
    assert site.told("plan")[0]["partial"] == 1
    run = await site.run(Options(budget=Budget(rows_each=120, rows=150)))
    assert (run.read, run.tasks) == (0, 240)
    run = await site.run(Options(budget=Budget(rows_each=1000, rows=1000)))
    assert (run.read, run.tasks) == (2, 300)


async def test_likeness_is_kept_while_no_entry_changes_and_never_believed_when_damaged(tmp_path: Path) -> None:
    site = Site(tmp_path)
    for number in range(2):
        task = site.add(f"datasets/acme/near-{number}") / "tasks" / "parse"
        task.mkdir(parents=True)
        (task / "task.toml").write_text('[metadata]\ndifficulty = "easy"\n')
        (task / "instruction.md").write_text(f"{NEAR} Name the result number{number}.\n")
    await site.run()
    (first,) = site.told("snapshot")
    assert int(str(first["alike"])) > 0
    kept = site.store / "alike.json.gz"
    whole = kept.read_bytes()
    raw = json.loads(gzip.decompress(whole))
    kept.write_bytes(gzip.compress(json.dumps({**raw, "pairs": raw["pairs"][:1]}).encode()))
    await site.run()
    assert site.told("snapshot")[0]["alike"] == 1  # it was not found again
    bad: list[object] = [[], {**raw, "mark": "x", "pairs": []}]
    bad += [{**raw, "pairs": [pair]} for pair in ([0, 10**6, 0.5], [-1, 0, 0.5], [0, 1, 7], [0, 1])]
    for damaged in (b"", whole[:50], *(gzip.compress(json.dumps(item).encode()) for item in bad)):
        kept.write_bytes(damaged)
        await site.run()
        assert site.told("snapshot") == [first]
        assert kept.read_bytes() == whole


async def test_what_is_too_big_to_list_is_read_to_the_end_before_it_gets_in(tmp_path: Path) -> None:
    listed, walked = Site(tmp_path / "listed", [TASKS]), Site(tmp_path / "walked", [TASKS])
    walked.settings = {"listing_deadline": 0.0}
    await listed.run()
    await walked.run()
    found = [site.snapshot().tasks(TaskSearch(), Instance()) for site in (listed, walked)]
    assert found[0].total > 0
    assert found[0].items == found[1].items
    walked.hub.requests.clear()
    assert (await walked.run()).read == 0


async def test_a_store_that_fails_is_told_and_keeps_what_is_in_use(tmp_path: Path) -> None:
    class Full(DirectoryStorage):
        def write(self, name: str, data: bytes) -> None:
            if name.startswith("catalog/"):
                raise OSError(28, "No space left on device")
            super().write(name, data)

    site = Site(tmp_path)
    await site.run()
    before = site.snapshot().counts
    site.change(TASKS)
    site.storage = Full(site.store)
    with pytest.raises(Upstream, match="No space left"):
        await site.run()
    assert site.snapshot().counts == before
    assert not (site.store / "indexer-lease.json").exists()
