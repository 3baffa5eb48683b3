"""Environment templates: which variables a task takes from whoever runs it, and which of those are a model's."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rlx.formats.harbor.schema import TaskSettings
from rlx.model import Variable as Wanted

_TEMPLATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PROVIDER = re.compile(
    r"OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|AZURE|MISTRAL|COHERE|GROQ|TOGETHER|FIREWORKS|DEEPSEEK|OPENROUTER|BEDROCK"
    r"|LITELLM|HUGGINGFACE|HF_|XAI|VLLM|LLM|JUDGE|CODEX|INFERENCE"
)
_SECRET = re.compile(r"KEY|SECRET|TOKEN(?!S)|PASS|CREDENTIAL|AUTH|PRIVATE|COOKIE|DSN|_URL|_URI")
_ACCESS = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|AUTH|URL|ENDPOINT|BASE|HOST")


@dataclass(frozen=True, slots=True)
class Variable:
    """A host variable that a table of the task's settings refers to."""

    name: str
    where: str
    """The table: `verifier.env`, `environment.env`, `steps.<name>.verifier.env`."""
    default: bool
    """It has a default, so that the task can do without."""
    whole: bool = True
    """It is all of a value. Within other text Harbor leaves it as it is, and nothing can be given for it."""

    @property
    def of_model(self) -> bool:
        """It names a model provider's key or address."""
        return bool(_PROVIDER.search(self.name.upper()) and _ACCESS.search(self.name.upper()))


def variables(settings: TaskSettings) -> tuple[Variable, ...]:
    """Every host variable, in the order of the file; one a table."""
    found: dict[tuple[str, str], Variable] = {}
    for where, table in _tables(settings):
        for value in table.values():
            for name, default in _TEMPLATE.findall(value):
                optional = bool(default) or f"${{{name}:-" in value
                new = Variable(name, where, optional, _TEMPLATE.fullmatch(value) is not None)
                known = found.setdefault((where, name), new)
                if new.whole and not known.whole:
                    found[where, name] = new
    return tuple(found.values())


def wanted(found: Iterable[Variable]) -> tuple[Wanted, ...]:
    """What whoever runs the task is asked for, one a name."""
    by_name: dict[str, list[Variable]] = {}
    for each in found:
        if each.whole:
            by_name.setdefault(each.name, []).append(each)
    return tuple(
        Wanted(
            name,
            tuple(dict.fromkeys(_reader(each.where) for each in uses)),
            required=not all(each.default for each in uses),
            secret=_SECRET.search(name.upper()) is not None,
            of_model=uses[0].of_model,
        )
        for name, uses in by_name.items()
    )


def _reader(where: str) -> Literal["environment", "grader", "solution"]:
    if where == "environment.env":
        return "environment"
    return "solution" if where == "solution.env" else "grader"


def _tables(settings: TaskSettings) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "environment.env", settings.environment.env
    yield "verifier.env", settings.verifier.env
    if settings.verifier.environment:
        yield "verifier.environment.env", settings.verifier.environment.env
    yield "solution.env", settings.solution_env
    for step in settings.steps:
        yield f"steps.{step.name}.verifier.env", step.verifier.env
        if step.verifier.environment:
            yield f"steps.{step.name}.verifier.environment.env", step.verifier.environment.env
