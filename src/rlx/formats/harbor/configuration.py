"""The settings of a task beside one another: the key, what the file says, what Harbor makes of it."""

from collections.abc import Iterator, Mapping

from rlx.answers import MARK, name, record
from rlx.answers.shown import Masked
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.running import Subject
from rlx.formats.harbor.table import as_number, plain
from rlx.model import Block, Code, Disclose, Note, Setting, Settings, Text, Value
from rlx.texts import say

_TABLES = ("agent", "verifier", "environment", "solution")
"""`[task]` and `[metadata]` have a section of their own."""
_TOP = ("schema_version", "version", "source", "multi_step_reward_strategy", "artifacts")
_DEFAULTS = (
    ("agent.timeout_sec", "harbor.config.no_limit"),
    ("verifier.timeout_sec", "harbor.config.ten_minutes"),
    ("environment.network_mode", "harbor.config.public"),
    ("environment.cpus", "harbor.config.sandbox_decides"),
    ("environment.memory_mb", "harbor.config.sandbox_decides"),
)
_INSTEAD = {"environment.network_mode": "environment.allow_internet", "environment.memory_mb": "environment.memory"}
_LONG = 400
_MAX_SETTINGS = 200


def configuration_blocks(
    subject: Subject, file: Mapping[str, object], written: Masked | None, verdict: Note
) -> tuple[Block, ...]:
    """`file` is the masked table; `written` the masked text of `task.toml`; `verdict` Harbor's own."""
    settings = subject.settings
    items = tuple(_settings(file, settings.own))[:_MAX_SETTINGS]
    blocks: list[Block] = [verdict, *((Settings(items),) if items else ())]
    blocks += [Note(say("harbor.odd.at", where=odd.where, what=odd.text), "warn") for odd in subject.facts.odd[:20]]
    if settings.own:
        blocks.append(Value(record(settings.own).value, say("harbor.config.own")))
    if written is not None:
        code = Code(written.text, name("task.toml"), "toml", written.masked)
        blocks.append(Disclose(say("harbor.config.written"), (code,)))
    return tuple(blocks)


def _settings(file: Mapping[str, object], own: Mapping[str, object]) -> Iterator[Setting]:
    """Settings that Harbor knows; the dataset's `own` are shown apart."""
    others = tuple(own)
    known = {key: value for key, value in _flat(file) if not _below(key, others)}
    for key, value in known.items():
        yield Setting(name(key), name(plain(value)[:_LONG]), _reading(key, value))
    for key, default in _DEFAULTS:
        of_steps = key.endswith("timeout_sec") and "steps" in file
        if file and not of_steps and key not in known and _INSTEAD.get(key) not in known:
            yield Setting(name(key), None, say(default))


def _below(key: str, others: tuple[str, ...]) -> bool:
    return any(key == other or key.startswith((f"{other}.", f"{other}[")) for other in others)


def _flat(file: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key in _TOP:
        if file.get(key) not in (None, [], ""):
            yield key, file[key]
    for table in _TABLES:
        yield from _inside(table, file.get(table))
    steps = file.get("steps")
    for place, step in enumerate(steps if isinstance(steps, list) else (), 1):
        label = step.get("name") if isinstance(step, Mapping) else None
        yield from _inside(f"steps.{label if isinstance(label, str) else place}", step)


def _inside(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _inside(f"{prefix}.{key}", inner)
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for place, item in enumerate(value):
            yield from _inside(f"{prefix}[{place}]", item)
    elif value not in (None, [], ""):
        yield prefix, value


def _reading(key: str, value: object) -> Text | None:
    """What Harbor takes a setting for, where that is not the same words."""
    word = key.rpartition(".")[2]
    number = as_number(value)
    if value == MARK:
        return None
    if word.endswith("_sec") and number is not None:
        return duration(number)
    if word in ("memory_mb", "storage_mb") and number is not None:
        return say("harbor.size", n=int(number))
    if word in ("memory", "storage") and key.count(".") == 1:
        return say("harbor.config.legacy_size", key=f"{word}_mb")
    if word == "allow_internet" and isinstance(value, bool):
        return say("harbor.config.internet" if value else "harbor.config.no_internet")
    if key == "version":
        return say("harbor.config.version")
    return None
