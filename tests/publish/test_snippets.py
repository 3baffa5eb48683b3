"""Commands that use an environment, as they are printed: pinned, quoted, and only for what the files support."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.model import ANONYMOUS
from rlx.publish.detect.base import Way
from rlx.publish.snippets.base import Choices, Snippet
from rlx.publish.snippets.make import _literal, _templates, versions
from rlx.publish.uses import Uses
from rlx.settings import DEFAULT_HUB
from rlx.texts import say, words
from tests.publish.test_detect import REQUEST, VERL, card, lines, opened, tasks

pytestmark = pytest.mark.anyio


async def made(
    folder: Path, files: Mapping[str, str | bytes], choices: Choices | None = None, endpoint: str = DEFAULT_HUB
) -> tuple[Snippet, ...]:
    async with opened(folder, files) as services:
        repo = await services.library.repo(parse_key("toy/env"), ANONYMOUS)
        _, found = await Uses(endpoint).of(repo, choices or Choices())
        return found


def commands(snippet: Snippet) -> list[list[str]]:
    """What a shell would run of a snippet, by words."""
    told = [step.text for step in snippet.steps if step.language == "bash"]
    return [shlex.split(line) for text in told for line in text.splitlines()]


HARBOR = {"README.md": card("harbor", "rl-environment"), **tasks("tasks/b", "tasks/a c", "tasks/d")}


async def test_a_commit_is_downloaded_and_run_from_there(tmp_path: Path) -> None:
    harbor, openenv = await made(tmp_path, HARBOR)
    get, run, view, _ = commands(harbor)
    at = get[get.index("--revision") + 1]
    assert len(at) == 40
    assert shlex.join(get[3:]) == (
        f"hf download toy/env --repo-type dataset --revision {at} --include 'tasks/*' --local-dir env"
    )
    assert shlex.join(run[3:]) == "harbor run --path env/tasks --agent oracle --env docker --jobs-dir jobs --yes"
    assert view[3:] == ["harbor", "view", "jobs"]
    assert "exception_info" in harbor.steps[3].text.partition("rewards")[0]
    assert openenv.state == "untagged"
    assert commands(openenv)[1][-1] == "rollout.json"


async def test_a_task_is_chosen_by_its_folder_or_by_its_place_among_them(tmp_path: Path) -> None:
    harbor, openenv = await made(tmp_path, HARBOR, Choices(task="tasks/b", model="org/m 1", sandbox="e2b"))
    get, run, *_ = commands(harbor)
    assert get[get.index("--include") + 1] == "tasks/b/*"
    assert run[run.index("--path") + 1] == "env/tasks/b"
    assert run[run.index("--env") + 1] == "e2b"
    rollout = commands(openenv)[1]
    assert rollout[rollout.index("--task-index") + 1] == "1"
    assert rollout[rollout.index("--model") + 1] == "org/m 1"


async def test_a_registry_is_read_from_the_hub_alone_and_says_that_it_is_the_newest(tmp_path: Path) -> None:
    registry = [{"name": "toy", "version": "1.0", "description": "", "tasks": [{"name": "d", "path": "tasks/d"}]}]
    files = {**HARBOR, "registry.json": json.dumps(registry)}
    found = await made(tmp_path, files)
    kinds = [snippet.way.kind for snippet in found if snippet.way]
    assert kinds == ["harbor-registry", "harbor-repo", "openenv-tasks", "verifiers-harbor"]
    assert all("newest" in snippet.needs for snippet in (found[0], found[3]))
    assert "toy@1.0" in commands(found[0])[0]
    elsewhere = await made(tmp_path, files, endpoint="http://127.0.0.1:8765")
    assert [snippet.way.kind for snippet in elsewhere if snippet.way] == ["harbor-repo", "openenv-tasks"]
    assert elsewhere[0].steps[0].text.startswith("export HF_ENDPOINT=http://127.0.0.1:8765\n")


async def test_rows_have_the_commands_of_their_framework_and_those_of_any_table(tmp_path: Path) -> None:
    files = {"README.md": card("verl"), "data/train.jsonl": lines(VERL), "data/test.jsonl": lines(REQUEST)}
    found = await made(tmp_path, files)
    assert [(snippet.framework, snippet.state) for snippet in found] == [
        ("nemo-gym", "untagged"),
        ("verl", "supported"),
        ("rows", "rows"),
    ]
    assert "config_only" in found[1].needs
    (only,) = await made(tmp_path, files, Choices("rows", task="test/0"))
    assert 'split="test"' in only.steps[0].text


async def test_a_framework_that_the_files_do_not_support_is_refused_with_those_that_they_do(tmp_path: Path) -> None:
    async with opened(tmp_path, HARBOR) as services:
        repo = await services.library.repo(parse_key("toy/env"), ANONYMOUS)
        with pytest.raises(BadInput, match="for 'verl'") as refused:
            await Uses(DEFAULT_HUB).of(repo, Choices("verl"))
    assert refused.value.hint == "Its files support harbor, openenv."


HOSTILE = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)


@given(name=HOSTILE, version=HOSTILE)
def test_no_name_of_a_repository_leaves_its_place_in_a_command(name: str, version: str) -> None:
    from rlx.publish.snippets.make import _render

    variables = {"name": name, "version": version, "v": versions(), "task": name, "sandbox": "docker", "url": "u"}
    for kind in ("harbor-registry",):
        text = _templates()[kind]["steps"][0]["text"]
        words_ = shlex.split(_render(text, variables))
        assert words_[words_.index("--dataset") + 1] == f"{name}@{version}"
        assert words_[words_.index("--include-task-name") + 1] == _literal(name)
    assert json.loads(_render("{{ name|py }}", variables)) == name
    assert _render("{{ name|sql }}", variables)[1:-1].replace("''", "'") == name


async def test_a_name_that_could_break_a_line_is_no_way(tmp_path: Path) -> None:
    registry = [{"name": "a\nb", "version": "1", "description": "", "tasks": [{"name": "d", "path": "tasks/d"}]}]
    found = await made(tmp_path, {**HARBOR, "registry.json": json.dumps(registry)})
    assert "harbor-registry" not in [snippet.way.kind for snippet in found if snippet.way]


def test_every_way_has_a_template_and_every_template_its_texts() -> None:
    kinds = set(Way.__dataclass_fields__["kind"].type.__value__.__args__)  # type: ignore[union-attr]  # an alias of names
    templates = _templates()
    assert set(templates) == kinds
    for template in templates.values():
        assert set(template["uses"]) <= set(versions())
        for need in template["needs"]:
            assert words(say(f"publish.needs.{need}"), "ko")
        for step in template["steps"]:
            assert words(say(f"publish.step.{step['id']}"), "ko")
