"""The model that grades a task: what of the task's settings is told where it answers, and how often it may be asked.

A grader gets an address of ours and a key that is worth nothing elsewhere; whose model answers, and with which key, it
never learns. Everybody else who reads the same variables, the agent before all, gets an empty text for them.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rlx.formats.harbor.schema import TaskSettings
from rlx.formats.harbor.secrets import Variable, variables
from rlx.formats.harbor.settings import read_settings
from rlx.rollout import ModelUse, Usage
from rlx.runners.base import cost_of
from rlx.runners.relay import Send

CALLS: Final = 400
"""Of a judge, in one rollout."""
TOO_MANY: Final = "The judge was asked as often as it may be in one rollout."

type Pool = Literal["text", "vision"]
type _Role = Literal["key", "url", "model", "sampling"]

_TEMPLATE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}")
_KEY: Final = re.compile(r"API_?KEY|_KEY|TOKEN(?!S)|SECRET|PASSWORD|AUTH")
_URL: Final = re.compile(r"BASE_?URL|_URL|ENDPOINT|API_BASE|_HOST")
_SIGHT: Final = re.compile(r"WEBDEV|VISION|SCREENSHOT|IMAGE|\bVLM|_VLM")
_SAMPLING: Final = {"TEMPERATURE": "0", "TOP_P": "1", "TOP_K": "0", "SEED": "0", "MAX_TOKENS": "4096"}
_ANTHROPIC: Final = re.compile(r"ANTHROPIC|CLAUDE")
_CLIENTS: Final = {"OPENAI_BASE_URL": "/v1", "OPENAI_API_BASE": "/v1", "ANTHROPIC_BASE_URL": "",
                   "GOOGLE_GEMINI_BASE_URL": ""}  # fmt: skip
"""Where the usual clients look for an address that nobody tells them, with what theirs end in."""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """What of a task's settings leads to its judge."""

    entries: Mapping[str, tuple[str, _Role, str | None]]
    """Of graders' tables: the name there, the variable it is filled from, what for, and its default."""
    names: frozenset[str]
    """Variables that are a model's, whoever reads them."""
    pool: Pool
    required: frozenset[str]
    """Those of them that graders cannot do without."""

    def for_grader(self, *, url: str, key: str, model: str) -> dict[str, str]:
        """The environment that is added to the grader's: `url` has no path of a dialect."""
        told = {name: f"{url}{path}" for name, path in _CLIENTS.items()}
        for name, (variable, role, default) in self.entries.items():
            match role:
                case "key":
                    told[name] = key
                case "url":
                    told[name] = url if _ANTHROPIC.search(f"{name} {variable}".upper()) else f"{url}/v1"
                case "model":
                    told[name] = model if default is None else default
                case "sampling":
                    told[name] = _sampling(variable) if default is None else default
        return told

    def for_others(self) -> dict[str, str]:
        """What the same variables stand for everywhere else."""
        return dict.fromkeys(sorted(self.names), "")


def plan(settings: Mapping[str, Any], *, given: Collection[str] = ()) -> JudgePlan | None:
    """Of a parsed `task.toml`, less the variables that whoever runs it gave; None when no judge is needed."""
    read = read_settings(settings)
    found = [item for item in variables(read) if item.name not in given]
    required = {item.name for item in found if item.of_model and not item.default and _of_grader(item)}
    if not required:
        return None
    entries: dict[str, tuple[str, _Role, str | None]] = {}
    for name, value in _graders(read):
        match = _TEMPLATE.fullmatch(value)
        role = None if match is None or match[1] in given else _role(match[1])
        if match is not None and role is not None:
            entries[name] = (match[1], role, match[2])
    filled = {variable for variable, _, _ in entries.values()}
    names = {item.name for item in found if item.of_model or (item.name in filled and not item.default)}
    told = " ".join((*entries, *names)).upper()
    pool: Pool = "vision" if _SIGHT.search(told) else "text"
    return JudgePlan(entries, frozenset(names), pool, frozenset(required))


def _of_grader(item: Variable) -> bool:
    return item.where.endswith(("verifier.env", "verifier.environment.env"))


def _graders(settings: TaskSettings) -> Iterator[tuple[str, str]]:
    """What is set for graders, the task's first: a step's own goes before it."""
    for verifier in (settings.verifier, *(step.verifier for step in settings.steps)):
        if verifier.environment is not None:
            yield from verifier.environment.env.items()
        yield from verifier.env.items()


def _role(variable: str) -> _Role | None:
    """What a variable is for, by its name; keys and addresses only where they are a model's."""
    name = variable.upper()
    if any(word in name for word in _SAMPLING):
        return "sampling"
    of_model = Variable(variable, "verifier.env", False).of_model
    if _URL.search(name):
        return "url" if of_model else None
    if _KEY.search(name):
        return "key" if of_model else None
    return "model" if "MODEL" in name else None


def _sampling(variable: str) -> str:
    return next(value for word, value in _SAMPLING.items() if word in variable.upper())


@dataclass(slots=True)
class Meter:
    """Counts what a judge was asked, and refuses past `most` calls."""

    send: Send
    model: ModelUse
    most: int = CALLS
    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def cost(self) -> float | None:
        return cost_of(self.usage, self.model)

    async def __call__(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        if self.calls >= self.most:
            return 400, {"error": {"message": TOO_MANY, "type": "invalid_request_error"}}
        self.calls += 1  # before the answer: calls side by side are counted too
        status, answer = await self.send(body)
        if status == 200:
            self._count(answer.get("usage"))
        return status, answer

    def _count(self, told: object) -> None:
        found = told if isinstance(told, Mapping) else {}
        self.usage = self.usage.model_copy(
            update={
                "model_calls": self.calls,
                "tokens_in": _sum(self.usage.tokens_in, found.get("prompt_tokens")),
                "tokens_out": _sum(self.usage.tokens_out, found.get("completion_tokens")),
            }
        )


def _sum(before: int | None, more: object) -> int | None:
    if not isinstance(more, int) or isinstance(more, bool) or more < 0:
        return before
    return (before or 0) + more
