"""What a specification can say, and how one that cannot be is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.generator.spec import EnvSpec, Task, dump_spec, load_spec, make_spec, parse_spec
from rlx.generator.spec_toml import dump_toml
from tests.generator.trees import ARCHETYPES, connect_four, example

SCALARS = (
    st.text() | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
KEYS = st.text(max_size=20).filter(lambda key: key not in {"id", "split", "prompt"})


def values(**changes: Any) -> dict[str, Any]:
    """Connect four as decoded TOML, with changes at the top."""
    return {**connect_four().model_dump(mode="json", exclude_defaults=True), **changes}


@pytest.mark.parametrize("name", ARCHETYPES)
def test_an_example_reads_back_from_its_file_as_it_was(name: str, tmp_path: Path) -> None:
    path = tmp_path / "environment.toml"
    path.write_text(dump_spec(example(name)), encoding="utf-8")
    assert load_spec(path) == example(name)


@given(st.text(min_size=1), st.dictionaries(KEYS, VALUES, max_size=4))
def test_whatever_a_task_holds_reads_back_as_it_was(prompt: str, hidden: dict[str, Any]) -> None:
    task = Task(id="one", prompt=prompt, hidden=hidden)
    spec = connect_four().model_copy(update={"tasks": (task,)})
    assert parse_spec(dump_spec(spec)) == spec


def test_toml_for_people_has_texts_over_several_lines() -> None:
    text = dump_toml({"prompt": 'Say "hello".\nThen stop.'})
    assert text == 'prompt = """\nSay "hello".\nThen stop."""\n'


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"goal": None}, "goal"),
        ({"colour": "red"}, "colour: there is no such key"),
        ({"module": "tasks"}, "'tasks' is the name of another module"),
        ({"archetype": None}, "name an archetype, or a domain module of your own"),
        ({"name": "Connect Four"}, "name: "),
        ({"termination": {"terminate_tool": True}}, "needs a tool called 'terminate'"),
        ({"reward": {"criterion": "win", "low": 1, "high": 0}}, "low must be below high"),
        ({"reward": {"criterion": "win", "high": float("inf")}}, "finite"),
        ({"target": {"folders": {"ors": "../elsewhere"}}}, "target.folders.ors"),
        ({"target": {"folders": {"ors": "here", "openenv": "here"}}}, "a folder of its own"),
        ({"title": "two\nlines"}, "title: "),
        ({"backend": {"dependencies": ['x"; rm -rf /']}}, "backend.dependencies.0"),
    ],
)
def test_what_cannot_be_is_refused_by_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match="cannot be used") as refused:
        make_spec(values(**changes))
    assert said in refused.value.message


@pytest.mark.parametrize("name", ["verify", "reset", "setup", "class", "call"])
def test_a_tool_is_not_called_as_a_framework_calls_its_own(name: str) -> None:
    tools = [{"name": name, "description": "Do it."}]
    with pytest.raises(BadInput, match="choose another name"):
        make_spec(values(action={"tools": tools}))


def test_tagged_text_is_refused_unless_insisted() -> None:
    action = {**values()["action"], "surface": "text"}
    with pytest.raises(BadInput, match="insist = true"):
        make_spec(values(action=action))
    assert make_spec(values(action={**action, "insist": True})).action.surface == "text"


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(BadInput) as refused:
        make_spec({"name": "x", "module": "server"})
    assert all(f"{key}: is missing: add it." in refused.value.message for key in ("title", "goal", "loop", "tasks"))


def test_another_version_is_refused() -> None:
    with pytest.raises(BadInput, match="version 2; this program reads version 1"):
        make_spec(values(version=2))


def test_what_is_no_toml_is_refused_by_its_line() -> None:
    with pytest.raises(BadInput, match="line 1"):
        parse_spec("name = \n")


def test_two_tasks_of_one_id_are_refused() -> None:
    tasks = values()["tasks"]
    with pytest.raises(BadInput, match="two tasks have the id 'train-0'"):
        make_spec(values(tasks=[tasks[0], tasks[0]]))


def test_a_key_is_not_both_given_and_hidden() -> None:
    task = {"id": "a", "prompt": "Play.", "given": {"seed": 1}, "hidden": {"seed": 2}}
    with pytest.raises(BadInput, match="key 'seed' is there twice"):
        make_spec(values(tasks=[task]))


def test_what_is_unwise_is_told() -> None:
    spec: EnvSpec = make_spec(values(state={"across_episodes": True}, target={"layout": "plain"}))
    assert [text.split()[0] for text in spec.warnings()] == ["State", "Folders"]
