"""Plans, what the rules alone show of them, and that every kind of difference is noticed."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlx.errors import BadInput
from rlx.generator.check.compare import compare
from rlx.generator.check.environments import make_frameworks
from rlx.generator.check.mutation import ROUNDS
from rlx.generator.check.plan import Plan, make_plan
from rlx.generator.check.run import check, reference
from rlx.generator.registry import archetype
from rlx.generator.render import write
from rlx.generator.schemas import parameters_schema
from tests.generator.trees import ARCHETYPES, connect_four, example, tree

pytestmark = pytest.mark.anyio

SPEC = connect_four()
PLAN = make_plan(SPEC, archetype("board_game"), rounds=48)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the rules show of the plan, with the tools as a framework would publish them."""
    root = tmp_path_factory.mktemp("rules")
    write(tree("board_game"), root)
    seen = dict(await reference(SPEC, root, PLAN, make_frameworks(root / "cache")))
    seen["tools"] = [
        {"name": tool.name, "description": tool.description, "parameters": parameters_schema(tool)}
        for tool in SPEC.action.tools
    ]
    return seen


def kinds(plan: Plan, wanted: dict[str, Any]) -> set[str]:
    return {step["kind"] for each in wanted["rounds"] for step in each["steps"]}


async def test_a_plan_holds_what_goes_wrong_in_practice(shown: dict[str, Any]) -> None:
    assert kinds(PLAN, shown) == {"step", "refused", "over"}
    steps = [step for each in shown["rounds"] for step in each["steps"]]
    assert any(step["text"] and step["text"].startswith("Error: column") for step in steps)
    assert {len(each.tasks) for each in PLAN.rounds} == {1, 2}
    assert {place.split for each in PLAN.rounds for place in each.tasks} == set(SPEC.splits)
    assert any(isinstance(call[2].get("column"), str | float) for each in PLAN.rounds for call in each.calls)
    assert {total for each in shown["rounds"] for total in each["totals"]} >= {0.0, 1.0}


@pytest.mark.parametrize("name", ARCHETYPES)
async def test_the_same_plan_is_made_each_time(name: str) -> None:
    spec = archetype(name).example()
    assert make_plan(spec, archetype(name), 20) == make_plan(spec, archetype(name), 20)
    assert make_plan(spec, None, 20).calls > 20


@pytest.mark.parametrize("name", [name for name in ARCHETYPES if name != "board_game"])
async def test_every_archetype_is_played_to_its_reward_past_its_end_and_against_its_rules(
    name: str, tmp_path: Path
) -> None:
    spec = example(name)
    plan = make_plan(spec, archetype(name), ROUNDS)
    write(tree(name), tmp_path)
    wanted = dict(await reference(spec, tmp_path, plan, make_frameworks(tmp_path / "cache")))
    assert kinds(plan, wanted) == {"step", "refused", "over"}
    assert {total for each in wanted["rounds"] for total in each["totals"]} == {spec.reward.low, spec.reward.high}
    texts = [step["text"] or "" for each in wanted["rounds"] for step in each["steps"] if step["kind"] == "step"]
    assert any(text.startswith("Error: ") for text in texts)


async def test_a_variant_that_plays_alike_has_no_difference(shown: dict[str, Any]) -> None:
    assert compare(SPEC, PLAN, shown, copy.deepcopy(shown), steps=True) == []


def step_of(seen: dict[str, Any], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    found: dict[str, Any] = next(step for each in seen["rounds"] for step in each["steps"] if wanted(step))
    return found


def is_won(step: dict[str, Any]) -> bool:
    return bool(step["kind"] == "step" and step["reward"] == 1.0)


MISTAKES: dict[str, Callable[[dict[str, Any]], object]] = {
    "reward": lambda seen: step_of(seen, is_won).update(reward=0.0),
    "done": lambda seen: step_of(seen, is_won).update(done=False),
    "text": lambda seen: step_of(seen, is_won).update(text="You won!"),
    "error": lambda seen: step_of(seen, lambda step: step["kind"] == "refused").update(kind="step"),
    "total": lambda seen: seen["rounds"][0]["totals"].__setitem__(0, 0.25),
    "prompt": lambda seen: seen["rounds"][0]["prompts"].__setitem__(0, "Play."),
    "tools": lambda seen: seen["tools"][0].update(name="act"),
    "split": lambda seen: seen["splits"]["test"].append({"id": "train-0"}),
    "leak": lambda seen: seen["splits"]["train"][0].update(note={"deep": [SPEC.tasks[0].hidden["opponent_seed"]]}),
}


@pytest.mark.parametrize("what", MISTAKES)
async def test_a_mistake_is_noticed_as_what_it_is(what: str, shown: dict[str, Any]) -> None:
    seen = copy.deepcopy(shown)
    MISTAKES[what](seen)
    assert what in {each.what for each in compare(SPEC, PLAN, shown, seen, steps=True)}


async def test_a_hidden_key_is_a_leak_whatever_it_holds(shown: dict[str, Any]) -> None:
    seen = copy.deepcopy(shown)
    seen["splits"]["train"][0]["opponent_seed"] = 0
    assert [each.what for each in compare(SPEC, PLAN, shown, seen, steps=True)] == ["leak"]


async def test_a_schema_that_says_otherwise_is_noticed(shown: dict[str, Any]) -> None:
    seen = copy.deepcopy(shown)
    seen["tools"][0]["parameters"]["properties"]["column"]["type"] = "string"
    (difference,) = compare(SPEC, PLAN, shown, seen, steps=True)
    assert "has type 'string' instead of 'integer'" in difference.seen


async def test_a_folder_without_variants_is_refused(tmp_path: Path) -> None:
    write({"environment.toml": tree("board_game")["environment.toml"]}, tmp_path)
    with pytest.raises(BadInput, match="no variant to check"):
        await check(tmp_path, make_frameworks(tmp_path / "cache"))


async def test_rules_that_fail_are_told(tmp_path: Path) -> None:
    write({**tree("board_game"), "game.py": "raise RuntimeError('broken rules')"}, tmp_path)
    with pytest.raises(BadInput, match="broken rules"):
        await reference(SPEC, tmp_path, PLAN, make_frameworks(tmp_path / "cache"))
