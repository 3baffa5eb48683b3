"""Judges, and checks of the health of tasks, from end to end: one worker, Harbor's trials, local sandboxes."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlx.agents import scripted
from rlx.demo import demo_hub
from rlx.errors import BadInput
from rlx.health.trials import Trials, Wanted
from rlx.ids import parse_key
from rlx.runners.asked import ModelAsked
from rlx.runners.launch import Launcher
from rlx.store.health import HealthStore, TaskHealth
from rlx.store.rollouts.query import Filters
from rlx.store.storage import open_storage
from tests.endpoints import endpoint
from tests.jobs.machine import ME, Machine, machine, until, write_task

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300), pytest.mark.xdist_group("proved")]

KEY = parse_key("acme/tasks")
REAL = "sk-the-key-of-somebody"
_ASKING = """#!/bin/bash
env
echo coded $(printf %s "$OPENAI_API_KEY" | base64)
printf '\\0%s' "$OPENAI_API_KEY" > /logs/verifier/bytes.bin
cp /logs/verifier/bytes.bin /logs/artifacts/
python3 /tests/ask.py
"""
_ASK = """
import json, os, pathlib, urllib.error, urllib.request

DONE = pathlib.Path("/app/done")
PROMPT = "## Rubric\\n\\n- `yes`\\n\\n## Text\\n\\n" + (DONE.read_text() if DONE.exists() else "")
CHAT = {"messages": [{"role": "user", "content": PROMPT}], "model": "m", "max_tokens": 50}

def ask(path, base):
    told = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, json.dumps(CHAT).encode(), told)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}

status, said = ask("/chat/completions", os.environ["OPENAI_BASE_URL"])
other, spoken = ask("/v1/messages", os.environ["ANTHROPIC_BASE_URL"])
third, _ = ask("/chat/completions", os.environ["OPENAI_BASE_URL"])
print("statuses", status, other, third)
score = json.loads(said["choices"][0]["message"]["content"])["score"]
same = json.loads(spoken["content"][0]["text"])["score"]
open("/logs/verifier/reward.txt", "w").write(str(min(score, same)))
"""
_JUDGED = """
[verifier.env]
OPENAI_API_KEY = "${OPENAI_API_KEY}"
[environment]
network_mode = "no-network"
[environment.env]
OPENAI_API_KEY = "${OPENAI_API_KEY}"
"""
_SAME = {"judge": "same"}
_CAPABILITY = re.compile(r"j[0-9a-f]{40}")
_ONLY_WITHOUT = '#!/bin/bash\n[ -z "$OPENAI_API_KEY" ] && echo yes > /app/done\n'


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    (folder / "datasets").mkdir()
    (folder / "datasets" / "rl-explorer").symlink_to(demo_hub() / "datasets" / "rl-explorer")
    asking = {"tests/test.sh": _ASKING, "tests/ask.py": _ASK, "solution/solve.sh": _ONLY_WITHOUT}
    write_task(folder, "judged", asking, toml=_JUDGED)
    write_task(folder, "sound", {})
    write_task(folder, "given", {"tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"})
    write_task(folder, "unsolved", {"solution/solve.sh": "#!/bin/bash\ntrue\n"})
    write_task(folder, "lucky", {"tests/test.sh": "#!/bin/bash\necho 0.$(date +%N) > /logs/verifier/reward.txt\n"})
    write_task(folder, "unbuilt", {}, dockerfile="FROM python:3.12-slim\nRUN exit 3\n")
    write_task(folder, "elsewhere", {}, dockerfile="FROM alpine:3.22\n")
    return folder


@pytest.fixture(scope="module")
def here(hub: Path, tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]) -> Iterator[Machine]:
    require_tool("bwrap")
    with machine(hub, tmp_path_factory.mktemp("machine")) as made:
        made.work(slots=3)
        yield made


def scripted_model(body: Mapping[str, Any]) -> tuple[int, bytes]:
    """The agent's calls follow the script, the judge's are judged."""
    return 200, json.dumps(scripted.answer({**body, "model": "solve" if body.get("tools") else "judge"})).encode()


def test_a_task_that_a_model_grades_is_graded_by_the_judge_that_was_chosen(here: Machine) -> None:
    with pytest.raises(BadInput, match="no judge"):
        here.start("tasks/release-note", "oracle", env="rl-explorer/model-graded")
    done = here.run("tasks/release-note", "oracle", env="rl-explorer/model-graded", fields={"judge": "scripted"})

    assert (done.status, done.reward, done.judge_calls) == ("done", 1.0, 1)
    assert done.judge is not None
    assert done.judge_usage.tokens_in
    assert done.judge_cost is None


def test_without_a_network_graders_reach_the_judge_alone_as_often_as_they_may(here: Machine) -> None:
    done = here.run("tasks/judged", "oracle", fields={"judge": "scripted", "judge_calls": 2})

    assert (done.reward, done.judge_calls, done.failure) == (1.0, 2, None)


def test_no_key_is_in_a_sandbox_and_the_capability_in_no_record(here: Machine) -> None:
    with endpoint(scripted_model) as (url, heard):
        own = ModelAsked("endpoint", "org/model", url, REAL, 1.0, 1.0)
        done = here.run("tasks/tidy-config", "simple", env="rl-explorer/first-steps", model=own)
        assert done.judge_calls is None
        done = here.run("tasks/release-note", "simple", env="rl-explorer/model-graded", model=own, fields=_SAME)
        asked = here.run("tasks/judged", "simple", model=own, fields=_SAME)

    kept = here.everything(asked)
    assert {call["key"] for call in heard} == {f"Bearer {REAL}"}
    assert (done.reward, done.judge_calls) == (1.0, 1)
    assert done.judge_cost is not None
    assert done.judge_cost > 0
    assert "OPENAI_API_KEY=[" in kept
    assert "coded [secret]" in kept
    assert "statuses" in kept
    assert REAL not in kept + here.everything(done)
    assert not _CAPABILITY.search(kept)


def check(here: Machine, refs: Sequence[str], **wanted: Any) -> Mapping[str, TaskHealth]:
    told: list[str] = []
    trials = Trials(
        KEY,
        revision(here),
        Launcher(here.services),
        here.services.rollouts(),
        HealthStore(open_storage(here.settings.store)),
        ME,
        Wanted(at_once=3, **wanted),
    )
    found = here.portal.call(trials.check, refs, lambda task, known: told.append(task.ref))
    assert sorted(told) == sorted(refs)
    return {task.ref.removeprefix("tasks/"): task for task in found}


def revision(here: Machine) -> str:
    return here.portal.call(here.services.library.info, KEY, ME).sha or ""


def runs(here: Machine) -> int:
    return here.services.rollouts().views.page(Filters(), ME, limit=1).total


def test_tasks_are_proven_and_what_is_known_at_a_revision_is_not_run_again(here: Machine, hub: Path) -> None:
    names = ("sound", "given", "unsolved", "lucky", "unbuilt", "elsewhere", "judged")
    refs = [f"tasks/{name}" for name in names]
    found = check(here, refs, times=2)

    assert {name: (task.state, task.reason) for name, task in found.items()} == {
        "sound": ("proven", None),
        "given": ("broken", "floor-equal"),
        "unsolved": ("broken", "oracle-below"),
        "lucky": ("broken", "flaky"),
        "unbuilt": ("unproven", "environment"),
        "elsewhere": ("unproven", "cannot-run"),
        "judged": ("unproven", "no-judge"),
    }
    assert [len(found["sound"].of(agent)) for agent in ("oracle", "nop")] == [2, 2]
    assert len(found["unbuilt"].trials) == 1

    before = runs(here)
    settled = [f"tasks/{name}" for name in ("sound", "given", "unsolved", "lucky")]
    check(here, settled, times=2)
    check(here, settled, times=1)
    assert runs(here) == before
    check(here, ["tasks/sound"], times=3)
    assert runs(here) == before + 2
    check(here, ["tasks/sound"], times=1, again=True)
    assert runs(here) == before + 4

    known = HealthStore(open_storage(here.settings.store)).read(KEY)
    was = revision(here)
    write_task(hub, "late", {})
    until(lambda: revision(here) != was)
    assert known.at(revision(here)) == {}
    text = known.model_dump_json()
    assert "solve.sh" not in text
    assert "/app/done" not in text
