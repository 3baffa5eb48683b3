"""What of a rollout is shown: all that was said, but for what its record withholds elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rlx.answers import Policy
from rlx.formats.processors.traces.shapes import TOOLS, Talk

_WRAPPED: Final = ("messages", "conversations", "conversation", "turns", "history", "input", "output", "steps")
"""Names under which a column that is an object holds its messages."""
_SAID: Final = (
    *("content", "value", "text", "parts", "message", "name", "reasoning_content", "reasoning", "thinking", "summary"),
    *("thinking_blocks", "tool_calls", "tool_uses", "function_call", "arguments", "input", "output", "action", "code"),
    *("thought", "observation", "response", "queries", "result"),
)
"""Of a message, an item or a step, what was said, called and answered; its other keys go by their names."""
_ABOVE: Final = ("", "samples.", "rows.", "data.", "traces.", "trajectories.", "results.")
"""Names in a document under which its rows may stand."""
_VERDICTS: Final = ("correct", "is_correct", "all_correct", "answer_correct", "is_solved_correct")


def policy_of(talks: Iterable[Talk], sample: Sequence[Mapping[str, Any]]) -> Policy:
    """Shows the conversations of `talks` and tools whole, and verdicts that are no more than yes or no."""
    columns = {talk.column or "steps" for talk in talks}
    columns |= {"trajectory", "history"} if any(talk.kind == "swe-agent" for talk in talks) else set()
    if any(talk.kind == "atif" and not talk.column for talk in talks):
        columns.add("subagent_trajectories")
    lists = {*columns, *(f"{column}.{inner}" for column in columns for inner in _WRAPPED)}
    verdicts = [key for key in _VERDICTS if all(isinstance(row.get(key), bool | int | float | None) for row in sample)]
    return Policy(
        "traces",
        allow=_under({*(f"{path}.{key}" for path in lists for key in _SAID), *TOOLS}),
        look=_under({*lists, *verdicts}),
        echoes=_under(columns),
    )


def _under(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(f"{above}{path}" for path in paths for above in _ABOVE)
