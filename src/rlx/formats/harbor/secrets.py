"""Environment templates: which variables a task takes from whoever runs it, and which of those are a model's."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rlx.formats.harbor.schema import TaskSettings

_TEMPLATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PROVIDER = re.compile(
    r"OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|AZURE|MISTRAL|COHERE|GROQ|TOGETHER|FIREWORKS|DEEPSEEK|OPENROUTER|BEDROCK"
    r"|LITELLM|HUGGINGFACE|HF_|XAI|VLLM|LLM|JUDGE|CODEX|INFERENCE"
)
_ACCESS = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|AUTH|URL|ENDPOINT|BASE|HOST")


@dataclass(frozen=True, slots=True)
class Variable:
    """A host variable that a table of the task's settings refers to."""

    name: str
    where: str
    """The table: `verifier.env`, `environment.env`, `steps.<name>.verifier.env`."""
    default: bool
    """It has a default, so that the task can do without."""

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
                found.setdefault((where, name), Variable(name, where, optional))
    return tuple(found.values())


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
