"""`rlx env` over the fixture hub."""

from pathlib import Path

import pytest

from rlx.store.instance import Instance, InstanceFile
from tests.cli.conftest import Rlx

SCRIPTS_RELY_ON = {"id", "kind", "format", "framework", "tasks", "revision"}


@pytest.fixture
def hub(fixture_hub: Path) -> tuple[str, str]:
    return ("--hub", str(fixture_hub))


def test_a_list_has_every_public_repository_with_what_scripts_rely_on(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("env", "ls", *hub, "--format", "json")
    cards = {str(card["id"]): card for card in result.json()}
    assert result.code == 0
    assert all(set(card) >= SCRIPTS_RELY_ON for card in cards.values())
    assert cards["acme/layout-tasks"]["tasks"] == 4
    assert cards["acme/layout-tasks"]["format"] == "harbor"
    assert cards["space:acme/echo-env"]["kind"] == "space"
    assert cards["acme/plain-files"]["tasks"] is None
    assert cards["acme/plain-files"]["why"]
    assert "acme/private-tasks" not in cards
    assert len(str(cards["acme/layout-tasks"]["revision"])) == 40


def test_ids_go_back_into_the_next_command(rlx: Rlx, hub: tuple[str, str]) -> None:
    ids = rlx("env", "ls", *hub, "--format", "quiet", "--filter", "format=harbor", "--limit", "2").out.split()
    assert len(ids) == 2
    for key in ids:
        assert rlx("env", "show", key, *hub, "--format", "quiet").out.strip() == key


def test_filters_search_sort_limit_and_columns_narrow_the_list(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx(
        *("env", "ls", *hub, "--filter", "kind=dataset", "--filter", "format=harbor", "--search", "layout"),
        *("--sort", "name", "--limit", "3", "--columns", "id,tasks"),
    )
    assert result.rows[0] == ["id", "tasks"]
    assert [row[0] for row in result.rows[1:]] == ["acme/layout-benchmarks", "acme/layout-flat", "acme/layout-groups"]
    assert "3 of" in result.err


def test_environments_are_filtered_by_what_their_tasks_are(rlx: Rlx, hub: tuple[str, str]) -> None:
    found = rlx("env", "ls", *hub, "--filter", "size=Under 10", "--filter", "difficulty=Hard", "--format", "quiet").out
    assert "acme/layout-tasks" in found.split()
    assert "acme/plain-files" not in found.split()


def test_an_environment_is_shown_with_facets_support_and_what_is_withheld(rlx: Rlx, hub: tuple[str, str]) -> None:
    (shown,) = rlx("env", "show", "acme/layout-tasks", *hub, "--format", "json").json()
    assert set(shown) >= SCRIPTS_RELY_ON | {"title", "brief", "why", "facets", "support", "withheld"}
    assert (shown["id"], shown["kind"], shown["tasks"]) == ("acme/layout-tasks", "dataset", 4)


def test_an_environment_reads_as_markdown(rlx: Rlx, hub: tuple[str, str]) -> None:
    assert rlx("env", "show", "acme/layout-tasks", *hub).out.startswith("# ")


def test_claims_are_told_with_confidence_and_evidence(rlx: Rlx, hub: tuple[str, str]) -> None:
    (first, *_) = rlx("env", "claim", "acme/layout-tasks", *hub, "--format", "json").json()
    assert first["format"] == "harbor"
    assert 0 < float(str(first["confidence"])) <= 1
    assert first["evidence"]


def test_a_repository_nobody_claims_is_said_to_be_so(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("env", "claim", "acme/plain-files", *hub, "--format", "json")
    assert (result.code, result.json()) == (0, [])
    assert "No format claims acme/plain-files" in result.err


@pytest.mark.parametrize("command", ["show", "claim"])
def test_what_is_private_is_not_found(rlx: Rlx, hub: tuple[str, str], command: str) -> None:
    assert rlx("env", command, "acme/private-tasks", *hub).code == 2


def test_what_is_gated_is_not_permitted(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("env", "show", "acme/gated-tasks", *hub)
    assert result.code == 4
    assert "RLX-CANARY" not in result.out + result.err


@pytest.mark.parametrize("inner", ["datasets", "datasets/acme", "datasets/acme/layout-tasks"])
@pytest.mark.parametrize("command", [("env", "ls", "--hub"), ("serve", "--hub"), ("hub", "serve")])
def test_a_folder_within_a_hub_is_refused_and_the_hub_is_named(
    rlx: Rlx, fixture_hub: Path, command: tuple[str, ...], inner: str
) -> None:
    result = rlx(*command, str(fixture_hub / inner))
    assert (result.code, result.out) == (2, "")
    assert "holds no datasets/ or spaces/" in result.err
    assert f"Did you mean {fixture_hub.resolve()}?" in result.err


def test_filters_of_any_case_are_understood(rlx: Rlx, hub: tuple[str, str]) -> None:
    for exact, typed in (("graded=One score", "graded=one SCORE"), ("format=harbor", "format=Harbor")):
        lists = [rlx("env", "ls", *hub, "--filter", it, "--format", "quiet").out for it in (exact, typed)]
        assert lists[0] == lists[1] != ""


def test_a_value_that_no_environment_has_is_answered_with_those_there_are(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("env", "ls", *hub, "--filter", "graded=magic")
    assert result.code == 2
    assert "One score" in result.err


@pytest.mark.parametrize(
    ("asked", "meant"), [("acme/echo-env", "space:acme/echo-env"), ("space:acme/layout-flat", "acme/layout-flat")]
)
@pytest.mark.parametrize("command", [("env", "show"), ("env", "claim"), ("task", "ls")])
def test_a_name_of_the_other_kind_is_suggested(
    rlx: Rlx, hub: tuple[str, str], command: tuple[str, str], asked: str, meant: str
) -> None:
    result = rlx(*command, asked, *hub)
    assert result.code == 2
    assert f"Hint: Did you mean {meant}?" in result.err


def test_what_a_folder_lacks_is_said_to_lack_there(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("env", "show", "acme/nothing", *hub)
    assert f"No acme/nothing in {Path(hub[1]).resolve()}" in result.err
    assert "sign in" not in result.err


def test_a_folder_that_is_no_hub_is_told_what_one_is(rlx: Rlx, tmp_path: Path) -> None:
    result = rlx("env", "ls", "--hub", str(tmp_path))
    assert result.code == 2
    assert "datasets/<org>/<name>" in result.err


@pytest.mark.parametrize("command", [("env", "show"), ("env", "claim"), ("task", "ls")])
def test_what_the_settings_of_the_store_hide_is_said_to_be_hidden(
    rlx: Rlx, hub: tuple[str, str], tmp_path: Path, command: tuple[str, str]
) -> None:
    InstanceFile(tmp_path / "store").save(Instance(hidden=frozenset({"acme/layout-tasks"})))
    result = rlx(*command, "acme/layout-tasks", *hub)
    assert (result.code, result.out) == (2, "")
    assert f"acme/layout-tasks is hidden: {tmp_path / 'store' / 'admin' / 'settings.json'} says so" in result.err
