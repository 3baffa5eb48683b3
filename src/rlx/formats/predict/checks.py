"""What would grade a model's answer to a row: a comparison that can be made exactly here, or why there is none.

Rows come masked, so a rule goes by names alone: the framework, its server, scorer or environment, and which columns
are there. A check is promised only where the framework's own verdict is a comparison: no judge, no tolerances that are
set elsewhere, no tools that must run, no turns that follow. Where that is not known there is none.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlx.answers import MARK, Json
from rlx.formats.frameworks import table
from rlx.texts import Say, say

type Kind = Literal["exact", "math", "schema", "tool-call", "choice"]
"""The same text or number; the same after a known rewriting of formulas; JSON that fits; the same calls; a letter."""


@dataclass(frozen=True, slots=True)
class Check:
    kind: Kind
    where: str
    """Dotted path of what the answer is compared with, in the row as it is."""
    how: Say
    """The rule, in one sentence."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    why: Say


@dataclass(frozen=True, slots=True)
class Hints:
    """What a processor knows beside the row."""

    framework: str
    """`nemo-gym`, `verl`, `skyrl`, `reasoning-gym` or `rows`; others have no checks."""
    repo: str = ""
    """`org/name`."""
    grader: str | None = None
    """NeMo Gym's resources server, verl's scorer, SkyRL's environment."""
    loop: str | None = None
    """The agent loop, where it is known."""
    judge: bool = False
    """A model judges."""


type Row = Mapping[str, Json]

_PARSED: Final = 200_000
_SINGLE: Final = frozenset({"simple_agent", "non_executing_simple_agent", "single_turn_agent"})
"""Loops that ask once where no tool is called."""
_MODES: Final = ("strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon")
_EXTRACTED: Final = ("boxed", "final_answer", "last_line", "full_response")
_LETTERS: Final = ("A", "B", "C", "D")
_TOOLS: Final = "responses_create_params.tools"
_CHOICES: Final = ("choices", "options")
_ANSWERS: Final = ("answer", "answerKey", "answer_key", "label", "target", "gold", "expected_answer", "correct")


def check_of(row: Row, hints: Hints) -> Check | Unchecked:
    """Takes any masked row; never raises."""
    if hints.judge:
        return Unchecked(say("predict.why.judge"))
    if hints.loop is not None and hints.loop not in _SINGLE:
        return Unchecked(say("predict.why.loop", name=hints.loop[:120]))
    rule = _RULES.get(hints.framework)
    return rule(row, hints) if rule else Unchecked(say("predict.why.unknown"))


def _nemo(row: Row, hints: Hints) -> Check | Unchecked:
    if hints.grader is None:
        return Unchecked(say("predict.why.unserved"))
    rule = _SERVERS.get(hints.grader)
    if rule is None:
        return Unchecked(say("predict.why.server", name=hints.grader))
    found = rule(row)
    if isinstance(found, Check) and found.kind != "tool-call" and _has(row, _TOOLS):
        return Unchecked(say("predict.why.tools"))
    return found


def _letter(row: Row) -> Check | Unchecked:
    mode = row.get("grading_mode", "strict_single_letter_boxed")
    if _has(row, "template_metadata") or mode not in _MODES:
        return Unchecked(say("predict.why.pattern"))
    if not _has(row, "options") or not _has(row, "expected_answer"):
        return _lacks("expected_answer")
    return Check("choice", "expected_answer", say(f"predict.how.{mode}"))


def _text(row: Row) -> Check | Unchecked:
    mode = row.get("extraction_mode", "final_answer")
    if row.get("case_sensitive") is not True or mode not in _EXTRACTED:
        return Unchecked(say("predict.why.forgiving"))
    return _checked(row, "exact", "expected_answer", say(f"predict.how.{mode}"))


def _schema(row: Row) -> Check | Unchecked:
    if row.get("schema_type") != "json" or _has(row, "response_mode"):
        return Unchecked(say("predict.why.schema"))
    return _checked(row, "schema", "schema_str", say("predict.how.schema"))


def _calls(row: Row) -> Check | Unchecked:
    return _checked(row, "tool-call", "expected_answers", say("predict.how.calls"))


def _action(row: Row) -> Unchecked:
    return Unchecked(say("predict.why.tolerance"))


def _package(row: Row) -> Unchecked:
    return Unchecked(say("predict.why.package", name="reasoning-gym"))


_SERVERS: Final[Mapping[str, Callable[[Row], Check | Unchecked]]] = {
    "mcqa": _letter,
    "gpqa_diamond": _letter,
    "string_match": _text,
    "structured_outputs": _schema,
    "xlam_fc": _calls,
    "single_step_tool_use_with_argument_comparison": _action,
    "reasoning_gym": _package,
}


def _verl(row: Row, hints: Hints) -> Check | Unchecked:
    style = at(row, "reward_model.style")
    if style != "rule":
        return Unchecked(say("predict.why.judge" if style == "model" else "predict.why.style"))
    told = ("extra_info.tools_kwargs", "extra_info.interaction_kwargs", "tools")
    if any(_holds(at(row, path)) for path in told):
        return Unchecked(say("predict.why.tools"))
    if hints.grader == "gsm8k":
        return _checked(row, "exact", "reward_model.ground_truth", say("predict.how.gsm8k"))
    if hints.grader in {"math_reward", "math_dapo"}:
        return _checked(row, "math", "reward_model.ground_truth", say(f"predict.how.{hints.grader}"))
    return _scored(hints)


def _skyrl(row: Row, hints: Hints) -> Check | Unchecked:
    if hints.grader == "gsm8k":
        return _checked(row, "exact", "reward_spec.ground_truth", say("predict.how.gsm8k"))
    if hints.grader == "aime":
        return _checked(row, "math", "reward_model.ground_truth", say("predict.how.math_dapo"))
    return _scored(hints)


def _scored(hints: Hints) -> Unchecked:
    told = say("predict.why.unscored") if hints.grader is None else say("predict.why.scorer", name=hints.grader[:120])
    return Unchecked(told)


def _rows(row: Row, hints: Hints) -> Check | Unchecked:
    """Rows of no framework: sets that everybody knows, and choices that name their letters."""
    if hints.repo.rpartition("/")[2].lower() == "gsm8k" and {"question", "answer"} <= row.keys():
        return _checked(row, "exact", "answer", say("predict.how.last_number"))
    made_by = (at(row, "metadata.source_dataset"), row.get("task"))
    if "question" in row and any(isinstance(name, str) and name in table("reasoning_gym").tasks for name in made_by):
        return _package(row)
    answer = next((key for key in _ANSWERS if _has(row, key)), None)
    if answer is None:
        return Unchecked(say("predict.why.unknown"))
    if all(_has(row, letter) for letter in _LETTERS):
        return Check("choice", answer, say("predict.how.letter"))
    choices = next((at(row, key) for key in _CHOICES if _has(row, key)), None)
    if choices is None:
        return Unchecked(say("predict.why.unknown"))
    if _are_lettered(choices):
        return Check("choice", answer, say("predict.how.letter"))
    return Unchecked(say("predict.why.unlettered"))


_RULES: Final[Mapping[str, Callable[[Row, Hints], Check | Unchecked]]] = {
    "nemo-gym": _nemo,
    "verl": _verl,
    "skyrl": _skyrl,
    "rows": _rows,
    "reasoning-gym": lambda row, hints: _package(row),
}


def _are_lettered(choices: Any) -> bool:
    """Whether choices come with their letters: `{"A": …}`, `[{"A": …}, …]`, or `{"label": ["A", …], "text": […]}`."""
    if isinstance(choices, dict):
        labels = choices.get("label")
        keys = labels if isinstance(labels, list) else list(choices)
    elif isinstance(choices, list):
        keys = [next(iter(item)) for item in choices if isinstance(item, dict) and len(item) == 1]
        keys = keys if len(keys) == len(choices) else []
    else:
        return False
    return len(keys) > 1 and all(isinstance(key, str) and len(key) == 1 and "A" <= key <= "Z" for key in keys)


def _checked(row: Row, kind: Kind, where: str, how: Say) -> Check | Unchecked:
    return Check(kind, where, how) if _has(row, where) else _lacks(where)


def _lacks(where: str) -> Unchecked:
    return Unchecked(say("predict.why.lacks", where=where))


def _has(row: Row, path: str) -> bool:
    """Whether something stands there, withheld or not."""
    return _holds(at(row, path))


def _holds(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds(item) for item in list(value.values())[:50])
    return value is not None and value not in ("", [])


def at(row: Row, path: str) -> Any:
    """What a dotted path leads to, through JSON in texts too. What is below something withheld counts as withheld."""
    value: Any = row
    for part in path.split("."):
        if isinstance(value, str) and value != MARK and len(value) <= _PARSED and value.lstrip().startswith("{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if value == MARK:
            return MARK
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value
