"""How a task is graded is read from its scripts and settings."""

import tomllib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.grading import Grading, Judge, read_grading
from rlx.formats.harbor.scores import score_names
from rlx.formats.harbor.settings import read_settings

REWARD = "/logs/verifier/reward"


def grade(texts: Mapping[str, str], settings: str = "") -> Grading:
    return read_grading(read_settings(tomllib.loads(settings)), list(texts), texts)


def test_one_or_nothing_is_told_from_a_number() -> None:
    whole = grade({"tests/test.sh": f"if pytest; then\necho 1 > {REWARD}.txt\nelse\n  echo '0.0' > {REWARD}.txt\nfi"})
    assert (whole.kind, whole.whole, whole.runners) == ("one", True, ("pytest",))
    number = grade({"tests/test.sh": f"echo 0 > {REWARD}.txt\necho $SCORE > {REWARD}.txt"})
    assert (number.kind, number.whole) == ("one", False)


def test_named_scores_win_over_one_score() -> None:
    found = grade({"tests/test.sh": f'echo 1 > {REWARD}.txt\necho \'{{"speed": 0.5, "size": 1}}\' > {REWARD}.json'})
    assert found.kind == "named"
    assert found.rewards == ("reward.json", "reward.txt")
    assert found.scores == ("speed", "size")


def test_a_reward_json_with_nothing_but_reward_is_one_score() -> None:
    assert grade({"tests/test.sh": f"echo '{{\"reward\": 1}}' > {REWARD}.json"}).kind == "one"


def test_no_script_is_no_grader_and_a_silent_script_is_unknown() -> None:
    assert grade({"instruction.md": "Do"}).kind == "none"
    assert grade({"tests/test.sh": "make check"}).kind == "unknown"


def test_a_script_that_was_listed_and_not_read_is_unknown() -> None:
    found = read_grading(read_settings({}), ["tests/test.sh"], {})
    assert (found.entry, found.scripts, found.kind) == ("tests/test.sh", (), "unknown")


def test_called_scripts_are_followed_to_the_reward() -> None:
    texts = {
        "tests/test.sh": 'exec /tests/shared_test.sh "$@"',
        "tests/shared_test.sh": f"python /tests/grader.py --output {REWARD}.json",
        "tests/grader.py": "import json\nimport rules\nreward = {'reward': x, 'accuracy': y, 'note': 'text'}\n"
        "args.output.write_text(json.dumps(reward))\n",
        "tests/rules.py": "LIMIT = 3\n",
        "tests/unrelated.py": "",
    }
    found = grade(texts)
    assert found.scripts == ("tests/test.sh", "tests/shared_test.sh", "tests/grader.py", "tests/rules.py")
    assert found.scores == ("reward", "accuracy")


def test_comments_call_nothing() -> None:
    texts = {"tests/test.sh": f"# see helper.py\necho 1 > {REWARD}.txt", "tests/helper.py": ""}
    assert grade(texts).scripts == ("tests/test.sh",)


def test_a_bare_pytest_runs_the_test_modules() -> None:
    texts = {"tests/test.sh": "cd /tests && pytest -q", "tests/test_a.py": "", "tests/conftest.py": ""}
    assert grade(texts).scripts == ("tests/test.sh", "tests/test_a.py")


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("npx mocha a.spec.ts", "mocha"),
        ("pnpm vitest run", "vitest"),
        ("cargo test --locked", "cargo test"),
        ("go test ./...", "go test"),
        ("npm test", "npm test"),
        ("node --test", "node --test"),
    ],
)
def test_test_runners_are_named(command: str, runner: str) -> None:
    assert grade({"tests/test.sh": command}).runners == (runner,)


def test_what_is_installed_while_grading_is_named_with_its_version() -> None:
    script = """
apt-get update && apt-get install -y curl \\
    jq
curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh
uvx --with pytest==8.4.1 --with 'rich' pytest 2>&1
echo "sudo apt-get install malware"
# pip install nothing
"""
    found = grade({"tests/test.sh": script})
    assert found.packages == ("curl", "jq", "uv", "pytest 8.4.1", "rich")
    assert found.network == "tests/test.sh"


def test_a_scripts_own_dependencies_count_as_installed() -> None:
    texts = {
        "tests/test.sh": "uv run /tests/judge.py",
        "tests/judge.py": '# /// script\n# dependencies = [\n#  "anthropic>=0.75",\n#  "pydantic==2.1",\n# ]\n# ///',
    }
    assert grade(texts).packages == ("anthropic", "pydantic 2.1")


def test_downloads_from_this_machine_are_no_network() -> None:
    assert grade({"tests/test.sh": "curl -s http://localhost:8000/x"}).network is None
    assert grade({"tests/test.sh": "curl -s https://data.example.org/x"}).network == "tests/test.sh"


def test_a_model_judge_is_an_import_and_a_call() -> None:
    call = "import os\nfrom openai import OpenAI\nOpenAI().chat.completions.create(model=m)\n"
    texts = {"tests/test.sh": "python /tests/judge.py", "tests/judge.py": call}
    assert grade(texts).judge == Judge("tests/judge.py", 2, "openai")
    assert grade({**texts, "tests/judge.py": "import openai\n"}).judge is None


def test_a_providers_key_for_the_grader_is_a_judge_and_one_for_the_agent_is_not() -> None:
    texts = {"tests/test.sh": "./run"}
    key = 'ANTHROPIC_API_KEY = "${ANTHROPIC_API_KEY}"'
    assert grade(texts, f"[verifier.env]\n{key}").judge == Judge(None, None, "ANTHROPIC_API_KEY")
    assert grade(texts, f"[environment.env]\n{key}").judge is None


def test_each_step_has_its_own_grader_with_the_shared_scripts() -> None:
    texts = {
        "tests/helpers.sh": f"echo $1 > {REWARD}.txt",
        "tests/test.sh": "shared",
        "steps/a/tests/test.sh": "source /tests/helpers.sh",
    }
    settings = read_settings({"steps": [{"name": "a"}, {"name": "b"}]})
    first, second = (read_grading(settings, list(texts), texts, step) for step in settings.steps)
    assert first.scripts == ("steps/a/tests/test.sh", "tests/helpers.sh")
    assert second.entry == "tests/test.sh"


def test_windows_tasks_have_a_batch_file() -> None:
    found = grade({"tests/test.bat": "x", "tests/test.sh": "y"}, '[environment]\nos = "Windows"')
    assert found.entry == "tests/test.bat"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("json.dump({'a': 1, 'b': f()}, open(p, 'w'))", ("a", "b")),
        ("KEYS = ('x', 'y')\npayload = {k: 0.0 for k in KEYS}\nf.write(json.dumps(payload))", ("x", "y")),
        ("details = {'d': 1}\nscores: dict = {'s': 1}\njson.dumps(details)\njson.dumps(scores)", ("s",)),
        ("json.dumps({'why': 'because', 'parts': [1], 'n': 2})", ("n",)),
        ("json.dumps(made_elsewhere)", ()),
        ("def broken(:\n  json.dumps({'q': 1})", ("q",)),
    ],
)
def test_score_names_come_from_what_is_written(code: str, names: tuple[str, ...]) -> None:
    assert score_names(code, python=True) == names


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text", ["(" * 50_000, "curl " * 20_000, "x\\\n" * 30_000, "apt-get install " + "a " * 60_000, "{'a':" * 20_000]
)
def test_hostile_scripts_are_read_soon(text: str) -> None:
    grade({"tests/test.sh": f"python /tests/g.py {REWARD}.json {text}", "tests/g.py": f"json.dumps\n{text}"})


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_scripts_can_be_read(shell: str, python: str) -> None:
    found = grade({"tests/test.sh": f"g.py {shell}", "tests/g.py": python})
    assert found.entry == "tests/test.sh"
