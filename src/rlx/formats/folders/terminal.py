"""The settings of a Terminal-Bench task of the first format, `task.yaml`: read as plain texts, in bounded time.

Every scalar stays the text it was written as, and what YAML could be made to work for ever with (aliases) is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import yaml

from rlx.answers import record
from rlx.answers.shown import Json
from rlx.formats.harbor.table import as_number

MAX_BYTES: Final = 64 * 1024
DEFAULT_PARSER: Final = "pytest"
DEFAULT_AGENT: Final = 360.0
"""Seconds that Terminal-Bench gives an agent when the file says nothing."""
DEFAULT_TESTS: Final = 60.0

INSTRUCTION: Final = "instruction"
_DESCRIPTIONS: Final = "descriptions"
"""The prompt in an older form: several, of which `base` is the one that is used."""
CONFIGURATION: Final = (
    "parser_name",
    "max_agent_timeout_sec",
    "max_test_timeout_sec",
    "run_tests_in_same_shell",
    "disable_asciinema",
)


type Problem = Literal["long", "deep", "yaml", "table", "prompt"]
"""Why a file tells no prompt: it is too long, too deeply nested, no YAML, no table, or does not hold one."""


@dataclass(frozen=True, slots=True)
class TerminalTask:
    prompt: str | None
    """None where the file does not tell."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Everything but the prompt, masked."""
    problem: Problem | None = None
    line: int | None = None
    """Where no YAML stands."""

    @property
    def parser(self) -> str:
        """What reads the tests' output."""
        told = self.values.get("parser_name")
        return told if isinstance(told, str) and told else DEFAULT_PARSER

    @property
    def agent_seconds(self) -> float:
        return _seconds(self.values.get("max_agent_timeout_sec"), DEFAULT_AGENT)

    @property
    def test_seconds(self) -> float:
        return _seconds(self.values.get("max_test_timeout_sec"), DEFAULT_TESTS)


def read_terminal(data: bytes) -> TerminalTask:
    """Takes any bytes; never raises."""
    if len(data) > MAX_BYTES:
        return TerminalTask(None, problem="long")
    try:
        value = _Plain(data.decode("utf-8", "replace")).get_single_data()
    except RecursionError:
        return TerminalTask(None, problem="deep")
    except (yaml.YAMLError, ValueError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        return TerminalTask(None, problem="yaml", line=mark.line + 1 if mark else None)
    if not isinstance(value, dict):
        return TerminalTask(None, problem="table")
    rest = {str(key): item for key, item in value.items() if key not in (INSTRUCTION, _DESCRIPTIONS)}
    masked = record(rest).value.value
    prompt = _prompt(value)
    told = masked if isinstance(masked, dict) else {}
    return TerminalTask(prompt, told, None if prompt is not None else "prompt")


class _Plain(yaml.BaseLoader):
    """Scalars as they were written; no aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("Aliases are not read here")
        return super().compose_node(parent, index)


def _prompt(value: Mapping[object, object]) -> str | None:
    told = value.get(INSTRUCTION)
    if isinstance(told, str):
        return told
    several = value.get(_DESCRIPTIONS)
    items = [item for item in several if isinstance(item, dict)] if isinstance(several, list) else []
    base = next((item for item in items if item.get("key") == "base"), items[0] if items else {})
    text = base.get("description")
    return text if isinstance(text, str) else None


def _seconds(value: Json, default: float) -> float:
    found = as_number(value)
    return found if found is not None and found > 0 else default
