"""The judge that somebody chooses when they start a rollout of a task that a model grades."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from rlx.agents import scripted_judge
from rlx.errors import BadInput
from rlx.model import Field
from rlx.rollout import ModelUse
from rlx.runners.asked import Value
from rlx.runners.judge import CALLS, JudgePlan
from rlx.runners.workers import Handed
from rlx.texts import say

SAME: Final = "same"
SCRIPTED: Final = "scripted"
FIELDS: Final = (
    Field("judge", say("judge.field"), "select", help=say("judge.help"), options=(SAME, SCRIPTED)),
    Field("judge_calls", say("judge.calls"), "number", CALLS, minimum=1, maximum=CALLS, step=1),
)
"""Of every option of a task that a model grades."""


def chosen(
    plan: JudgePlan | None,
    fields: Mapping[str, Value],
    given: Collection[str],
    model: ModelUse | None,
    handed: Handed | None,
) -> tuple[ModelUse | None, Handed | None]:
    """The judge, and with it what the worker is handed. `given` are the variables that have values.

    Raises `BadInput` where one is needed and none was chosen, or the one that was is none.
    """
    if plan is None or plan.required <= set(given):
        return None, handed
    told = fields.get("judge")
    if told not in (SAME, SCRIPTED):
        raise BadInput("This task is graded by a model, and no judge was chosen.", hint=_hint(plan))
    if told == SAME and model is None:
        raise BadInput("The agent speaks with no model, so the judge cannot be the same.", hint=_hint(plan))
    if told == SCRIPTED or model is None or model.provider == "scripted":
        return ModelUse(id=scripted_judge.NAME, provider="scripted"), handed
    own = None if handed is None else replace(handed, judge_url=handed.base_url, judge_key=handed.api_key)
    return model, own


def _hint(plan: JudgePlan) -> str:
    names = ", ".join(sorted(plan.required))
    return f"Set the field judge to {SAME} (the agent's model) or {SCRIPTED}, or give the grader its own {names}."
