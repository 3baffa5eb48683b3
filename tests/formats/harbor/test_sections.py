"""The page of a task: complete, in a fixed order, in plain sentences, without answers."""

from collections.abc import Callable
from typing import Any

import pytest

from rlx.formats.harbor.facts import facts_in, facts_out
from rlx.formats.harbor.reader import HarborReader
from rlx.formats.harbor.sections import open_record
from rlx.index.records import TaskRecord
from rlx.model import Prompt

type Files = dict[str, str | bytes]
type Read = Callable[[Files], TaskRecord]
type Show = Callable[..., str]

STEPS = """
artifacts = ["/app/out"]
multi_step_reward_strategy = "final"
[[steps]]
name = "plan"
min_reward = 0.5
[steps.agent]
timeout_sec = 60
[[steps]]
name = "build"
[steps.healthcheck]
command = "test -f /app/plan"
[steps.verifier.env]
EXPECTED_GREETING = "ZEBRA-SECRET"
"""


def ids(record: TaskRecord) -> list[str]:
    return [section.id for section in HarborReader().task_view(record).sections]


def steps(simple: Files) -> Files:
    files = {**simple, "task.toml": STEPS}
    for name in ("plan", "build"):
        files |= {
            f"steps/{name}/instruction.md": f"Now {name}.",
            f"steps/{name}/tests/test.sh": "source /tests/helpers.sh",
            f"steps/{name}/solution/solve.sh": "echo ZEBRA-SECRET",
        }
    files["steps/build/workdir/setup.sh"] = "touch x"
    files["tests/helpers.sh"] = "echo $1 > /logs/verifier/reward.txt"
    return files


def test_sections_come_in_a_fixed_order(simple: Files, read_task: Read) -> None:
    assert ids(read_task(simple)) == ["prompt", "grading", "environment", "configuration", "metadata", "files"]


def test_a_task_of_steps_has_a_section_for_each(simple: Files, read_task: Read) -> None:
    assert ids(read_task(steps(simple)))[:4] == ["steps", "step-1", "step-2", "grading"]


def test_a_task_of_many_steps_folds_them_into_one_section(simple: Files, read_task: Read) -> None:
    names = [f"s{n}" for n in range(20)]
    files = {**simple, "task.toml": "".join(f'[[steps]]\nname = "{name}"\n' for name in names)}
    files |= {f"steps/{name}/instruction.md": f"Do {name}." for name in names}
    assert ids(read_task(files))[:2] == ["steps", "grading"]


def test_the_prompt_is_what_the_agent_gets_and_says_what_it_does_not_get(simple: Files, read_task: Read) -> None:
    simple["instruction.md"] = "<!-- canary GUID 7 -->\r\n\r\nDo <b>this</b> {{ now }}.\r\n"
    section = HarborReader().task_view(read_task(simple)).sections[0]
    prompt, newlines, dropped = section.blocks
    assert isinstance(prompt, Prompt)
    assert prompt.text == "Do <b>this</b> {{ now }}.\n"
    told: Any = (newlines, dropped)
    assert [note.text.key for note in told] == ["harbor.prompt.newlines", "harbor.prompt.dropped"]
    assert told[1].detail == "<!-- canary GUID 7 -->"


@pytest.mark.parametrize("size", [0, 1, 62_604])
def test_instructions_of_any_size_are_shown_whole(simple: Files, page: Show, size: int) -> None:
    instruction = ("word " * (size // 5 + 1))[:size]
    text = page({**simple, "instruction.md": instruction})
    assert "The instruction is empty" in text if size == 0 else instruction in text


def test_an_instruction_that_is_no_utf8_is_shown_and_said(simple: Files, page: Show) -> None:
    text = page({**simple, "instruction.md": "Größe".encode("latin-1")})
    assert "Gr��e" in text
    assert "The file is not UTF-8. Harbor cannot read it" in text


def test_grading_is_told_in_sentences_then_shown(simple: Files, page: Show) -> None:
    text = page({**simple, "task.toml": '[verifier]\nuser = "root"\ntimeout_sec = 900'})
    assert "1. After the agent stops, Harbor runs tests/test.sh as root, for at most 15 minutes." in text
    assert "2. It uses tests/test_state.py." in text
    assert "3. Tests run with pytest." in text
    assert text.index("Tests run with pytest") < text.index("`tests/test.sh`")


def test_a_separate_grader_says_what_it_is_made_from_and_what_it_gets(simple: Files, page: Show) -> None:
    settings = (
        'artifacts = ["/app/out.json"]\n[verifier]\nenvironment_mode = "separate"\n[verifier.environment]\ncpus = 3\n'
    )
    text = page({**simple, "task.toml": settings, "tests/Dockerfile": "FROM python:3.11\n"})
    assert "The grader has an environment of its own, made from tests/Dockerfile." in text
    assert "Of the agent's work it gets /logs/artifacts and /app/out.json, nothing else." in text
    assert "tests/Dockerfile: python:3.11" in text


def test_what_the_agent_wakes_up_in_is_told(simple: Files, page: Show) -> None:
    settings = '[agent]\nuser = "agent"\n[environment]\ncpus = 2\nmemory = "4G"\nallow_internet = false\n'
    text = page({**simple, "task.toml": settings})
    for line in (
        "- Base: `python:3.12-slim` (environment/Dockerfile, line 1)",
        "- Folder: `/app` (environment/Dockerfile)",
        "- User: `agent` (task.toml)",
        "- Network: none, in every phase",
        "- CPUs: 2",
        "- Memory: 4,096 MB",
    ):
        assert line in text


def test_an_image_beside_a_dockerfile_is_said(simple: Files, page: Show) -> None:
    assert "Two environments are declared" in page({**simple, "task.toml": '[environment]\ndocker_image = "a:1"'})


def test_configuration_shows_what_is_written_and_what_it_is_read_as(simple: Files, page: Show) -> None:
    settings = '[agent]\ntimeout_sec = 90\nkwargs = { a = 1 }\n[environment]\nmemory = "2GB"\n'
    text = page({**simple, "task.toml": settings})
    assert "- `agent.timeout_sec`: `90` (in force: 90 seconds)" in text
    assert "- `verifier.timeout_sec`: absent (in force: 10 minutes)" in text
    assert "environment.memory: Harbor reads sizes such as 4G, 512M or 64K only." in text
    assert "- `agent.kwargs" not in text
    assert "Keys that Harbor does not know, the dataset's own" in text


@pytest.mark.parametrize(
    ("review", "said"),
    [
        (None, "Not asked: Harbor has not answered yet, or is not installed here (pip install "),
        ({"harbor": "0.25.0", "loads": True, "why": None}, "Harbor 0.25.0 loads it."),
        (
            {"harbor": "0.25.0", "loads": False, "why": "task.name: no org"},
            "Harbor 0.25.0 does not load it: task.name: no org",
        ),
    ],
)
def test_harbors_own_verdict_is_shown(simple: Files, page: Show, review: Any, said: str) -> None:
    assert said in page(simple, review)


def test_a_task_that_harbor_refuses_is_shown_whole_with_the_reason_on_top(simple: Files, page: Show) -> None:
    text = page(simple, {"harbor": "0.25.0", "loads": False, "why": "task.name: no org"})
    assert text.index("Harbor would not load this task.") < text.index("## Prompt")
    assert "Harbor would not load it. Harbor 0.25.0: task.name: no org" in text
    assert "Sort the numbers" in text


def test_settings_that_do_not_parse_show_the_line_and_everything_else(simple: Files, page: Show) -> None:
    text = page({**simple, "task.toml": '[metadata]\ntags = ["a"]\ndifficulty = {{ level }}\n'})
    assert "cannot be parsed: Invalid initial character for a key part, at line 3, column 15." in text
    assert "difficulty = {{ level }}" in text
    assert "Sort the numbers" in text
    assert "After the agent stops, Harbor runs tests/test.sh." in text
    assert "Build limit" not in text


def test_a_folder_that_is_no_harbor_task_is_readable(page: Show) -> None:
    files: Files = {
        "task.toml": '[metadata]\nname = "book"\ntier = 1\n[[metadata.pass_rates]]\nmodel = "m"\nvalue = 0.5\n',
        "instruction.md": "Book a room.",
        "db.json": "{}",
        "gold.json": '[{"name": "ZEBRA-SECRET"}]',
    }
    text = page(files)
    assert "It is no runnable Harbor task: it has no tests/test.sh or environment/." in text
    assert "Book a room." in text
    assert '"model": "m"' in text
    assert "- `gold.json`: withheld." in text
    assert "ZEBRA-SECRET" not in text


def test_steps_are_told_with_their_gates_and_no_answers(simple: Files, page: Show) -> None:
    text = page(steps(simple))
    assert "The agent works through 2 steps, one after the other, in one environment." in text
    assert "The reward is the last step's." in text
    assert "The next step begins only when reward is at least 0.5." in text
    assert "- Ready when: `test -f /app/plan` (asked every 5 seconds, 3 times)" in text
    assert "workdir/setup.sh, before the agent starts" in text
    assert text.count("echo $1 > /logs/verifier/reward.txt") == 1
    assert "ZEBRA-SECRET" not in text


def test_addresses_of_people_are_not_metadata_rows(simple: Files, page: Show) -> None:
    text = page({**simple, "task.toml": '[metadata]\nauthor_name = "Ada"\nauthor_email = "ada@example.org"\n'})
    assert "- author name: Ada" in text
    assert "- author email" not in text


def test_facts_survive_the_store(simple: Files, read_task: Read) -> None:
    for files in (simple, steps(simple), {**simple, "task.toml": "a = {b}"}):
        facts = open_record(read_task(files))[1].facts
        assert facts_in(facts_out(facts)) == facts


def test_what_is_kept_of_a_task_holds_no_answer(simple: Files, read_task: Read) -> None:
    files = steps(simple)
    files["environment/bug.patch"] = "+ZEBRA-SECRET"
    files["tests/expected.json"] = '{"x": "ZEBRA-SECRET"}'
    files["tests/test_state.py"] = 'EXPECTED = "ZEBRA-SECRET"\n'
    files["task.toml"] = f'{STEPS}\n[metadata]\ngold_answer = "ZEBRA-SECRET"\n'
    record = read_task(files)
    assert "ZEBRA-SECRET" not in repr(record)
    assert {"environment/bug.patch", "tests/expected.json"} <= {item.where for item in record.withheld}


def test_many_withheld_files_of_a_folder_are_named_together(simple: Files, read_task: Read) -> None:
    files = {**simple, **{f"solution/{n}.txt": "x" for n in range(9)}}
    assert "solution/ (10)" in {item.where for item in read_task(files).withheld}
