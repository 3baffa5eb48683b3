"""Tasks that say nearly the same: found, ranked and bounded; those that only share boilerplate are not."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers.stored import stored
from rlx.ids import EnvKey, parse_key
from rlx.index.entries import entry_of
from rlx.index.similar import ALIKE, LEAST, SAMPLE, alike, sketch
from rlx.index.snapshot.rows import TaskRow
from rlx.model import ANONYMOUS
from rlx.services import create_services
from rlx.settings import Settings

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
ONE, TWO, THREE = (parse_key(f"acme/{name}") for name in ("one", "two", "three"))
VOCABULARY = [f"word{n}" for n in range(60)]
SERVER = "Repair the crashing nginx server in the container so that port 8080 serves the landing page over https"
MEDIAN = "Write a function in Rust that computes the rolling median of a stream of floating numbers"

type Row = tuple[EnvKey, TaskRow]


def row(key: EnvKey, ref: str, text: str, digest: str = "") -> Row:
    return key, TaskRow(ref, stored(ref), stored(""), {}, digest=digest, sketch=sketch(text))


def pairs(rows: Sequence[Row]) -> Mapping[tuple[str, str], float]:
    return {(item.ref, item.other_ref): item.score for item in alike(rows)}


def unrelated(count: int) -> list[Row]:
    """Tasks of ten environments, each of words of its own."""
    return [
        row(EnvKey("dataset", "acme", f"other-{n % 10}"), f"u{n}", " ".join(f"own{n}x{word}" for word in range(30)))
        for n in range(count)
    ]


texts = st.lists(st.sampled_from(VOCABULARY), min_size=0, max_size=40).map(" ".join)
catalogs = st.lists(st.tuples(st.sampled_from((ONE, TWO, THREE)), texts), max_size=14).map(
    lambda items: [row(key, str(n), text) for n, (key, text) in enumerate(items)]
)


@given(st.text())
def test_a_sketch_is_bounded_and_ascends_whatever_the_text(text: str) -> None:
    made = sketch(text)
    hashes = [int.from_bytes(made[at : at + 4], "little") for at in range(0, len(made), 4)]
    assert hashes == sorted(set(hashes))
    assert not hashes or LEAST <= len(hashes) <= SAMPLE


def test_a_sketch_stays_the_same_from_one_version_to_the_next() -> None:
    assert (
        sketch("Sort the lines of a file by name").hex() == "4398b308a79ce41b7035f6288eb379310ebb1073723ee6a669fd5bd0"
    )


@given(st.permutations(VOCABULARY))
def test_a_sketch_does_not_depend_on_order_case_or_repetition(words: list[str]) -> None:
    assert sketch(" ".join([*words, *words[:9]]).upper()) == sketch(" ".join(VOCABULARY))


def test_too_few_words_have_no_sketch_and_are_like_nothing() -> None:
    assert sketch("fix the bug and fix the bug") == b""
    assert alike([row(ONE, "a", "fix the bug now"), row(TWO, "b", "fix the bug now")]) == []


@given(catalogs)
def test_likeness_is_symmetric_in_range_and_never_of_a_task_with_itself(rows: list[Row]) -> None:
    found = alike(rows, limit=len(rows) + 1)
    scores = {(item.ref, item.other_ref): item.score for item in found}
    assert len(scores) == len(found)
    for (one, other), score in scores.items():
        assert one != other
        assert ALIKE <= score <= 1
        assert scores[other, one] == score


@given(catalogs, st.data())
def test_the_order_of_the_input_changes_no_score(rows: list[Row], data: st.DataObject) -> None:
    whole = {(item.ref, item.other_ref): item.score for item in alike(rows, limit=20)}
    shuffled = alike(data.draw(st.permutations(rows)), limit=20)
    assert {(item.ref, item.other_ref): item.score for item in shuffled} == whole


@given(catalogs, st.integers(min_value=1, max_value=3))
def test_a_task_has_at_most_so_many_and_the_likest_first(rows: list[Row], limit: int) -> None:
    places = {task.ref: place for place, (_, task) in enumerate(rows)}
    whole = alike(rows, limit=20)
    found = alike(rows, limit=limit)
    order = [(places[item.ref], -item.score, places[item.other_ref]) for item in whole]
    assert order == sorted(order)
    for ref in places:
        mine = [item for item in whole if item.ref == ref]
        assert [item for item in found if item.ref == ref] == mine[:limit]


@given(catalogs, texts.filter(lambda text: sketch(text) != b""))
def test_identical_texts_score_one(rows: list[Row], text: str) -> None:
    same = [row(ONE, "left", text), *rows, row(TWO, "right", f"{text} {text}")]
    found = {(item.ref, item.other_ref): item.score for item in alike(same, limit=20)}
    assert found["left", "right"] == found["right", "left"] == 1


def test_a_reworded_task_is_found_and_unrelated_ones_are_left_out() -> None:
    reworded = SERVER.replace("Repair", "Please fix").replace("landing page", "start page") + " again"
    rows = [row(ONE, "server", SERVER), row(TWO, "reworded", reworded), row(THREE, "median", MEDIAN), *unrelated(60)]
    found = pairs(rows)
    assert set(found) == {("server", "reworded"), ("reworded", "server")}
    assert 0.5 < found["server", "reworded"] < 1


def test_what_every_task_of_an_environment_says_makes_none_alike() -> None:
    boilerplate = "Write your answer into the file answer txt under app then stop and say done " * 2
    mine = [row(ONE, f"m{n}", f"{boilerplate} {said}") for n, said in enumerate(SAID)]
    assert pairs([*mine, *unrelated(60)]) == {}
    twin = row(TWO, "twin", SAID[0])
    found = pairs([*mine, *unrelated(60), twin])
    assert set(found) == {("m0", "twin"), ("twin", "m0")}
    assert found["twin", "m0"] > 0.9


SAID = (
    "Balance a red black tree after deleting twelve keys from it",
    "Estimate rainfall in Lisbon using the monthly weather table",
    "Port the legacy billing cobol program onto modern postgres",
    "Crack a substitution cipher found inside the museum archive",
    "Train a perceptron until its validation loss falls enough",
    "Simulate seven colliding billiard balls without any friction",
)


def test_one_rare_word_in_common_is_a_coincidence() -> None:
    one, other = "zanzibar quilt ember lantern harp moss", "zanzibar frost pebble meadow drum reed"
    assert pairs([row(ONE, "a", one), row(TWO, "b", other), *unrelated(60)]) == {}


def test_the_same_task_elsewhere_is_not_told_as_near_but_shares_what_is_near() -> None:
    rows = [
        row(ONE, "first", SERVER, digest="d"),
        row(TWO, "copy", SERVER, digest="d"),
        row(THREE, "near", f"{SERVER} quickly", digest="e"),
        *unrelated(60),
    ]
    assert set(pairs(rows)) == {("first", "near"), ("copy", "near"), ("near", "first")}


@pytest.mark.parametrize("text", ["환경을 만들어 로그 파일에서 오류를 찾아라", "请修复网络服务器并编写测试脚本"])
def test_texts_that_put_no_spaces_between_words_are_compared_too(text: str) -> None:
    found = pairs([row(ONE, "a", text), row(TWO, "b", text[:-2]), *unrelated(60)])
    assert found["a", "b"] > 0.7


@pytest.mark.parametrize("damaged", [b"\x00", b"\x01\x02\x03\x04\x05", b"\xff" * 4 * SAMPLE, b"\x00" * 4000])
def test_a_damaged_sketch_breaks_nothing(damaged: bytes) -> None:
    bad = TaskRow("bad", stored(""), stored(""), {}, sketch=damaged)
    rows = [row(ONE, "server", SERVER), (TWO, bad), row(THREE, "copy", SERVER)]
    assert ("server", "copy") in pairs(rows)


def test_many_tasks_of_one_text_have_each_a_few_of_the_others() -> None:
    found = alike([row(ONE, str(n), SERVER) for n in range(400)])
    assert {item.ref for item in found} == {str(n) for n in range(400)}
    assert len(found) == 8 * 400


@pytest.mark.anyio
async def test_tasks_of_the_fixtures_that_say_the_same_are_found(tmp_path: Path) -> None:
    rows: list[Row] = []
    async with create_services(Settings(hub=str(FIXTURES), store=tmp_path / "s", cache_dir=tmp_path / "c")) as made:
        for card in await made.catalog.all(ANONYMOUS):
            if card.state == "ready" and card.tasks:
                environment = await made.library.open(card.key, ANONYMOUS, wait=None)
                entry = await entry_of(environment, await made.library.info(card.key, ANONYMOUS), limit=200)
                rows += [(card.key, task) for task in entry.tasks]
    found = {(str(item.key), item.ref, str(item.other_key), item.other_ref): item.score for item in alike(rows)}
    booking, refund = ("acme/general-agent", "booking"), ("acme/general-agent", "refund")
    assert found[*booking, *refund] == found[*refund, *booking] > 0.7
    across = ("acme/layout-groups", "tasks/text/deep/er/reverse", "acme/odd-names", "deep/er/still")
    assert found[across] > 0.5
    assert not [pair for pair in found if {"acme/general-agent", "acme/layout-groups"} <= set(pair)]
