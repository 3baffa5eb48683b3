"""`rlx doctor` and the addresses that may be bound."""

import socket
from pathlib import Path

import pytest

from rlx.cli.doctor import ADVICE
from rlx.cli.serving import address, bind, check_host, is_loopback
from rlx.errors import BadInput
from rlx.health.needles import CANARY
from tests.cli.conftest import Rlx


def test_a_sound_machine_is_said_to_be_well(rlx_here: Rlx) -> None:
    result = rlx_here("doctor", "--demo", "--format", "json")
    states = {str(check["check"]): check["state"] for check in result.json()}
    assert {"python", "rlx", "store", "cache", "hub", "token", "sandbox local", "run extra"} <= set(states)
    assert states["hub"] == "ok"
    runs = {f"sandbox {kind['kind']}": kind["runs"] for kind in rlx_here("sandbox", "ls", "--format", "json").json()}
    runs["sandbox hf"] = False  # the demo's hub is a folder, which runs no jobs
    assert {name: states[name] == "ok" for name in runs} == runs
    assert result.code == (1 if "bad" in states.values() else 0)


def test_a_store_that_cannot_be_written_is_found(rlx_here: Rlx, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = rlx_here("doctor", "--demo", "--store", str(blocked), "--format", "json")
    assert result.code == 1
    assert {str(check["check"]): check["state"] for check in result.json()}["store"] == "bad"


def test_a_hub_that_is_away_is_found(rlx_here: Rlx) -> None:
    result = rlx_here("doctor", "--hub", "http://127.0.0.1:9", "--format", "json")
    assert result.code == 1
    assert {str(check["check"]): check["state"] for check in result.json()}["hub"] == "bad"
    assert "Not well:" in result.err
    assert f"hub: {ADVICE['hub']}" in result.err


def test_every_check_that_can_be_bad_has_advice(rlx_here: Rlx) -> None:
    checks = {str(check["check"]) for check in rlx_here("doctor", "--demo", "--format", "json").json()}
    assert {name for name in checks - ADVICE.keys() if not name.startswith("sandbox ")} == {"rlx", "run extra"}


def test_a_token_is_never_printed(rlx_here: Rlx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecret")
    result = rlx_here("doctor", "--hub", "http://127.0.0.1:9")
    assert "secretsecret" not in result.out + result.err


@pytest.fixture
def small_hub(tmp_path: Path) -> Path:
    """One task, its answers replaced by canaries."""
    repo = tmp_path / "hub" / "datasets" / "org" / "small"
    for path, text in {
        "README.md": "# Small\n\nOne task.\n",
        "task/task.toml": '[metadata]\nexpected_value = "RLX-CANARY-METADATA"\n',
        "task/instruction.md": "# Count\n\nWrite the number to /app/out.txt.\n",
        "task/tests/test.sh": 'expected="RLX-CANARY-GRADER"\n',
        "task/solution/solve.sh": "echo RLX-CANARY-SOLUTION\n",
    }.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    return tmp_path / "hub"


def test_a_site_without_leaks_passes_the_crawl(rlx: Rlx, small_hub: Path, tmp_path: Path) -> None:
    listed = tmp_path / "answers.json"
    listed.write_text('[{"repo": "org/small", "where": "by hand", "text": "an answer that stands nowhere"}]')
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), "--answers", str(listed), "--format", "json")
    (report,) = result.json()
    assert (report["leaks"], report["errors"], report["dead"]) == ([], [], [])
    assert (report["ok"], report["answers"]) == (True, 4)
    assert int(str(report["addresses"])) > 20
    assert result.code == 0


def test_a_leak_fails_the_crawl_and_is_told_by_its_place(rlx: Rlx, small_hub: Path, tmp_path: Path) -> None:
    listed = tmp_path / "answers.json"
    listed.write_text('[{"repo": "org/small", "where": "its instruction", "text": "Write the number to"}]')
    (small_hub / "datasets/org/small/README.md").write_text("# Small\n\nThe answer is RLX-CANARY-IN-THE-CARD.\n")
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), "--answers", str(listed))
    assert result.code == 1
    found = {(row[0], row[2]) for row in result.rows[1:]}
    assert found == {("answer", "org/small README.md"), ("answer", "org/small its instruction")}


def test_the_crawl_reaches_the_tasks_of_every_environment_with_their_facets_and_twins(
    rlx: Rlx, small_hub: Path, tmp_path: Path
) -> None:
    """What a task begins with stands wherever the task is listed."""
    (small_hub / "datasets/org/small/task/task.toml").write_text('[metadata]\ndifficulty = "easy"\n')
    listed = tmp_path / "answers.json"
    listed.write_text('[{"repo": "org/small", "where": "its instruction", "text": "Write the number to"}]')
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), "--answers", str(listed), "--format", "json")
    (report,) = result.json()
    leaks = report["leaks"]
    assert isinstance(leaks, list)
    found = {leak["url"] for leak in leaks}
    assert {
        "/tasks",
        "/tasks?format=json",
        "/tasks?format=md",
        "/tasks?f=difficulty%3AEasy",
        "/tasks?f=difficulty%3AEasy&format=json",
        "/tasks?env=org%2Fsmall",
    } <= found


def test_a_list_of_answers_that_is_none_is_bad_input(rlx: Rlx, small_hub: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text("[1]")
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), "--answers", str(tmp_path / "answers.json"))
    assert result.code == 2


def unplant(hub: Path, canary: str) -> None:
    """Turn every canary of the folder into `canary`."""
    for path in hub.rglob("*"):
        if path.is_file():
            path.write_text(CANARY.sub(canary, path.read_text()))


@pytest.mark.parametrize("listed", [None, "[]", '[{"text": "short"}]'])
def test_a_crawl_that_looks_for_nothing_fails_and_says_what_to_do(
    rlx: Rlx, small_hub: Path, tmp_path: Path, listed: str | None
) -> None:
    unplant(small_hub, "plain")
    answers = tmp_path / "answers.json"
    answers.write_text(listed or "")
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), *(("--answers", str(answers)) if listed else ()))
    assert (result.code, result.out) == (2, "")
    assert "nothing to look for" in result.err
    assert "RLX-CANARY- and 6 or more" in result.err


@pytest.mark.parametrize("near", ["rlx-canary-grader", "RLX-CANARY-ABC", "RLX_CANARY_GRADER", "RLX-CANARY-Grader"])
def test_what_is_almost_a_canary_is_named(rlx: Rlx, small_hub: Path, near: str) -> None:
    unplant(small_hub, near)
    result = rlx("doctor", "--leaks", "--hub", str(small_hub))
    assert result.code == 2
    assert f"{near} in org/small task/" in result.err


def test_answers_too_short_to_look_for_are_counted(rlx: Rlx, small_hub: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('[{"text": "short"}, {"text": "an answer that stands nowhere"}]')
    result = rlx("doctor", "--leaks", "--hub", str(small_hub), "--answers", str(tmp_path / "answers.json"))
    assert result.code == 0
    assert "1 of 2 answers have fewer than 8 characters" in result.err


def test_only_a_folder_is_crawled(rlx: Rlx) -> None:
    assert rlx("doctor", "--leaks", "--hub", "http://127.0.0.1:9").code == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_alone_needs_no_names(host: str) -> None:
    assert is_loopback(host)
    check_host(host, allowed=())


@pytest.mark.parametrize("host", ["::", "192.0.2.1", "example.org"])
def test_other_addresses_need_the_names_people_use(host: str) -> None:
    with pytest.raises(BadInput):
        check_host(host, allowed=())
    check_host(host, allowed=("rlx.example.org",))


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(BadInput, match="cannot be used"):
        bind("127.0.0.1", taken.getsockname()[1])


def test_the_address_is_a_url() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
