"""The run option of a row that one model call answers. Nothing starts it yet, and it says so."""

from typing import Final

from rlx.formats.predict.checks import Check, Unchecked
from rlx.model import Estimate, Field, RunOption
from rlx.texts import Say, say

RUNNER: Final = "predict"
MAX_TOKENS: Final = 131_072
_CHARACTERS: Final = 4
"""Of a token, near enough for an estimate."""


def predict_option(found: Check | Unchecked, prompt: str = "") -> RunOption:
    """`prompt` is all that the model is sent, for the estimate; empty where that is not known."""
    checked = isinstance(found, Check)
    return RunOption(
        runner=RUNNER,
        sandbox=None,
        label=say("predict.label"),
        ok=False,
        reason=say("predict.not_yet") if isinstance(found, Check) else found.why,
        notes=compared(found) if isinstance(found, Check) else (),
        fields=_FIELDS if checked else (),
        needs_endpoint=True,
        needs_sandbox=False,
        estimate=Estimate(tokens_in=-(-len(prompt) // _CHARACTERS)) if checked and prompt else None,
    )


def compared(found: Check) -> tuple[Say, Say]:
    """What an answer is compared with, and the rule."""
    return say(f"predict.kind.{found.kind.replace('-', '_')}", where=found.where), found.how


_FIELDS: Final = (
    Field("model", say("predict.field.model"), "model", required=True),
    Field(
        "max_tokens",
        say("predict.field.max_tokens"),
        "number",
        default=4096,
        minimum=1,
        maximum=MAX_TOKENS,
        step=1,
        help=say("predict.field.max_tokens_help"),
    ),
    Field("temperature", say("predict.field.temperature"), "number", default=1.0, minimum=0.0, maximum=2.0, step=0.1),
    Field("timeout", say("predict.field.timeout"), "number", default=300, minimum=5, maximum=3600, step=1),
)
