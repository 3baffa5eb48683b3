"""Settings are read as Harbor reads them, whatever shape they have, and what is odd is noted."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.schema import Collect, McpServer, Network, TaskSettings
from rlx.formats.harbor.secrets import variables
from rlx.formats.harbor.settings import read_settings
from rlx.texts import words


def read(text: str) -> TaskSettings:
    return read_settings(tomllib.loads(text))


def odd(settings: TaskSettings) -> list[str]:
    return [item.where for item in settings.odd]


def test_an_empty_file_has_harbors_defaults() -> None:
    settings = read("")
    assert settings.agent.timeout is None
    assert settings.verifier.timeout == settings.environment.build_timeout == 600
    assert settings.environment.network == Network("public")
    assert not settings.environment.network_said
    assert settings.odd == ()


def test_the_newest_keys_are_read() -> None:
    settings = read(
        """
        schema_version = "1.4"
        artifacts = ["/app/out", { source = "/db/dump.sql", destination = "db", service = "db" }]
        [task]
        name = "org/fix"
        authors = [{ name = "Ada", email = "a@example.org" }]
        [agent]
        timeout_sec = 90
        user = "agent"
        network_mode = "allowlist"
        allowed_hosts = ["files.example.org"]
        [verifier]
        environment_mode = "separate"
        user = 0
        [[verifier.collect]]
        command = "dump"
        service = "db"
        [verifier.environment]
        docker_image = "grader:1"
        network_mode = "no-network"
        [environment]
        cpus = 2.0
        memory_mb = 2048
        gpus = 1
        gpu_types = ["H100"]
        workdir = "/app"
        skills_dir = "/skills"
        tpu = { type = "v6e", topology = "2x4" }
        healthcheck = { command = "true", retries = 5 }
        [[environment.mcp_servers]]
        name = "a"
        transport = "http"
        url = "http://a"
        [[environment.mcp_servers]]
        name = "b"
        command = "run"
        args = ["x"]
        """
    )
    assert settings.schema == "1.4"
    assert settings.package is not None
    assert settings.package.authors == ("Ada",)
    assert [item.service for item in settings.artifacts] == [None, "db"]
    assert settings.agent.network == Network("allowlist", ("files.example.org",))
    assert settings.verifier.user == "0"
    assert settings.verifier.collect == (Collect("dump", "db"),)
    assert settings.separate()
    assert settings.verifier.environment is not None
    assert settings.verifier.environment.network.mode == "no-network"
    environment = settings.environment
    assert (environment.cpus, environment.memory_mb, environment.gpu_types) == (2, 2048, ("H100",))
    assert environment.tpu == "v6e 2x4"
    assert environment.healthcheck is not None
    assert environment.healthcheck.retries == 5
    assert environment.mcp_servers == (McpServer("a", "streamable-http", "http://a"), McpServer("b", "sse", "run x"))
    assert settings.odd == ()


@pytest.mark.parametrize(("size", "megabytes"), [("4G", 4096), ("512M", 512), ("2048K", 2), ("1.5g", 1536)])
def test_legacy_sizes_are_converted(size: str, megabytes: float) -> None:
    assert read(f'[environment]\nmemory = "{size}"').environment.memory_mb == megabytes


@pytest.mark.parametrize("size", ['"2GB"', '"2Gi"', "512", '""'])
def test_sizes_harbor_cannot_read_are_noted(size: str) -> None:
    settings = read(f"[environment]\nstorage = {size}")
    assert settings.environment.storage_mb is None
    assert odd(settings) == ["environment.storage"]


def test_sizes_that_disagree_are_noted_and_the_newer_counts() -> None:
    settings = read('[environment]\nmemory = "4G"\nmemory_mb = 1024')
    assert settings.environment.memory_mb == 1024
    assert odd(settings) == ["environment.memory"]


@pytest.mark.parametrize(("flag", "mode"), [("true", "public"), ("false", "no-network")])
def test_the_legacy_internet_switch_is_converted(flag: str, mode: str) -> None:
    settings = read(f"[environment]\nallow_internet = {flag}")
    assert settings.environment.network.mode == mode
    assert settings.environment.network_said


def test_network_mode_wins_over_a_switch_that_disagrees_and_it_is_noted() -> None:
    settings = read('[environment]\nallow_internet = true\nnetwork_mode = "no-network"')
    assert settings.environment.network.mode == "no-network"
    assert odd(settings) == ["environment.allow_internet"]
    agreeing = read('[environment]\nallow_internet = true\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.b"]')
    assert odd(agreeing) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[agent]\ntimeout_sec = "1h"', "agent.timeout_sec"),
        ('[task]\nauthors = ["Full Name"]', "task.authors"),
        ('agent = "me"', "agent"),
        ("steps = [1]", "steps"),
        ('[environment]\nnetwork_mode = "sometimes"', "environment.network_mode"),
        ('[agent]\nallowed_hosts = ["a.b"]', "agent.allowed_hosts"),
        ("[verifier.env]\nCOUNT = 5", "verifier.env.COUNT"),
        ('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1', "verifier.environment_mode"),
        ('[[steps]]\nname = "a"\ninstruction = "Do it."', "steps[0].instruction"),
        ('multi_step_reward_strategy = "best"', "multi_step_reward_strategy"),
        ("[environment.healthcheck]\nretries = 2", "environment.healthcheck.command"),
        ("artifacts = [1]", "artifacts"),
    ],
)
def test_what_harbor_would_refuse_or_ignore_is_noted_with_its_key(text: str, where: str) -> None:
    settings = read(text)
    assert odd(settings) == [where]
    assert words(settings.odd[0].text)


def test_a_number_written_as_text_is_taken_as_harbor_takes_it() -> None:
    settings = read('[agent]\ntimeout_sec = "60"\n[environment]\ncpus = "2"')
    assert (settings.agent.timeout, settings.environment.cpus) == (60, 2)
    assert settings.odd == ()


def test_unknown_keys_are_the_datasets_own_by_their_full_name() -> None:
    settings = read(
        'description = "x"\n[agent]\nkwargs = {a = 1}\n[environment]\ntype = "lab"\n[environment.nodes]\nn = 2'
    )
    assert settings.own == {
        "description": "x",
        "agent.kwargs": {"a": 1},
        "environment.type": "lab",
        "environment.nodes": {"n": 2},
    }


def test_steps_have_gates_by_number_or_by_name() -> None:
    settings = read(
        '[[steps]]\nname = "a"\nmin_reward = 0.5\n[[steps]]\nname = "b"\nmin_reward = { style = 1, tests = 0.2 }'
    )
    assert [dict(step.min_reward) for step in settings.steps] == [{"reward": 0.5}, {"style": 1, "tests": 0.2}]


def test_a_step_may_have_a_grader_of_its_own() -> None:
    settings = read('[[steps]]\nname = "a"\n[steps.verifier]\nenvironment_mode = "separate"\n[[steps]]\nname = "b"')
    assert [settings.separate(step) for step in settings.steps] == [True, False]


def test_templates_tell_the_variables_a_task_needs_and_those_it_can_do_without() -> None:
    settings = read(
        """
        [environment.env]
        A = "${SERVICE_TOKEN}"
        B = "plain"
        [verifier.env]
        KEY = "Bearer ${OPENAI_API_KEY}"
        MODEL = "${MODEL_NAME:-small}"
        EMPTY = "${CODEX_AUTH_JSON:-}"
        """
    )
    assert [(item.name, item.where, item.default, item.of_model) for item in variables(settings)] == [
        ("SERVICE_TOKEN", "environment.env", False, False),
        ("OPENAI_API_KEY", "verifier.env", False, True),
        ("MODEL_NAME", "verifier.env", True, False),
        ("CODEX_AUTH_JSON", "verifier.env", True, True),
    ]


KEYS = re.findall(
    r"\w+",
    "task metadata verifier agent environment solution steps artifacts env network_mode memory allow_internet"
    " timeout_sec authors tpu healthcheck mcp_servers collect min_reward name user",
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_values_of_any_type_anywhere_raise_nothing(table: dict[str, object]) -> None:
    settings = read_settings(table)
    variables(settings)
    assert all(words(item.text) and item.where for item in settings.odd)
