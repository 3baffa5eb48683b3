"""The facets of a task: what lists are filtered by. Values are short; those of the dataset passed the policy before."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rlx.answers import Shown, name
from rlx.answers.shown import MARK
from rlx.formats.harbor.facts import COMPOSE, DOCKERFILE, Facts
from rlx.formats.harbor.running import Subject, runnable
from rlx.formats.harbor.schema import TaskSettings
from rlx.formats.harbor.sizes import LENGTHS, TIMEOUTS, agent_seconds, length_range, timeout_range, words_in
from rlx.formats.harbor.table import plain
from rlx.model import TaskCard

ORDER = (
    "difficulty",
    "category",
    "group",
    "language",
    "length",
    "timeout",
    "graded",
    "runs",
    "setup",
    "sandbox",
    "network",
    "base",
    "tags",
)
DIFFICULTIES = ("Trivial", "Easy", "Simple", "Short", "Medium", "Moderate", "Hard", "Complex", "Expert", "Intricate")
ORDERED = {
    "difficulty": DIFFICULTIES,
    "length": LENGTHS,
    "timeout": TIMEOUTS,
    "sandbox": ("Local", "Docker", "HF Sandbox", "None"),
}

_SAME = {"simple": "Easy", "beginner": "Easy", "basic": "Easy", "moderate": "Medium", "intermediate": "Medium"}
_SAME |= {"normal": "Medium", "difficult": "Hard", "challenging": "Hard", "advanced": "Hard", "very hard": "Expert"}
_DIFFICULTY_KEYS = ("difficulty", "difficulty_tier", "difficulty_level", "level")
_COMPLEXITY_KEYS = ("task_complexity", "complexity")
_CATEGORY_KEYS = ("category", "domain", "task_type_name", "task_type", "skill_type", "type", "subcategory", "subject")
_TAG_KEYS = ("tags", "keywords")
_NOT_META = {"category", "tags", "keywords", "language", "title", "description", "name", "id"}
_NOT_META |= {*_DIFFICULTY_KEYS[:3], *_COMPLEXITY_KEYS}
_NO_FACET = re.compile(
    r"(^|[_-])(e?[_-]?mails?|phones?|authors?|canary|explanation|reasoning|notes?|uuid|guid)([_-]|$)", re.I
)
"""Of people, or prose: nothing to filter by."""
_PLACEHOLDER = re.compile(r"[{}]|^__\w+__$|^TODO$")
_SANDBOX_NAMES = {"local": "Local", "docker": "Docker", "hf": "HF Sandbox"}
_NETWORK_NAMES = {"public": "Open", "no-network": "None", "allowlist": "Allow list"}
_MAX_VALUE = 60
_MAX_TAGS = 12


def task_facets(subject: Subject, prompt: str) -> dict[str, tuple[Shown, ...]]:
    """Of one task, from its masked settings and what its agent is told; only keys that have a value."""
    settings, facts = subject.settings, subject.facts
    metadata = settings.metadata
    runs = _runs(settings, subject.paths)
    networks = {network.mode for _, network in settings.networks} if runs != "Nothing" else set()
    found: dict[str, Iterable[str]] = {
        "graded": [_graded(facts)],
        "runs": [runs],
        "setup": _setup(settings, facts, subject.paths),
        "sandbox": [_SANDBOX_NAMES[item.sandbox] for item in runnable(subject) if item.could] or ["None"],
        "difficulty": [level for level in [_difficulty(metadata)] if level],
        "category": _short(_first(metadata, _CATEGORY_KEYS)),
        "language": _short(metadata.get("language")),
        "length": [length_range(words_in(prompt))],
        "timeout": [timeout_range(agent_seconds(settings))],
        "network": sorted(_NETWORK_NAMES.get(mode, mode) for mode in networks),
        "base": [_base(facts.dockerfile.base)] if facts.dockerfile and facts.dockerfile.base else [],
        "tags": _tags(settings),
    }
    if facts.problem:
        found = {}
    return {key: tuple(name(value) for value in dict.fromkeys(values)) for key, values in found.items() if values}


def difficulty(value: object, *, scale: bool = True) -> str | None:
    """The author's word in short, moved to the common `scale` where it is a synonym; None for a placeholder."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    word = re.split(r"[(\n,;:]", str(value).strip())[0].strip()
    word = re.sub(r"\s+(task|level|difficulty)$", "", word, flags=re.IGNORECASE)
    if not word or len(word) > 40 or _PLACEHOLDER.search(word) or word == MARK:
        return None
    own = word.capitalize() if word.isalpha() else word[0].upper() + word[1:]
    return _SAME.get(word.lower(), own) if scale else own


def metadata_values(metadata: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Values that may serve as `meta:<key>` facets: short words, numbers and lists of them."""
    found = {}
    category = next((key for key in _CATEGORY_KEYS if _short(metadata.get(key))), None)
    for key, value in metadata.items():
        if (
            key in _NOT_META
            or key == category
            or _NO_FACET.search(key)
            or len(key) > 40
            or not re.fullmatch(r"[\w.-]+", key)
        ):
            continue
        values = tuple(_short(value)) if not isinstance(value, list) else tuple(v for x in value for v in _short(x))
        if values:
            found[key] = values
    return found


def useful(cards: Sequence[TaskCard], key: str) -> bool:
    """Whether a facet tells tasks apart: two values at least, and for names of groups not one a task."""
    counts = Counter(value for card in cards for value in card.facets.get(key, ()))
    if key in ("length", "timeout"):
        return len(cards) > 1 and bool(counts)
    if key == "group":
        return 2 <= len(counts) <= 60 and len(counts) <= len(cards) * 0.8
    if key == "base":
        return 2 <= len(counts) <= 60
    return bool(counts)


def _difficulty(metadata: Mapping[str, object]) -> str | None:
    told = difficulty(_first(metadata, _DIFFICULTY_KEYS))
    return told or difficulty(_first(metadata, _COMPLEXITY_KEYS), scale=False)


def _graded(facts: Facts) -> str:
    kinds = {grading.kind for grading in facts.gradings}
    if "named" in kinds:
        return "Named scores"
    return "One score" if "one" in kinds else "Not found"


def _runs(settings: TaskSettings, paths: Iterable[str]) -> str:
    known = set(paths)
    if COMPOSE in known:
        return "Compose"
    if settings.environment.image:
        return "Image and Dockerfile" if DOCKERFILE in known else "Image"
    return "Dockerfile" if DOCKERFILE in known else "Nothing"


def _setup(settings: TaskSettings, facts: Facts, paths: Iterable[str]) -> list[str]:
    secrets = any(not item.default and not item.of_model and item.where != "solution.env" for item in facts.variables)
    every = settings.surroundings
    told = {
        "Steps": bool(settings.steps),
        "Separate grader": settings.separate() or any(settings.separate(step) for step in settings.steps),
        "MCP servers": any(item.mcp_servers for item in every),
        "Skills": bool(settings.environment.skills_dir),
        "Model judge": facts.judge is not None,
        "Secrets": secrets,
        "GPU": any(item.gpus for item in every),
        "TPU": any(item.tpu for item in every),
        "Windows": any(item.os == "windows" for item in every),
        "Prior trajectory": any(path.rpartition("/")[2] == "trajectory.json" for path in paths if "tests/" not in path),
    }
    return [label for label, is_so in told.items() if is_so]


def _base(image: str) -> str:
    """An image without its digest."""
    return image.partition("@")[0][:_MAX_VALUE]


def _tags(settings: TaskSettings) -> list[str]:
    raw = _first(settings.metadata, _TAG_KEYS) or list(settings.package.keywords if settings.package else ())
    items = raw if isinstance(raw, list) else [raw]
    return [value for item in items for value in _short(item)][:_MAX_TAGS]


def _first(metadata: Mapping[str, object], keys: Sequence[str]) -> object:
    return next((metadata[key] for key in keys if metadata.get(key) not in (None, "", [])), None)


def _short(value: object) -> list[str]:
    """A value that fits a list of choices; nothing for one that is long, nested, withheld or a placeholder."""
    if not isinstance(value, str | int | float):
        return []
    text = " ".join(plain(value).split())
    return [text] if text and len(text) <= _MAX_VALUE and text != MARK and not _PLACEHOLDER.search(text) else []
