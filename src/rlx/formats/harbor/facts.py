"""What was found out about a task when its files were read: everything its page needs beside the masked settings.

Facts are names, paths and numbers, taken from the files as they are and stored; a page never looks at unmasked text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rlx.formats.harbor.dockerfile import Dockerfile, compose_services, read_dockerfile
from rlx.formats.harbor.grading import Grading, Judge, read_grading
from rlx.formats.harbor.schema import TaskSettings
from rlx.formats.harbor.secrets import Variable, variables
from rlx.formats.harbor.table import Odd
from rlx.formats.harbor.toml import TomlFile, TomlProblem
from rlx.index.codec import say_in, text_out

DOCKERFILE = "environment/Dockerfile"
COMPOSE = "environment/docker-compose.yaml"


@dataclass(frozen=True, slots=True)
class Facts:
    problem: TomlProblem | None
    mark: bool
    """`task.toml` begins with a byte order mark."""
    odd: tuple[Odd, ...]
    variables: tuple[Variable, ...]
    gradings: tuple[Grading, ...]
    """One; or one a step."""
    dockerfile: Dockerfile | None
    grader_base: str | None
    """What `tests/Dockerfile` starts from."""
    services: tuple[str, ...]
    """Of the compose file."""
    not_utf8: tuple[str, ...]
    """Instructions that are no UTF-8, which Harbor cannot read."""

    @property
    def judge(self) -> Judge | None:
        return next((grading.judge for grading in self.gradings if grading.judge), None)


def find_facts(
    file: TomlFile, settings: TaskSettings, paths: Sequence[str], texts: Mapping[str, str], not_utf8: Sequence[str]
) -> Facts:
    """`texts` are task-relative and unmasked; `paths` is everything that is listed."""
    grader = texts.get("tests/Dockerfile")
    return Facts(
        problem=file.problem,
        mark=file.mark,
        odd=settings.odd,
        variables=variables(settings),
        gradings=tuple(read_grading(settings, paths, texts, step) for step in settings.steps or (None,)),
        dockerfile=read_dockerfile(texts[DOCKERFILE]) if DOCKERFILE in texts else None,
        grader_base=read_dockerfile(grader).base if grader is not None else None,
        services=compose_services(texts[COMPOSE]) if COMPOSE in texts else (),
        not_utf8=tuple(not_utf8),
    )


def facts_out(facts: Facts) -> dict[str, object]:
    raw = asdict(facts)
    raw["odd"] = [[item.where, text_out(item.text)] for item in facts.odd]
    return raw


def facts_in(raw: Mapping[str, Any]) -> Facts:
    """Inverse of `facts_out`, after a round through JSON."""
    problem, dockerfile = raw["problem"], raw["dockerfile"]
    return Facts(
        problem=TomlProblem(**problem) if problem else None,
        mark=raw["mark"],
        odd=tuple(Odd(where, say_in(text)) for where, text in raw["odd"]),
        variables=tuple(Variable(**item) for item in raw["variables"]),
        gradings=tuple(_grading(item) for item in raw["gradings"]),
        dockerfile=Dockerfile(**dockerfile) if dockerfile else None,
        grader_base=raw["grader_base"],
        services=tuple(raw["services"]),
        not_utf8=tuple(raw["not_utf8"]),
    )


def _grading(raw: Mapping[str, Any]) -> Grading:
    judge = raw["judge"]
    return Grading(
        entry=raw["entry"],
        scripts=tuple(raw["scripts"]),
        rewards=tuple(raw["rewards"]),
        scores=tuple(raw["scores"]),
        whole=raw["whole"],
        runners=tuple(raw["runners"]),
        packages=tuple(raw["packages"]),
        network=raw["network"],
        judge=Judge(**judge) if judge else None,
    )
