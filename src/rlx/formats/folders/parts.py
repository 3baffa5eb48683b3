"""Which file of a folder plays which part of a task, by names alone.

Nothing in such a folder says what its files are for. Each part is taken by a rule that can be told to a reader: the
prompt by its name, the checker by a word of its name that programs which grade have, the solution and what is expected
by theirs. A README is a prompt only where the rest leaves no doubt, since every folder of code has one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rlx.answers import keys
from rlx.answers.files import CODE, PROMPT_STEMS

SETTINGS: Final = ("task.yaml", "task.yml")
"""Terminal-Bench's first format: the prompt is in it."""
DETAILS: Final = ("metadata.json", "meta.json")
"""Files that tell of a task beside its prompt."""
DOCKERFILES: Final = ("Dockerfile", "environment/Dockerfile", "docker/Dockerfile")
COMPOSES: Final = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
DOCS: Final = (".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md")
"""Exercism's prompt, in the order in which a learner reads it."""

type Rule = Literal["settings", "docs", "name", "readme"]
"""How the prompt was told: it is a setting, it lies in `.docs`, it is named so, there is but a README."""

_PROMPTS: Final = tuple(PROMPT_STEMS.split())
_PROSE: Final = ("md", "txt", "markdown", "rst", "")
_CHECKS = keys.names(
    "check checks checker checkers verify verifier verification grade grader graders grading score scorer scoring "
    "eval evaluate evaluator evaluation judge validate validator validation"
)
_TESTS = keys.names("test tests spec")
_SOLVES = keys.names("solution solutions solve sol reference oracle exemplar canonical golden")
_SURELY_SOLVES = keys.names("solution solutions solve exemplar")
_EXPECTS = keys.names(
    "expected answer answers output outputs gold truth label labels rubric rubrics testcases inputoutput ans out"
)
_CASES = keys.names("tests testcases testdata inputoutput cases")
_SOLVED_IN = keys.names("solution solutions oracle reference")
_CHECKED_IN = keys.names(
    "test tests hiddentests privatetests check checks checker grader graders grading verifier verify evaluation "
    "evaluator eval spec"
)
_PACKAGES = keys.names("setup.py pyproject.toml package.json cargo.toml go.mod pom.xml composer.json build.gradle")
_TERMINAL = ("run-tests.sh", "solution.sh", "solution.yaml", *DOCKERFILES[:1], *COMPOSES[:2])
_DATA = keys.names("json jsonl txt csv tsv yaml yml xml md out ans toml sql")
_PATCHES = keys.names("patch diff")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one folder, as paths in it, each in listing order. A folder's path has a slash at its end."""

    rule: Rule
    prompts: tuple[str, ...]
    """What the agent gets, put together in this order."""
    checkers: tuple[str, ...] = ()
    """Programs that grade, or hold tests."""
    expected: tuple[str, ...] = ()
    """What an answer is compared with."""
    solutions: tuple[str, ...] = ()
    dockerfile: str | None = None
    compose: str | None = None
    settings: str | None = None
    details: str | None = None

    @property
    def make(self) -> str:
        """Folders of one make are laid out alike."""
        return f"name:{self.prompts[0].lower()}" if self.rule == "name" else self.rule


def is_prompt(path: str) -> bool:
    """Whether a path in a folder makes it worth a look."""
    return path in DOCS or path in SETTINGS or ("/" not in path and _prompt_place(path) is not None)


def is_test(path: str) -> bool:
    """Whether a checker is one of tests, rather than a program that grades by itself."""
    file = _File(path)
    return not file.words or not _TESTS.isdisjoint(file.words) or not file.folders.isdisjoint(_TESTS)


def read_parts(paths: Sequence[str]) -> Parts | None:
    """The parts of a folder that holds `paths`; None where no prompt is, or nothing that grades or solves."""
    settings = next((path for path in SETTINGS if path in paths), None)
    if settings and not any(path in _TERMINAL or path.startswith("tests/") for path in paths):
        settings = None
    prompts, rule = _prompts(paths, settings)
    if not prompts or (rule == "readme" and not _is_surely_task(paths)):
        return None
    found = _sorted(path for path in paths if path not in prompts)
    if not (found.checkers or found.expected or found.solutions):
        return None
    return Parts(
        rule,
        prompts,
        tuple(found.checkers),
        tuple(found.expected),
        tuple(found.solutions),
        next((path for path in DOCKERFILES if path in paths), None),
        next((path for path in COMPOSES if path in paths), None),
        settings,
        next((path for path in DETAILS if path in paths), None),
    )


def _prompts(paths: Sequence[str], settings: str | None) -> tuple[tuple[str, ...], Rule]:
    if settings:
        return (settings,), "settings"
    if DOCS[1] in paths:
        return tuple(path for path in DOCS if path in paths), "docs"
    named = [(place, path) for path in paths if "/" not in path and (place := _prompt_place(path)) is not None]
    if not named:
        return (), "name"
    (place, path) = min(named)
    return (path,), "readme" if place[0] == len(_PROMPTS) else "name"


def _prompt_place(file: str) -> tuple[int, int] | None:
    """How likely a file of a folder is its prompt, the likeliest first; None for one that is not."""
    stem, _, suffix = file.lower().partition(".")
    if suffix not in _PROSE or not stem:
        return None
    flat = keys.flat(stem)
    if flat == "readme":
        return len(_PROMPTS), _PROSE.index(suffix)
    return (_PROMPTS.index(flat), _PROSE.index(suffix)) if flat in _PROMPTS and suffix else None


@dataclass(slots=True)
class _Found:
    checkers: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    solutions: list[str] = field(default_factory=list)


def _sorted(paths: Iterable[str]) -> _Found:
    """The first rule that fits decides: `check_solution.py` is a checker."""
    found = _Found()
    rules = _rules(found)
    for path in paths:
        file = _File(path)
        for fits, kept in rules:
            if fits(file):
                kept.append(path)
                break
    return found


class _File:
    """A path and its names in words."""

    def __init__(self, path: str) -> None:
        folders, _, file = path.rpartition("/")
        self.folders = frozenset(keys.flat(folder) for folder in folders.split("/"))
        self.hidden = frozenset(folders.split("/"))
        suffix = file.rpartition(".")[2] if "." in file.lstrip(".") else ""
        self.suffix = suffix.lower()
        name = file.removesuffix(f".{suffix}") if suffix else file
        self.words = keys.words(name.replace(".", " "))
        self.ends = frozenset((*self.words[:1], *self.words[-1:]))
        self.flat = keys.flat(name)
        self.is_top = not folders
        self.is_program = self.suffix in CODE or (not suffix and (self.is_top or not file))


def _rules(found: _Found) -> tuple[tuple[Callable[[_File], bool], list[str]], ...]:
    return (
        (lambda file: not file.folders.isdisjoint(_SOLVED_IN), found.solutions),
        (_is_checker, found.checkers),
        (_is_solution, found.solutions),
        (_is_expected, found.expected),
    )


def _is_checker(file: _File) -> bool:
    if file.suffix in _PATCHES:
        return not _TESTS.isdisjoint(file.words)
    if not file.folders.isdisjoint(_CHECKED_IN):
        return file.is_program
    return file.is_top and file.is_program and not file.ends.isdisjoint(_CHECKS | _TESTS)


def _is_solution(file: _File) -> bool:
    if ".meta" in file.hidden and file.is_program:
        return not file.ends.isdisjoint({"example", "exemplar", "proof"})
    if file.suffix in _PATCHES:
        return True
    return file.is_top and not file.ends.isdisjoint(_SOLVES)


def _is_expected(file: _File) -> bool:
    """Data, not programs; of folders those named so count, so that `output/` of a program under test does not."""
    if file.suffix not in _DATA:
        return False
    if not file.folders.isdisjoint(_CHECKED_IN | {"expected", "answers", "expectedoutput", "expectedoutputs"}):
        return True
    return file.is_top and (not file.ends.isdisjoint(_EXPECTS) or file.flat in _CASES or file.suffix in _EXPECTS)


def _is_surely_task(paths: Sequence[str]) -> bool:
    """Whether a folder with a README is more than code with its tests, by what lies at its top."""
    if any(path.lower() in _PACKAGES for path in paths):
        return False
    found = _sorted(path for path in paths if path.count("/") <= 1)
    graded = any(not _File(path).ends.isdisjoint(_CHECKS) for path in found.checkers if "/" not in path)
    solved = any(not _File(path).ends.isdisjoint(_SURELY_SOLVES) or "/" in path for path in found.solutions)
    return graded or solved or "run-tests.sh" in paths or any("/" not in item for item in found.expected)
