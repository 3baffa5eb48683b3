"""What a folder lacks to be a Harbor task, by the rules Harbor applies to a task directory."""

from collections.abc import Collection, Iterator

from rlx.formats.harbor.schema import Step, TaskSettings

_IMAGE_FILES = ("Dockerfile", "docker-compose.yaml")


def missing_parts(settings: TaskSettings, paths: Collection[str]) -> tuple[str, ...]:
    """Task-relative paths that Harbor needs and that are not there; `environment/` when nothing says what to run in."""
    known = set(paths)
    found = list(dict.fromkeys(_missing_files(settings, known)))
    if not settings.environment.image and not any(path.startswith("environment/") for path in known):
        found.append("environment/")
    return tuple(found)


def grader_image(settings: TaskSettings, paths: Collection[str], step: Step | None = None) -> str | None:
    """What a grader of its own is made from: an image or a file of `tests/`; None for the agent's own environment.

    Its tests must be part of it then: Harbor uploads none.
    """
    if not settings.separate(step):
        return None
    candidates = [(settings.verifier.environment, "tests")]
    if step:
        candidates.insert(0, (step.verifier.environment, f"steps/{step.name}/tests"))
    for environment, folder in candidates:
        if environment and environment.image:
            return environment.image
        for name in _IMAGE_FILES:
            if f"{folder}/{name}" in paths:
                return f"{folder}/{name}"
    return None


def _missing_files(settings: TaskSettings, known: set[str]) -> Iterator[str]:
    for step in settings.steps or (None,):
        instruction = f"steps/{step.name}/instruction.md" if step else "instruction.md"
        if instruction not in known:
            yield instruction
        if grader_image(settings, known, step):
            continue
        own = step.verifier.environment if step else None
        grader = own or settings.verifier.environment or settings.environment
        windows = (grader if settings.separate(step) else settings.environment).os == "windows"
        script = "test.bat" if windows else "test.sh"
        wanted = [f"tests/{script}"] + ([f"steps/{step.name}/tests/{script}"] if step else [])
        if not known.intersection(wanted):
            yield wanted[-1]
