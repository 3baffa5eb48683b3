"""Which of a task's settings lead to a judge, what its graders are told, and how often it may be asked."""

from collections.abc import Mapping
from typing import Any

import pytest

from rlx.agents import scripted, scripted_judge
from rlx.errors import BadInput
from rlx.rollout import ModelUse
from rlx.runners.judge import TOO_MANY, Meter, plan
from rlx.runners.judge_asked import chosen
from rlx.runners.workers import Handed

pytestmark = pytest.mark.anyio

OWN = ModelUse(id="org/model", provider="endpoint", dollars_in=1.0, dollars_out=2.0)


def told(*, url: str = "http://relay", **env: str) -> Mapping[str, str]:
    found = plan({"verifier": {"env": env}})
    assert found is not None
    return found.for_grader(url=url, key="capability", model="judge")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"verifier": {"env": {"WORDS": "${WORDS}"}}},
        {"verifier": {"env": {"SERVICE_API_KEY": "${SERVICE_API_KEY}"}}},
        {"verifier": {"env": {"OPENAI_API_KEY": "${OPENAI_API_KEY:-}"}}},
        {"environment": {"env": {"OPENAI_API_KEY": "${OPENAI_API_KEY}"}}},
        {"verifier": {"env": {"OPENAI_API_KEY": "as it is"}}},
    ],
)
def test_a_task_whose_graders_can_do_without_a_model_has_no_judge(settings: dict[str, Any]) -> None:
    assert plan(settings) is None


def test_graders_get_our_address_and_a_key_of_ours_whatever_their_names() -> None:
    found = told(
        KEY="${OPENAI_API_KEY}",
        BASE="${OPENAI_BASE_URL:-https://api.openai.com/v1}",
        CLAUDE="${ANTHROPIC_BASE_URL}",
        JUDGE="${JUDGE_MODEL}",
        OTHER="${REVIEW_MODEL:-small}",
        HEAT="${JUDGE_TEMPERATURE}",
        LONG="${JUDGE_MAX_TOKENS:-10}",
        STAYS="${DATABASE_URL:-sqlite}",
    )

    assert found["KEY"] == "capability"
    assert (found["BASE"], found["CLAUDE"]) == ("http://relay/v1", "http://relay")
    assert (found["JUDGE"], found["OTHER"]) == ("judge", "small")
    assert (found["HEAT"], found["LONG"]) == ("0", "10")
    assert "STAYS" not in found


def test_clients_that_are_told_no_address_find_ours() -> None:
    found = told(OPENAI_API_KEY="${OPENAI_API_KEY}")

    assert found["OPENAI_BASE_URL"] == "http://relay/v1"
    assert found["ANTHROPIC_BASE_URL"] == "http://relay"


def test_everybody_else_reads_nothing() -> None:
    reading = {"OPENAI_API_KEY": "${OPENAI_API_KEY}", "MODEL": "${MODEL:-x}"}
    found = plan({"verifier": {"env": reading}, "environment": {"env": reading}, "solution": {"env": reading}})

    assert found is not None
    assert found.for_others() == {"OPENAI_API_KEY": ""}


def test_steps_and_separate_graders_have_judges_too() -> None:
    env = {"env": {"K": "${JUDGE_API_KEY}"}}
    step = plan({"steps": [{"name": "one", "verifier": env}]})
    separate = plan({"verifier": {"environment": env}})

    assert step is not None
    assert separate is not None
    assert step.entries == separate.entries == {"K": ("JUDGE_API_KEY", "key", None)}


def test_what_a_person_gave_is_left_to_them() -> None:
    settings = {"verifier": {"env": {"A": "${OPENAI_API_KEY}", "B": "${ANTHROPIC_API_KEY}"}}}
    found = plan(settings, given={"OPENAI_API_KEY"})

    assert plan(settings, given={"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}) is None
    assert found is not None
    assert "A" not in found.for_grader(url="http://relay", key="capability", model="judge")
    assert found.required == found.names == {"ANTHROPIC_API_KEY"}


@pytest.mark.parametrize(("name", "pool"), [("WEBDEV_JUDGE_API_KEY", "vision"), ("JUDGE_API_KEY", "text")])
def test_judges_that_look_at_pictures_are_told_by_their_names(name: str, pool: str) -> None:
    found = plan({"verifier": {"env": {"KEY": f"${{{name}}}"}}})
    assert found is not None
    assert found.pool == pool


async def test_a_judge_is_asked_as_often_as_it_may_be_and_counted() -> None:
    async def send(body: Mapping[str, Any]) -> tuple[int, Any]:
        return 200, {"usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}}

    meter = Meter(send, OWN, most=2)
    statuses = [(await meter({"messages": []}))[0] for _ in range(2)]
    status, answer = await meter({"messages": []})

    assert statuses == [200, 200]
    assert (status, answer["error"]["message"]) == (400, TOO_MANY)
    assert (meter.calls, meter.usage.tokens_in, meter.usage.tokens_out) == (2, 2_000_000, 1_000_000)
    assert meter.cost == 4.0


async def test_what_a_judge_does_not_tell_stays_unknown() -> None:
    async def send(body: Mapping[str, Any]) -> tuple[int, Any]:
        return 500, {}

    meter = Meter(send, OWN)
    await meter({})

    assert (meter.calls, meter.usage.tokens_in, meter.cost) == (1, None, None)


def test_a_judge_has_to_be_chosen_where_one_is_needed() -> None:
    needed = plan({"verifier": {"env": {"OPENAI_API_KEY": "${OPENAI_API_KEY}"}}})
    handed = Handed(base_url="https://models.example/v1", api_key="secret")

    for fields in ({}, {"judge": None}, {"judge": "same"}):
        with pytest.raises(BadInput) as caught:
            chosen(needed, fields, (), None, None)
        assert "OPENAI_API_KEY" in str(caught.value.hint)
    assert chosen(None, {}, (), None, None) == (None, None)
    assert chosen(needed, {}, {"OPENAI_API_KEY"}, None, handed) == (None, handed)

    judge, _ = chosen(needed, {"judge": "scripted"}, (), None, None)
    assert judge is not None
    assert (judge.id, judge.provider) == (scripted_judge.NAME, "scripted")
    own, with_judge = chosen(needed, {"judge": "same"}, (), OWN, handed)
    assert own == OWN
    assert with_judge is not None
    assert (with_judge.judge_url, with_judge.judge_key) == (handed.base_url, "secret")


@pytest.mark.parametrize(
    ("text", "score"),
    [("resume and `--force`", '{"score": 1.0}'), ("# Resume\n", '{"score": 0.5}'), ("", '{"score": 0.0}')],
)
def test_the_scripted_judge_looks_for_the_words_of_the_rubric(text: str, score: str) -> None:
    prompt = f"Grade.\n\n## Rubric\n\n- `resume`\n- `--force`\n\n## Text\n\n{text}"
    answer = scripted.answer({"model": "judge", "messages": [{"role": "user", "content": prompt}]})

    assert answer["choices"][0]["message"]["content"] == score
    assert "nothing but" in scripted_judge.verdict("Which is better?")
