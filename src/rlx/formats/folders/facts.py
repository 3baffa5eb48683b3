"""What a page of a folder needs beside its texts, and how it is stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from rlx.answers.shown import Json
from rlx.formats.folders.parts import Parts, Rule
from rlx.formats.folders.terminal import TerminalTask
from rlx.formats.harbor.dockerfile import compose_services, read_dockerfile

_NAMED: Final = 40
"""Files of one part that are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Paths are in the task's folder."""

    rule: Rule
    prompts: tuple[str, ...]
    checkers: tuple[str, ...]
    expected: tuple[str, ...]
    solutions: tuple[str, ...]
    counts: tuple[int, int, int]
    """Checkers, expected files and solutions in all."""
    dockerfile: str | None
    compose: str | None
    settings: str | None
    details: str | None
    base: str | None = None
    """The image that the Dockerfile starts from."""
    workdir: str | None = None
    services: tuple[str, ...] = ()
    parser: str | None = None
    agent_seconds: float | None = None
    test_seconds: float | None = None
    problem: str | None = None
    """Why there is no prompt: see `rlx.formats.folders.terminal`, and `unread`."""
    line: int | None = None
    prompt: str | None = None
    """Where it is a part of the settings."""

    @property
    def is_terminal(self) -> bool:
        return self.rule == "settings"


def find_facts(parts: Parts, terminal: TerminalTask | None, texts: Mapping[str, str], unread: Iterable[str]) -> Facts:
    """`texts` are the files that were read, `unread` the prompts that could not be."""
    world = read_dockerfile(texts[parts.dockerfile]) if parts.dockerfile and parts.dockerfile in texts else None
    problem = terminal.problem if terminal else "unread" if any(True for _ in unread) else None
    settings = terminal if terminal and terminal.problem in (None, "prompt") else None
    return Facts(
        rule=parts.rule,
        prompts=parts.prompts,
        checkers=parts.checkers[:_NAMED],
        expected=parts.expected[:_NAMED],
        solutions=parts.solutions[:_NAMED],
        counts=(len(parts.checkers), len(parts.expected), len(parts.solutions)),
        dockerfile=parts.dockerfile,
        compose=parts.compose,
        settings=parts.settings,
        details=parts.details,
        base=world.base if world else None,
        workdir=world.workdir if world else None,
        services=compose_services(texts[parts.compose]) if parts.compose and parts.compose in texts else (),
        parser=settings.parser if settings else None,
        agent_seconds=settings.agent_seconds if settings else None,
        test_seconds=settings.test_seconds if settings else None,
        problem=problem,
        line=terminal.line if terminal else None,
        prompt=terminal.prompt if terminal else None,
    )


def facts_out(facts: Facts) -> dict[str, object]:
    return {field.name: getattr(facts, field.name) for field in fields(facts)}


def facts_in(stored: Json) -> Facts:
    """Inverse of `facts_out`, from what came back from a store. The lists of it are tuples again."""
    told: Any = stored
    values: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in told.items()}
    return Facts(**values)
