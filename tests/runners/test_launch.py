"""What can run a task here, and requests checked against it."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from rlx.demo import demo_hub
from rlx.errors import BadInput, Forbidden, NotFound, Upstream
from rlx.ids import parse_key
from rlx.model import ANONYMOUS, Viewer
from rlx.runners.asked import Asked, ModelAsked
from rlx.runners.launch import Launcher
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.store.instance import Instance
from tests.jobs.machine import write_task

pytestmark = pytest.mark.anyio

ME = Viewer("local")
KEY = parse_key("acme/tasks")
PLAIN = Asked("acme/tasks", "tasks/plain", "oracle")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    write_task(folder, "plain", {})
    write_task(folder, "alpine", {}, dockerfile="# A comment.\nFROM alpine:3.20\n")
    write_task(folder, "fetching", {}, dockerfile="FROM python:3.12-slim\nRUN pip install numpy\n")
    write_task(folder, "unsolved", {"solution/solve.sh": ""})
    (folder / "datasets/acme/tasks/tasks/unsolved/solution/solve.sh").unlink()
    asking = '[verifier.env]\nDATABASE = "${DATABASE}"\n[solution.env]\nHINT = "${HINT}"\n'
    write_task(folder, "asking", {}, toml=asking)
    write_task(folder, "serving", {"tests/test.sh": _SERVING})
    write_task(folder, "mounting", {}, dockerfile=_MOUNTING)
    return folder


_MOUNTING = "FROM debian:12 AS one\nRUN true\nFROM debian:12\nRUN --mount=type=bind,from=one,target=/one true\n"


_SERVING = "#!/bin/bash\nuvx pytest /tests\ncurl -sf https://example.org/x\ncurl -s http://localhost:8080/\n"


@pytest.fixture(scope="module")
def read(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store and a cache in which the tasks have been read and judged: that takes seconds."""
    folder = tmp_path_factory.mktemp("read")

    async def read_all() -> None:
        async with create_services(Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache")) as made:
            await Launcher(made).options(KEY, "tasks/plain", ME)

    anyio.run(read_all)
    return folder


@pytest.fixture
async def services(hub: Path, read: Path, tmp_path: Path) -> AsyncIterator[Services]:
    shutil.copytree(read / "store", tmp_path / "store")
    async with create_services(Settings(hub=str(hub), store=tmp_path / "store", cache_dir=read / "cache")) as made:
        yield made


async def local(services: Services, task: str) -> Any:
    options = await Launcher(services).options(KEY, f"tasks/{task}", ME)
    return next(option for option in options if option.sandbox == "local")


@pytest.fixture(autouse=True)
def needs_sandbox(require_tool: Any) -> None:
    require_tool("bwrap")


async def test_a_task_that_can_run_says_with_which_agents_and_what_is_asked(services: Services) -> None:
    option = await local(services, "plain")

    assert option.ok
    assert option.reason is None
    assert set(option.agents) >= {"oracle", "nop", "simple", "terminus-2"}
    assert "max_calls" in {field.key for field in option.fields}
    assert option.estimate.minutes == 2.0
    assert option.notes


@pytest.mark.parametrize(
    ("task", "source"),
    [("alpine", "environment/Dockerfile:2"), ("mounting", "environment/Dockerfile:4")],
)
async def test_a_task_that_cannot_says_why_and_where(services: Services, task: str, source: str) -> None:
    option = await local(services, task)

    assert not option.ok
    assert option.reason is not None
    assert option.source.startswith(source)
    with pytest.raises(BadInput, match="cannot run"):
        await Launcher(services).start(replace(PLAIN, ref=f"tasks/{task}"), ME)


async def test_what_a_build_fetches_is_told_before(services: Services) -> None:
    option = await local(services, "fetching")

    assert option.ok
    assert option.warnings[0].key == "launch.network"
    assert dict(option.warnings[0].params) == {"n": 1, "places": "PyPI"}


async def test_what_a_grader_reaches_for_is_told_before_and_that_it_grades_a_server(services: Services) -> None:
    told = {text.key: dict(text.params) for text in (await local(services, "serving")).warnings}

    assert told["launch.grading_network"] == {"path": "tests/test.sh", "places": "PyPI, example.org"}
    assert told["launch.service"] == {"path": "tests/test.sh:4"}


@pytest.mark.parametrize(
    ("agent", "given", "says"),
    [
        ("nop", {}, "reads DATABASE, which"),
        ("oracle", {"DATABASE": "sqlite:///told"}, "reads HINT, which"),
        ("nop", {"DATABASE": "sqlite:///told", "DATABSE": "sqlite:///told"}, "no variable 'DATABSE'"),
        ("nop", {"DATABASE": "told\0"}, "none of them NUL"),
        ("nop", {"DATABASE": "told" * 9999}, "at most 8,000"),
    ],
)
async def test_variables_are_the_ones_that_the_task_reads_and_no_message_holds_a_value(
    services: Services, agent: str, given: dict[str, str], says: str
) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        await Launcher(services).start(replace(PLAIN, ref="tasks/asking", agent=agent, variables=given), ME)
    assert "told" not in f"{caught.value.message}{caught.value.hint}"


async def test_variables_are_given_to_a_worker_or_to_nobody(services: Services) -> None:
    asked = replace(PLAIN, ref="tasks/asking", agent="nop", variables={"DATABASE": "sqlite:///told"})
    assert "told" not in repr(asked)
    with pytest.raises(Upstream, match="variables are given to a worker"):
        await Launcher(services).start(asked, ME)
    assert services.rollouts().queue.active() == {}


async def test_without_a_solution_there_is_no_oracle(services: Services) -> None:
    assert "oracle" not in (await local(services, "unsolved")).agents
    with pytest.raises(Forbidden):
        await Launcher(services).start(replace(PLAIN, ref="tasks/unsolved"), ME)


async def test_other_sandboxes_are_not_offered(services: Services) -> None:
    options = await Launcher(services).options(KEY, "tasks/plain", ME)
    assert [option.sandbox for option in options if option.ok] == ["local"]
    with pytest.raises(BadInput):
        await Launcher(services).start(replace(PLAIN, sandbox="docker"), ME)


async def test_a_rollout_waits_as_it_was_asked_for(services: Services) -> None:
    started = await Launcher(services).start(replace(PLAIN, fields={"minutes": "2"}, visibility="public"), ME)

    assert (started.status, started.agent, started.sandbox, started.visibility) == (
        "queued",
        "oracle",
        "local",
        "public",
    )
    assert started.fields["minutes"] == 2
    assert started.revision
    assert services.rollouts().queue.active() == {"queued": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": "nobody"},
        {"runner": "other"},
        {"sandbox": None},
        {"fields": {"max_calls": 0}},
        {"fields": {"unknown": 1}},
        {"visibility": "secret"},
        {"model": ModelAsked()},
        {"agent": "simple"},
        {"agent": "simple", "model": ModelAsked(id="nonsense")},
        {"agent": "simple", "model": ModelAsked("endpoint", "m")},
        {"agent": "simple", "model": ModelAsked("endpoint", "", base_url="https://8.8.8.8")},
        {"agent": "simple", "model": ModelAsked("other")},  # type: ignore[arg-type]  # what a form may send
        {"agent": "simple", "model": ModelAsked(dollars_in=-1.0)},
        {"agent": "simple", "model": ModelAsked(), "fields": {"max_dollars": 1}},
    ],
)
async def test_what_the_option_does_not_take_is_refused(services: Services, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        await Launcher(services).start(replace(PLAIN, **wrong), ME)
    assert services.rollouts().queue.active() == {}


async def test_nobody_starts_one_of_a_task_that_there_is_not(services: Services) -> None:
    with pytest.raises(NotFound):
        await Launcher(services).start(replace(PLAIN, ref="tasks/none"), ME)


async def test_whoever_is_not_known_starts_none(services: Services) -> None:
    with pytest.raises(Forbidden):
        await Launcher(services).start(PLAIN, ANONYMOUS)


async def test_a_key_is_given_to_a_worker_or_to_nobody(services: Services) -> None:
    own = ModelAsked("endpoint", "m", base_url="http://127.0.0.1:9/v1", api_key="sk-secret-of-somebody")
    with pytest.raises(Upstream, match="No worker"):
        await Launcher(services).start(replace(PLAIN, agent="simple", model=own), ME)
    assert services.rollouts().queue.active() == {}


async def test_visitors_do_not_reach_this_machines_network(services: Services) -> None:
    own = ModelAsked("endpoint", "m", base_url="https://127.0.0.1:9/v1", api_key="sk-secret-of-somebody")
    with pytest.raises(Forbidden):
        await Launcher(services).start(
            replace(PLAIN, agent="simple", model=own), Viewer("session", name="ann", token="hf_x")
        )


@pytest.mark.parametrize(
    ("switch", "reason"),
    [({"rollouts_enabled": False}, "launch.off"), ({"agents": ("other",)}, "launch.no_agent")],
)
async def test_what_operators_switch_off_is_told_and_refused(
    services: Services, switch: dict[str, Any], reason: str
) -> None:
    services.instance.save(Instance(**switch))

    option = await local(services, "plain")
    assert (option.ok, option.reason.key) == (False, reason)
    with pytest.raises(BadInput):
        await Launcher(services).start(PLAIN, ME)


async def test_the_demo_can_run_here(tmp_path: Path) -> None:
    settings = Settings(hub=str(demo_hub()), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as made:
        key = parse_key("rl-explorer/first-steps")
        for task in ("fix-median", "sales-figures", "stock-take", "tidy-config", "word-counter"):
            options = await Launcher(made).options(key, f"tasks/{task}", ME)
            assert [option.sandbox for option in options if option.ok] == ["local"], task
