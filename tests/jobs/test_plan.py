"""What a run reads, and in what order."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import name
from rlx.hub.info import RepoInfo, read_info
from rlx.ids import EnvKey
from rlx.index.entries import Entry
from rlx.index.env_cards import listed_card
from rlx.index.listing import Listing
from rlx.index.snapshot.rows import TaskRow
from rlx.jobs.indexer.plan import Policy, plan
from rlx.jobs.indexer.state import Attempt, State

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
READERS = {"harbor": 7}
ORDER = ("changed", "format", "partial", "new")


def info(name: str, sha: str | None = "a" * 40) -> RepoInfo:
    return read_info("dataset", {"id": f"acme/{name}", "sha": sha, "lastModified": "2026-01-01T00:00:00Z"})


def entry(of: RepoInfo, *, revision: str | None = "a" * 40, reader: int | None = 7, complete: bool = True) -> Entry:
    card = replace(listed_card(of), revision=revision, format="harbor", tasks=9)
    return Entry(card, complete=complete, reader=reader, indexed=reader is not None)


def planned(infos: list[RepoInfo], entries: dict[EnvKey, Entry | None], state: State | None = None) -> list[str]:
    policy = Policy(readers=READERS, most=5)
    steps = plan(Listing(tuple(infos), NOW), entries, state or State(), policy, NOW)
    return [f"{step.why} {step.info.key.name}" for step in steps]


def test_an_entry_of_this_revision_and_these_formats_is_good_enough() -> None:
    one = info("one")
    assert planned([one], {one.key: entry(one)}) == []


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"revision": "b" * 40}, "changed"),
        ({"reader": 6}, "format"),
        ({"complete": False}, "partial"),
        ({"complete": False, "reader": None}, "partial"),
        ({"reader": None}, None),
    ],
)
def test_why_an_entry_is_made_anew(made: dict[str, object], why: str | None) -> None:
    one = info("one")
    assert planned([one], {one.key: entry(one, **made)}) == ([f"{why} one"] if why else [])  # type: ignore[arg-type]


def test_one_that_cannot_be_read_is_of_an_old_format_and_one_that_is_not_there_is_new() -> None:
    one, two = info("one"), info("two")
    assert planned([one, two], {two.key: None}) == ["format two", "new one"]


def test_where_the_listing_tells_no_revision_the_date_decides() -> None:
    one = info("one", sha=None)
    assert planned([one], {one.key: entry(one)}) == []
    other = read_info("dataset", {"id": "acme/one", "lastModified": "2026-02-02T00:00:00Z"})
    assert planned([other], {one.key: entry(one)}) == ["changed one"]


@pytest.mark.parametrize(
    ("sha", "hours", "waits"),
    [("a" * 40, 23, True), ("a" * 40, 25, False), ("a" * 40, -9000, False), ("b" * 40, 1, False), (None, 1, False)],
)
def test_what_failed_waits_a_day_at_its_revision(sha: str | None, hours: int, waits: bool) -> None:
    one = info("one")
    attempt = Attempt(sha=sha, at=NOW - timedelta(hours=hours), reason="It failed.")
    assert planned([one], {}, State(attempts={"acme/one": attempt})) == ([] if waits else ["new one"])


kinds = st.sampled_from([*ORDER, "good"])


@given(st.lists(st.tuples(kinds, st.booleans(), st.booleans()), max_size=12))
def test_featured_first_then_by_reason_then_by_trend_and_hidden_never(what: list[tuple[str, bool, bool]]) -> None:
    infos = [info(f"e{place}") for place in range(len(what))]
    entries: dict[EnvKey, Entry | None] = {}
    for one, (kind, _, _) in zip(infos, what, strict=True):
        if kind != "new":
            made = {
                "changed": entry(one, revision="b" * 40),
                "partial": entry(one, complete=False),
                "good": entry(one),
            }
            entries[one.key] = made.get(kind)
    featured = {str(one.key) for one, (_, is_featured, _) in zip(infos, what, strict=True) if is_featured}
    hidden = {str(one.key) for one, (_, _, is_hidden) in zip(infos, what, strict=True) if is_hidden}
    policy = Policy(featured=featured, hidden=hidden, readers=READERS, most=5)
    steps = plan(Listing(tuple(infos), NOW), entries, State(), policy, NOW)
    found = [(not step.featured, ORDER.index(step.why), infos.index(step.info)) for step in steps]
    assert found == sorted(found)
    wanted = {place for place, (kind, _, is_hidden) in enumerate(what) if kind != "good" and not is_hidden}
    assert {place for _, _, place in found} == wanted


def test_rows_that_another_reader_read_are_read_again_and_a_part_of_them_is_not_asked_for_twice() -> None:
    of = info("rows")
    rows = replace(listed_card(of), revision="a" * 40, format="rows", tasks=9_000)
    tasks = tuple(TaskRow(f"train/{n}", name(""), name(""), {}) for n in range(5))
    known = {"rows": 3}

    def why(reader: int) -> list[str]:
        kept = Entry(rows, tasks, complete=False, reader=reader)
        policy = Policy(readers=known, most=5)
        listing = Listing((of,), NOW)
        return [step.why for step in plan(listing, {of.key: kept}, State(), policy, NOW)]

    assert why(3) == []
    assert why(2) == ["format"]
