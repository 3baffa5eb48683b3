"""Where a task could run: the first thing in the way, for each sandbox."""

from collections.abc import Callable
from typing import Any

import pytest

from rlx.formats.harbor.reader import HarborReader
from rlx.formats.harbor.running import runnable
from rlx.formats.harbor.secrets import wanted
from rlx.formats.harbor.sections import open_record
from rlx.index.records import TaskRecord

type Files = dict[str, str | bytes]
type Read = Callable[[Files], TaskRecord]

COMPOSE = "services:\n  main:\n    build: .\n  db:\n    image: postgres\n"


def reasons(record: TaskRecord) -> dict[str, str | None]:
    """The text key of each sandbox's obstacle."""
    return {
        item.sandbox: item.obstacle.reason.key.removeprefix("harbor.run.") if item.obstacle else None
        for item in runnable(open_record(record)[1])
    }


def with_settings(simple: Files, text: str) -> Files:
    return {**simple, "task.toml": text}


def test_nothing_stands_in_the_way_of_an_ordinary_task(simple: Files, read_task: Read) -> None:
    assert reasons(read_task(simple)) == {"local": None, "docker": None, "hf": None}


def test_what_could_run_is_not_offered_while_nothing_runs(simple: Files, read_task: Read) -> None:
    options = HarborReader().task_view(read_task(simple)).run_options
    assert [(option.sandbox, option.ok) for option in options] == [("local", False), ("docker", False), ("hf", False)]
    reason: Any = options[0].reason
    assert reason.key == "harbor.run.not_yet"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("a = {{ b }}", "unparsed"),
        ('[environment]\nos = "windows"', "missing"),
        ("[environment]\ngpus = 2", "gpu"),
        ('[environment]\ngpus = 1\ngpu_types = ["H100"]', "gpu_of"),
        ('[environment.tpu]\ntype = "v6e"\ntopology = "2x4"', "tpu"),
        ('[verifier]\nenvironment_mode = "separate"\n[verifier.environment]\ndocker_image = "g"\ngpus = 1', "gpu"),
    ],
)
def test_some_things_stand_in_the_way_everywhere(simple: Files, read_task: Read, settings: str, reason: str) -> None:
    assert reasons(read_task(with_settings(simple, settings))) == dict.fromkeys(("local", "docker", "hf"), reason)


def test_windows_stands_in_the_way_even_with_its_batch_file(simple: Files, read_task: Read) -> None:
    files = {**with_settings(simple, '[environment]\nos = "windows"'), "tests/test.bat": "echo"}
    assert set(reasons(read_task(files)).values()) == {"windows"}


@pytest.mark.parametrize(
    ("settings", "local", "hf"),
    [
        ('[environment]\nnetwork_mode = "no-network"', None, "no_network_hf"),
        ("[environment]\nallow_internet = false", None, "no_network_hf"),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.b"]', "allowlist_local", "allowlist_hf"),
        ('[agent]\nnetwork_mode = "no-network"', "phases", "no_network_hf"),
        ('[environment]\nnetwork_mode = "maybe"', "network_word", "network_word"),
    ],
)
def test_sandboxes_differ_in_the_networks_they_can_give(
    simple: Files, read_task: Read, settings: str, local: str | None, hf: str
) -> None:
    assert reasons(read_task(with_settings(simple, settings))) == {"local": local, "docker": None, "hf": hf}


def test_a_grader_of_its_own_may_have_another_network(simple: Files, read_task: Read) -> None:
    settings = '[verifier]\nenvironment_mode = "separate"\nnetwork_mode = "no-network"'
    assert reasons(read_task(with_settings(simple, settings)))["local"] is None
    shared = '[verifier]\nnetwork_mode = "no-network"'
    assert reasons(read_task(with_settings(simple, shared)))["local"] == "phases"


def test_services_beside_the_task_need_docker_with_or_without_an_image(simple: Files, read_task: Read) -> None:
    files = {**simple, "environment/docker-compose.yaml": COMPOSE}
    assert reasons(read_task(files)) == {"local": "compose_of", "docker": None, "hf": "compose_of"}
    named = with_settings(files, '[environment]\ndocker_image = "a:1"')
    assert reasons(read_task(named)) == {"local": "compose_image_of", "docker": None, "hf": "compose_image_of"}


def test_a_judges_key_is_no_obstacle_but_a_need(simple: Files, read_task: Read) -> None:
    record = read_task(with_settings(simple, '[verifier.env]\nK = "${OPENAI_API_KEY}"'))
    found = runnable(open_record(record)[1])
    assert all(item.could and "harbor.run.judge" in {note.key for note in item.notes} for item in found)


def test_variables_are_no_obstacle_but_asked_for_with_who_reads_them(simple: Files, read_task: Read) -> None:
    settings = """
        [environment.env]
        A = "${DATABASE}"
        D = "${E:-}"
        X = "within ${OTHER} text"
        [verifier.env]
        B = "${DATABASE:-here}"
        K = "${JUDGE_API_KEY}"
        [solution.env]
        F = "${G}"
        [[steps]]
        name = "one"
        [steps.verifier.env]
        S = "${STEP_TOKEN:-}"
    """
    record = read_task(with_settings(simple, settings))
    subject = open_record(record)[1]
    assert [(each.name, each.readers, each.required, each.secret) for each in wanted(subject.facts.variables)] == [
        ("DATABASE", ("environment", "grader"), True, False),
        ("E", ("environment",), False, False),
        ("JUDGE_API_KEY", ("grader",), True, True),
        ("G", ("solution",), True, False),
        ("STEP_TOKEN", ("grader",), False, True),
    ]


def test_options_ask_for_variables_and_tell_what_has_to_be_given(simple: Files, read_task: Read) -> None:
    settings = '[environment.env]\nA = "${SERVICE_TOKEN}"\n[solution.env]\nF = "${G}"'
    record = read_task(with_settings(simple, settings))
    told: dict[str, Any] = {option.sandbox or "": option for option in HarborReader().task_view(record).run_options}
    assert set(reasons(record).values()) == {None}
    assert [each.name for each in told["local"].variables] == ["SERVICE_TOKEN", "G"]
    notes = {note.key: dict(note.params) for note in told["local"].notes}
    assert notes["harbor.run.secrets"] == {"n": 1, "names": "SERVICE_TOKEN"}


def test_an_environment_folder_without_a_dockerfile_or_image_has_nothing_to_run_in(
    simple: Files, read_task: Read
) -> None:
    files = {**simple, "environment/data.csv": "a"}
    del files["environment/Dockerfile"]
    assert set(reasons(read_task(files)).values()) == {"no_image"}
    assert set(reasons(read_task(with_settings(files, '[environment]\ndocker_image = "a"'))).values()) == {None}


@pytest.mark.parametrize(
    ("gone", "what"),
    [
        ("instruction.md", "instruction.md"),
        ("tests/test.sh", "tests/test.sh"),
        ("environment/Dockerfile", "environment/"),
    ],
)
def test_what_is_missing_is_named_in_lists_and_options(simple: Files, read_task: Read, gone: str, what: str) -> None:
    del simple[gone]
    record = read_task(simple)
    problem: Any = record.card.problem
    assert (problem.key, dict(problem.params)) == ("harbor.problem.missing", {"what": what})
    assert set(reasons(record).values()) == {"missing"}


def test_a_grader_with_an_image_of_its_own_brings_its_script(simple: Files, read_task: Read) -> None:
    del simple["tests/test.sh"]
    settings = '[verifier]\nenvironment_mode = "separate"\n'
    assert reasons(read_task(with_settings(simple, settings)))["local"] == "missing"
    bundled = {**with_settings(simple, settings), "tests/Dockerfile": "FROM a"}
    assert reasons(read_task(bundled))["local"] is None


def test_every_step_needs_an_instruction_and_a_script(simple: Files, read_task: Read) -> None:
    steps = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    files = {**with_settings(simple, steps), "steps/one/instruction.md": "Do", "steps/two/tests/test.sh": "x"}
    problem: Any = read_task(files).card.problem
    assert dict(problem.params)["what"] == "steps/two/instruction.md"


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("task.toml", b"\xef\xbb\xbf[metadata]\n", "mark"),
        ("instruction.md", "gr\xf6\xdfe".encode("latin-1"), "not_utf8"),
    ],
)
def test_bytes_harbor_cannot_read_are_named(
    simple: Files, read_task: Read, path: str, data: bytes, reason: str
) -> None:
    record = read_task({**simple, path: data})
    problem: Any = record.card.problem
    assert problem.key == f"harbor.problem.{reason}"
    assert set(reasons(record).values()) == {reason}


def test_users_and_sizes_that_a_sandbox_drops_are_warned_of(simple: Files, read_task: Read) -> None:
    record = read_task(with_settings(simple, '[agent]\nuser = "agent"\n[environment]\ncpus = 4'))
    warned = {item.sandbox: {text.key for text in item.warnings} for item in runnable(open_record(record)[1])}
    assert warned == {"local": set(), "docker": set(), "hf": {"harbor.run.users_hf", "harbor.run.resources_hf"}}


def test_a_grader_that_installs_without_a_network_is_warned_of(simple: Files, read_task: Read) -> None:
    files = with_settings(simple, '[environment]\nnetwork_mode = "no-network"')
    files["tests/test.sh"] = "pip install pytest\necho 1 > /logs/verifier/reward.txt"
    local = runnable(open_record(read_task(files))[1])[0]
    assert [text.key for text in local.warnings] == ["harbor.run.offline_grader"]
