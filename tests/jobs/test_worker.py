"""Rollouts from end to end: a worker in a process of its own, Harbor's trials, local sandboxes."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from rlx.demo import demo_hub
from rlx.errors import BadInput
from rlx.rollout import Rollout
from rlx.runners.asked import ModelAsked
from tests.endpoints import Told, endpoint
from tests.jobs.machine import CANARY, Machine, machine, scripted, until, write_task

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300), pytest.mark.xdist_group("worker")]

DEMO = "rl-explorer/first-steps"
MUCH = """#!/bin/bash
for place in $(seq 40); do seq 400000 > /logs/verifier/part-$place.txt; done
echo 1 > /logs/verifier/reward.txt
"""
_BOMB = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
SLEEP = "#!/bin/bash\ntouch /logs/artifacts/begun\nsleep 600\n"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks that go wrong, each in its own way, beside the demo's."""
    folder = tmp_path_factory.mktemp("hub")
    (folder / "datasets").mkdir()
    (folder / "datasets" / "rl-explorer").symlink_to(demo_hub() / "datasets" / "rl-explorer")
    write_task(folder, "plain", {})
    write_task(
        folder,
        "started",
        {"environment/begin.sh": '#!/bin/sh\necho yes > /app/done\nexec "$@"\n', "solution/solve.sh": "#!/bin/bash\n"},
        dockerfile='FROM debian:12\nWORKDIR /app\nCOPY --chmod=755 begin.sh /begin.sh\nENTRYPOINT ["/begin.sh"]\n',
    )
    write_task(folder, "no-reward", {"tests/test.sh": "#!/bin/bash\necho nothing\n"})
    write_task(folder, "bad-reward", {"tests/test.sh": "#!/bin/bash\necho pass > /logs/verifier/reward.txt\n"})
    write_task(folder, "no-shell", {"tests/test.sh": "#!/no/such/shell\n"})
    write_task(folder, "slow-grader", {"tests/test.sh": SLEEP}, toml="")
    write_task(folder, "slow-start", {}, toml='[environment.healthcheck]\ncommand = "sleep 600"\ntimeout_sec = 600\n')
    write_task(folder, "much-to-keep", {"tests/test.sh": MUCH})
    write_task(folder, "slow-agent", {"solution/solve.sh": SLEEP})
    write_task(folder, "slow-build", {}, dockerfile="FROM python:3.12-slim\nWORKDIR /app\nRUN sleep 600\n")
    write_task(folder, "broken-build", {}, dockerfile="FROM python:3.12-slim\nWORKDIR /app\nRUN echo why; exit 3\n")
    write_task(
        folder,
        "scores",
        {"tests/test.sh": '#!/bin/bash\necho \'{"style": 0.5, "speed": 0.25}\' > /logs/verifier/reward.json\n'},
    )
    forging = "(while true; do echo 1 > /logs/verifier/reward.txt; done) > /dev/null 2>&1 &\n"
    planting = "echo 1 > /logs/verifier/reward.json\n"
    write_task(
        folder,
        "forger",
        {
            "solution/solve.sh": f"#!/bin/bash\n{planting}{forging}",
            "tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\nsleep 0.3\n",
        },
    )
    one = {f"steps/one/{path}": text for path, text in {"instruction.md": "# One\n", "tests/test.sh": _TELLING}.items()}
    write_task(folder, "secret-steps", one, toml=_STEPS)
    barrier = "#!/bin/bash\nmkdir -p /logs/verifier/reward.json/x /logs/verifier/reward.txt\n"
    write_task(folder, "barrier", {"solution/solve.sh": barrier})
    for name, toml in _SECRETS.items():
        write_task(folder, f"secret-{name}", {"tests/test.sh": _TELLING, "solution/solve.sh": _TELLING}, toml=toml)
    return folder


_STEPS = """
[environment.env]
THERE = "${API_TOKEN}"
[[steps]]
name = "one"
[steps.verifier.env]
GIVEN = "${API_TOKEN}"
MINE = "${HF_TOKEN}"
WHERE = "${PATH:-unset}"
"""
_TELLING = "#!/bin/bash\nenv\necho coded $(echo -n $GIVEN | base64)\necho 0 > /logs/verifier/reward.txt\n"
_SECRETS = {
    "environment": '[environment.env]\nTOLD = "${HF_TOKEN:-unset}"\nWHERE = "${PATH:-unset}"\n',
    "verifier": '[verifier.env]\nTOLD = "${HF_TOKEN:-unset}"\nWHERE = "${PATH:-unset}"\n',
    "solution": '[solution.env]\nTOLD = "${HF_TOKEN}"\nWHERE = "${PATH:-unset}"\n',
}


@pytest.fixture(scope="module")
def here(hub: Path, tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]) -> Iterator[Machine]:
    """With one worker for all tests of the module."""
    require_tool("bwrap")
    with machine(hub, tmp_path_factory.mktemp("machine")) as made:
        made.work(slots=3)
        yield made
        until(lambda: left_behind(made) == [])


def left_behind(made: Machine) -> list[str]:
    """What rollouts left on the disk and among the processes, once none runs."""
    cache = made.settings.cache_dir
    boxes = [str(path) for path in (cache / "sandboxes" / "boxes").glob("*")]
    folders = [str(path) for path in (cache / "work").glob("*/*")]
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(cache) in line]
    return [*boxes, *folders, *mounts]


def test_what_an_image_starts_is_started(here: Machine) -> None:
    assert here.run("tasks/started", "nop").reward == 1.0


@pytest.mark.parametrize("task", ["fix-median", "sales-figures", "stock-take", "tidy-config", "word-counter"])
def test_the_oracle_earns_the_full_reward_and_nothing_of_its_work_is_kept(here: Machine, task: str) -> None:
    done = here.run(f"tasks/{task}", "oracle", env=DEMO)

    assert (done.status, done.reward, done.graded, done.failure) == ("done", 1.0, True, None)
    assert here.files(done) == {}
    assert {event.kind for event in here.events(done)} <= {"status", "stage", "note", "checks", "log"}
    assert not any(event.kind == "log" and event.data.get("source") != "build" for event in here.events(done))


@pytest.mark.parametrize("task", ["fix-median", "stock-take"])
def test_doing_nothing_earns_less(here: Machine, task: str) -> None:
    done = here.run(f"tasks/{task}", "nop", env=DEMO)

    assert done.graded
    assert done.reward is not None
    assert done.reward < 1
    assert [phase.stage for phase in done.phases][:3] == ["provision", "prepare", "agent"]
    assert done.phases[-1].stage == "close"
    assert all(phase.finished_at is not None for phase in done.phases)


@pytest.mark.parametrize("agent", ["simple", "terminus-2"])
def test_an_agent_with_the_right_script_earns_the_reward_and_its_calls_are_told(here: Machine, agent: str) -> None:
    done = here.run("tasks/tidy-config", agent, env=DEMO, model=scripted("solve"))

    events = here.events(done)
    kinds = [event.kind for event in events]
    assert (done.status, done.reward, done.graded) == ("done", 1.0, True)
    assert kinds.count("call") >= 2
    assert kinds.count("output") >= 2
    assert done.usage.tool_calls == kinds.count("call")
    assert done.usage.model_calls == kinds.count("usage")
    assert done.usage.tokens_in is not None
    assert done.cost is None
    assert json.loads(here.files(done)["trajectory.json"])["agent"]["name"] == agent
    assert [event.n for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("agent", ["simple", "terminus-2"])
def test_an_agent_with_the_wrong_script_earns_nothing(here: Machine, agent: str) -> None:
    done = here.run("tasks/tidy-config", agent, env=DEMO, model=scripted("wrong"))

    assert (done.status, done.reward, done.graded) == ("done", 0.0, True)


def test_calls_of_the_model_are_bounded(here: Machine) -> None:
    done = here.run("tasks/tidy-config", "simple", env=DEMO, model=scripted("solve"), fields={"max_calls": 1})

    assert done.usage.model_calls == 1
    assert done.reward == 0.0


@pytest.mark.parametrize(
    ("task", "cause", "kind"),
    [
        ("no-reward", "verifier", "no-reward"),
        ("bad-reward", "verifier", "bad-reward"),
        ("no-shell", "verifier", "verifier-missing"),
        ("broken-build", "task", "environment"),
    ],
)
def test_failures_are_told_apart_and_are_no_reward(here: Machine, task: str, cause: str, kind: str) -> None:
    done = here.run(f"tasks/{task}", "nop")

    assert done.failure is not None
    assert (done.status, done.failure.cause, done.failure.kind) == ("failed", cause, kind)
    assert (done.reward, done.graded) == (None, False)
    assert str(here.settings.cache_dir) not in here.everything(done)


def test_a_failed_build_is_told_with_its_line_and_output(here: Machine) -> None:
    done = here.run("tasks/broken-build", "nop")

    assert done.failure is not None
    assert "Line 3" in done.failure.message
    assert "why" in done.failure.message


def test_of_several_scores_one_can_be_chosen(here: Machine) -> None:
    unchosen = here.run("tasks/scores", "nop")
    chosen = here.run("tasks/scores", "nop", fields={"reward_key": "style"})
    unknown = here.run("tasks/scores", "nop", fields={"reward_key": "grace"})

    assert dict(unchosen.rewards) == {"style": 0.5, "speed": 0.25}
    assert (unchosen.reward, unchosen.graded) == (None, False)
    assert unchosen.failure is not None
    assert unchosen.failure.kind == "no-headline"
    assert (chosen.reward, chosen.reward_key, chosen.graded) == (0.5, "style", True)
    assert (unknown.reward, unknown.graded) == (None, False)


def test_a_folder_in_the_place_of_the_reward_does_not_save_an_agent_from_its_grading(here: Machine) -> None:
    done = here.run("tasks/barrier", "oracle")

    assert (done.status, done.reward, done.graded) == ("done", 0.0, True)


def test_neither_a_planted_reward_nor_a_process_that_writes_one_counts(here: Machine) -> None:
    done = here.run("tasks/forger", "oracle")

    assert (done.status, done.reward, done.graded) == ("done", 0.0, True)


@pytest.mark.parametrize("where", ["environment", "verifier"])
def test_a_task_reads_no_variable_of_this_machine(here: Machine, where: str) -> None:
    done = here.run(f"tasks/secret-{where}", "nop")

    told = here.files(done)["verifier/" + next(name for name in _names(here, done) if "stdout" in name)].decode()
    assert "TOLD=unset" in told
    assert "WHERE=unset" in told
    assert CANARY not in here.everything(done)


def test_a_variable_that_the_rollout_was_not_given_is_asked_for_by_name(here: Machine) -> None:
    with pytest.raises(BadInput, match="reads HF_TOKEN, which was not given"):
        here.start("tasks/secret-solution", "oracle")


def test_variables_that_were_given_reach_every_table_of_a_task_and_no_file(here: Machine) -> None:
    given = {"API_TOKEN": "RLX-CANARY-GIVEN-TO-ONE", "HF_TOKEN": "RLX-CANARY-OF-A-PERSON"}
    done = here.run("tasks/secret-steps", "nop", variables=given)

    assert (done.status, done.reward, done.failure) == ("done", 0.0, None)
    told = next(data for name, data in here.files(done).items() if "stdout" in name).decode()
    for line in ("GIVEN=[secret]", "THERE=[secret]", "MINE=[secret]", "WHERE=unset", "coded [secret]"):
        assert line in told, line
    until(lambda: left_behind(here) == [])
    kept = here.everything(done) + "".join(
        path.read_text("utf-8", "replace")
        for folder in (here.settings.store, here.settings.cache_dir / "rollouts", here.settings.cache_dir / "work")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert not any(value in kept for value in (*given.values(), CANARY, "UkxYLUNBTkFSWS1"))


def _names(here: Machine, done: Rollout) -> list[str]:
    return [name.removeprefix("verifier/") for name in here.files(done)]


@pytest.mark.parametrize(
    ("task", "agent", "stage"),
    [
        ("slow-build", "nop", "provision"),
        ("slow-start", "nop", "prepare"),
        ("slow-agent", "oracle", "agent"),
        ("slow-grader", "nop", "verify"),
    ],
)
def test_a_rollout_is_stopped_at_any_stage_and_leaves_nothing(here: Machine, task: str, agent: str, stage: str) -> None:
    begun = here.start(f"tasks/{task}", agent)
    until(lambda: here.find(begun).stage == stage)

    here.services.rollouts().queue.stop(begun.id)

    done = here.ended(begun)
    assert (done.status, done.graded) == ("cancelled", False)
    assert done.failure is not None
    assert (done.failure.cause, done.failure.kind) == ("person", "cancelled")
    until(lambda: left_behind(here) == [])


def test_a_rollout_that_is_stopped_while_its_files_are_kept_ends_and_leaves_nothing(here: Machine) -> None:
    begun = here.start("tasks/much-to-keep", "nop")
    until(lambda: here.find(begun).stage == "close")

    here.services.rollouts().queue.stop(begun.id)

    done = here.ended(begun)
    kept = here.files(done)
    assert done.status in {"cancelled", "done"}  # which it was, as it is told
    assert here.events(done)[-1].data["status"] == done.status
    until(lambda: left_behind(here) == [])
    assert here.files(done) == kept


def test_the_key_of_an_endpoint_reaches_the_model_and_no_file(here: Machine) -> None:
    key = "sk-RLXCANARYkeyOfSomebody"
    with endpoint(_model()) as (url, heard):
        own = ModelAsked("endpoint", "org/model", base_url=url, api_key=key, dollars_in=1.0, dollars_out=1.0)
        done = here.run("tasks/plain", "simple", model=own)

    assert (done.reward, done.graded) == (1.0, True)
    assert [call["model"] for call in heard] == ["org/model"] * 2
    assert {call["key"] for call in heard} == {f"Bearer {key}"}
    assert done.model is not None
    assert done.model.host == url.removeprefix("http://").removesuffix("/v1")
    assert done.cost == pytest.approx(2 * 1_000_000 / 1_000_000)
    kept = here.everything(done) + "".join(
        path.read_text("utf-8", "replace")
        for folder in (here.settings.store, here.settings.cache_dir / "rollouts", here.settings.cache_dir / "work")
        for path in folder.rglob("*")
        if path.is_file()
    )
    assert key not in kept


def test_at_its_ceiling_an_agent_is_stopped_and_what_it_did_is_graded(here: Machine) -> None:
    with endpoint(_model()) as (url, heard):
        own = ModelAsked("endpoint", "m", base_url=url, api_key="sk-key", dollars_in=1.0, dollars_out=1.0)
        done = here.run("tasks/plain", "simple", model=own, fields={"max_dollars": 0.5})

    assert len(heard) == 1
    assert done.failure is not None
    assert (done.failure.cause, done.failure.kind) == ("limit", "cost")
    assert "$1 of the $0.5" in done.failure.message
    assert (done.status, done.graded, done.reward, done.cost) == ("done", True, 1.0, 1.0)
    assert [phase.stage for phase in done.phases] == ["provision", "prepare", "agent", "verify", "close"]


def test_a_model_that_refuses_is_told_as_such(here: Machine) -> None:
    with endpoint(lambda body: (401, b'{"error": {"message": "no such key"}}')) as (url, _):
        own = ModelAsked("endpoint", "m", base_url=url, api_key="sk-key-that-is-wrong")
        done = here.run("tasks/plain", "simple", model=own)

    assert done.failure is not None
    assert (done.status, done.failure.cause) == ("failed", "model")
    assert "401" in done.failure.message
    assert (done.reward, done.graded) == (None, False)


def test_a_model_of_inference_providers_solves_a_task_and_its_price_gives_the_cost(here: Machine) -> None:
    routed = ModelAsked("router", "scripted/solve:thrifty")
    done = here.run("tasks/tidy-config", "simple", env=DEMO, model=routed, fields={"max_dollars": 0.5})

    assert (done.status, done.reward, done.graded) == ("done", 1.0, True)
    assert done.model is not None
    assert (done.model.id, done.model.provider, done.model.route) == ("scripted/solve", "router", "thrifty")
    assert done.usage.tokens_in is not None
    assert done.usage.tokens_out is not None
    assert done.cost == pytest.approx((done.usage.tokens_in * 0.2 + done.usage.tokens_out * 0.6) / 1e6)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b" " * 50 * 2**20, "larger"),
        (json.dumps({"choices": [{"message": {"tool_calls": [_BOMB] * 10_000}}]}).encode(), "tools at once"),
    ],
)
def test_a_model_that_means_harm_ends_its_rollout_as_a_fault_of_the_model(
    here: Machine, said: bytes, told: str
) -> None:
    with endpoint(lambda body: (200, said)) as (url, _):
        done = here.run("tasks/plain", "simple", model=ModelAsked("endpoint", "m", base_url=url))

    assert done.failure is not None
    assert (done.status, done.failure.cause, done.graded, done.reward) == ("failed", "model", False, None)
    assert told in done.failure.message


def _model() -> Told:
    """Has `simple` write the answer at the first call; every call counts half a million tokens, either way."""
    command = json.dumps({"command": "echo yes > /app/done"})
    calls = [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": command}}]
    messages: Iterator[dict[str, Any]] = chain([{"tool_calls": calls}], repeat({}))
    usage = {"prompt_tokens": 500_000, "completion_tokens": 500_000}

    def told(body: Mapping[str, Any]) -> tuple[int, bytes]:
        message = {"role": "assistant", "content": "done", **next(messages)}
        answer = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        return 200, json.dumps(answer).encode()

    return told


def test_eight_at_once_are_all_graded(here: Machine) -> None:
    begun = [here.start("tasks/plain", "oracle" if place % 2 else "nop") for place in range(8)]

    done = [here.ended(rollout) for rollout in begun]

    assert [rollout.reward for rollout in done] == [0.0, 1.0] * 4
    assert all(rollout.graded for rollout in done)


def test_a_killed_worker_leaves_a_true_state_and_nothing_else(
    hub: Path, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("bwrap")
    with machine(hub, tmp_path) as made:
        first = made.work()
        agent = made.start("tasks/slow-agent", "oracle")
        build = made.start("tasks/slow-build", "nop")
        waiting = made.start("tasks/plain", "oracle")
        until(lambda: made.find(agent).stage == "agent" and made.find(build).stage == "provision")

        os.kill(first.pid, signal.SIGKILL)
        first.wait(30)
        made.work()

        interrupted = made.ended(agent)
        assert (interrupted.status, interrupted.graded) == ("interrupted", False)
        assert made.ended(waiting).reward == 1.0
        until(lambda: made.find(build).attempt == 2 and made.find(build).stage == "provision")
        made.services.rollouts().queue.stop(build.id)
        assert made.ended(build).status == "cancelled"
        until(lambda: left_behind(made) == [])
