"""Harbor's trajectories (ATIF) as messages, and where one departs from the format. Reads all versions leniently."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rlx.texts import Say, say

KNOWN: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
_SOURCES: Final = frozenset({"system", "user", "agent"})
_FEW: Final = 5
_NEAR: Final = 1e-6


def is_document(value: object) -> bool:
    """Whether `value` is a trajectory, by its steps or its version."""
    if not isinstance(value, Mapping) or not isinstance(value.get("steps"), list):
        return False
    steps = [step for step in value["steps"][:_FEW] if isinstance(step, Mapping)]
    named = isinstance(value.get("schema_version"), str) and str(value["schema_version"]).startswith("ATIF")
    return named or any("source" in step and ("step_id" in step or "message" in step) for step in steps)


def messages(document: Mapping[str, Any]) -> list[dict[str, object]]:
    """The steps as messages of a chat. What a step's tools answered follows it; one that is a copy is named so."""
    found: list[dict[str, object]] = []
    for step in _steps(document):
        metrics = step.get("metrics")
        said: dict[str, object] = {
            "role": "assistant" if step.get("source") == "agent" else _text(step.get("source")) or "?",
            "content": step.get("message"),
            "reasoning_content": step.get("reasoning_content"),
            "tool_calls": step.get("tool_calls"),
            "metrics": metrics if isinstance(metrics, Mapping) else None,
        }
        if step.get("is_copied_context") is True:
            said["name"] = "copied"
        found.append({key: value for key, value in said.items() if value is not None})
        found += _observed(step)
    return found


def _observed(step: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for result in _results(step):
        told = result.get("subagent_trajectory_ref")
        content = result.get("content")
        if content is None and told is not None:
            content = told
        yield {"role": "tool", "tool_call_id": result.get("source_call_id"), "content": content}


def violations(document: Mapping[str, Any]) -> Iterator[Say]:
    """What a strict reader would refuse, or a reader should know, in one sentence each."""
    version = document.get("schema_version")
    if not isinstance(version, str) or not version:
        yield say("traces.atif.no_version")
    elif version not in KNOWN:
        yield say("traces.atif.version", version=version[:40])
    if not isinstance(document.get("agent"), Mapping):
        yield say("traces.atif.no_agent")
    steps = _steps(document)
    held = document.get("steps")
    if isinstance(held, list) and len(held) > len(steps):
        yield say("traces.atif.no_steps", n=len(held) - len(steps))
    elif not steps:
        yield say("traces.atif.empty")
    odd = next((at for at, step in enumerate(steps, 1) if step.get("step_id") != at), None)
    if odd is not None:
        yield say("traces.atif.order", at=odd, found=_text(steps[odd - 1].get("step_id"))[:20] or "–")
    strange = {_text(step.get("source")) or "–" for step in steps} - _SOURCES
    if strange:
        yield say("traces.atif.source", sources=", ".join(sorted(strange)[:_FEW])[:120])
    yield from _calls(steps)
    yield from _totals(document, steps)


def _calls(steps: Sequence[Mapping[str, Any]]) -> Iterator[Say]:
    called = [_text(call.get("tool_call_id")) for step in steps for call in _dicts(step.get("tool_calls"))]
    answered = [_text(result.get("source_call_id")) for step in steps for result in _results(step)]
    known, told = set(called), set(answered)
    silent = [call for call in called if call not in told]
    orphans = [call for call in answered if call and call not in known]
    if silent:
        yield say("traces.atif.unanswered", n=len(silent))
    if orphans:
        yield say("traces.atif.orphans", n=len(orphans))


def _totals(document: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Iterator[Say]:
    """Totals that are not the sum of the steps; steps that are copied from elsewhere do not count."""
    final = document.get("final_metrics")
    if not isinstance(final, Mapping):
        return
    own = [step.get("metrics") for step in steps if step.get("is_copied_context") is not True]
    pairs = (
        ("prompt_tokens", "total_prompt_tokens"),
        ("completion_tokens", "total_completion_tokens"),
        ("cost_usd", "total_cost_usd"),
    )
    for key, total in pairs:
        told = number(final.get(total))
        numbers = [found for item in own if isinstance(item, Mapping) and (found := number(item.get(key))) is not None]
        if told is not None and numbers and abs(sum(numbers) - told) > _NEAR * max(1.0, abs(told)):
            yield say("traces.atif.total", name=total, told=f"{told:,.6g}", sum=f"{sum(numbers):,.6g}")
    count = number(final.get("total_steps"))
    if count is not None and count != len(steps):
        yield say("traces.atif.total", name="total_steps", told=f"{count:,.6g}", sum=f"{len(steps):,}")


def number(value: object) -> float | None:
    """A finite number of a size that can be measured."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return float(value)


def _steps(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(_dicts(document.get("steps")))


def _results(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    observation = step.get("observation")
    if isinstance(observation, Mapping):
        yield from _dicts(observation.get("results"))


def _dicts(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""
