"""One attempt as evaluations of Verifiers save it: a line of `results.jsonl`, or an episode of `traces.jsonl`."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rlx.answers import MARK, Json
from rlx.answers.keys import names
from rlx.formats.processors.base import ShownRow
from rlx.formats.processors.prompts.cells import at, is_empty, text_of

_RESULTS: Final = re.compile(r"(?:.*/)?(?P<env>[^/]+?)--(?P<model>[^/]+)/(?P<run>[^/]+)/results\.jsonl(?:\.\w{2,4})?")
_TRACES: Final = re.compile(
    r"(?:.*/)?(?P<env>[^/]+?)--(?P<model>[^/]+?)--(?P<harness>[^/]+)--(?P<run>[0-9a-f]{8})/traces\.jsonl(?:\.\w{2,4})?"
)
_KEPT: Final = names(
    "id example_id prompt completion task reward answer info metrics token_usage timing error stop_condition tools "
    "tool_defs is_completed is_truncated trajectory generation_ms scoring_ms total_ms"
)
"""Columns that are no reward functions."""
_TOOLS: Final = ("tool_defs", "info.oai_tools", "info.tool_defs", "info.tools", "tools")
_NODES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Score:
    name: str
    value: float
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """What one agent said and was told."""

    agent: str
    value: Json
    hidden: int = 0
    """Messages of branches that were left."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt, masked. What it does not tell is None or empty."""

    env: str = ""
    model: str = ""
    run: str = ""
    example: str = ""
    prompt: Json = None
    talks: tuple[Talk, ...] = ()
    reward: float | None = None
    scores: tuple[Score, ...] = ()
    metrics: tuple[Score, ...] = ()
    tools: Json = None
    stop: str = ""
    error: str = ""
    turns: int | None = None
    tokens: float | None = None
    seconds: float | None = None
    timing: Mapping[str, float] = field(default_factory=dict)
    """What took how many seconds."""


@dataclass(frozen=True, slots=True)
class Run:
    """Where an attempt was saved, by the names of its folders."""

    env: str = ""
    model: str = ""
    run: str = ""
    folder: str = ""


def run_of(path: str) -> Run:
    found = _TRACES.fullmatch(path) or _RESULTS.fullmatch(path)
    folder = path.rpartition("/")[0]
    if found is None:
        return Run(folder=folder)
    return Run(found["env"], found["model"].replace("--", "/"), found["run"], folder)


def attempt_of(row: ShownRow) -> Attempt:
    """Takes whatever a row may hold; never raises."""
    return _episode(row) if isinstance(row.value.get("traces"), list) else _result(row)


def is_score(column: str, value: object) -> bool:
    """Whether a column of results is the value of a reward function, or a metric."""
    return column not in _KEPT and not column.endswith("_ms") and number(value) is not None


def number(value: object) -> float | None:
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and abs(value) < 1e15 else None


def _result(row: ShownRow) -> Attempt:
    value, run = row.value, run_of(row.path)
    scores = _scores({key: item for key, item in value.items() if is_score(key, item)})
    timing = {key.removesuffix("_ms"): found / 1000 for key, found in _numbers(value, "_ms")}
    timing |= {key.removesuffix("_ms"): found / 1000 for key, found in _numbers(value.get("timing"), "_ms")}
    usage = [found for _, found in _numbers(value.get("token_usage"), "_tokens")]
    example = text_of(value.get("example_id")) or _digest(value.get("prompt")) or text_of(value.get("id"))
    return Attempt(
        env=run.env or _told(value.get("task"), "default"),
        model=run.model,
        run=run.run,
        example=f"{run.env}/{example}" if example else "",
        prompt=value.get("prompt"),
        talks=(Talk("", value.get("completion")),),
        reward=number(value.get("reward")),
        scores=tuple(scores),
        metrics=tuple(_scores(value.get("metrics"))),
        tools=next((item for path in _TOOLS if not is_empty(item := at(value, path))), None),
        stop=_told(value.get("stop_condition")),
        error=text_of(value.get("error")),
        turns=_turns(value.get("completion")),
        tokens=sum(usage) if usage else None,
        seconds=timing.get("total"),
        timing=timing,
    )


def _episode(row: ShownRow) -> Attempt:
    value, run = row.value, run_of(row.path)
    traces = [item for item in _list(value.get("traces")) if isinstance(item, dict)]
    talks = [_talk(trace) for trace in traces]
    opening, rest = _opening(talks[0].value) if talks else ([], [])
    task = _dict(value.get("task"))
    key = _first(text_of(at(task, path)) for path in ("key", "hash", "data.idx"))
    env = _told(at(value, "env.id")) or run.env
    rated = [_weighted(scores) for trace in traces if (scores := _scores(trace.get("rewards")))]
    turns = sum(_dict(node).get("sampled") is True for trace in traces for node in _list(trace.get("nodes")))
    return Attempt(
        env=env,
        model=_first(map(_model, traces)) or run.model,
        run=_told(at(value, "run.name")) or _told(at(value, "run.id")) or run.run,
        example=f"{env}/{key}" if key else "",
        prompt=opening or at(task, "data.prompt"),
        talks=(Talk(talks[0].agent, rest, talks[0].hidden), *talks[1:]) if talks else (),
        reward=sum(rated) / len(rated) if rated else None,
        scores=tuple(score for trace in traces for score in _scores(trace.get("rewards"))),
        metrics=tuple(score for trace in traces for score in _scores(trace.get("metrics"))),
        tools=next((trace["tools"] for trace in traces if not is_empty(trace.get("tools"))), None),
        stop=_first(_told(trace.get("stop_condition")) for trace in traces),
        error="" if value.get("ok") is True else "\n".join(_errors((value, *traces))),
        turns=turns or None,
        tokens=number(value.get("num_total_tokens")),
        seconds=_span([item for trace in traces for item in _spans(trace)]),
    )


def _digest(prompt: Json) -> str:
    """Tells prompts apart: ids of the first releases count runs and not examples."""
    return "" if is_empty(prompt) else hashlib.sha256(json.dumps(prompt, sort_keys=True).encode()).hexdigest()[:16]


def _weighted(scores: Sequence[Score]) -> float:
    return sum(score.value * (1.0 if score.weight is None else score.weight) for score in scores)


def _errors(sources: Iterable[Mapping[str, Json]]) -> list[str]:
    """What went wrong, each once."""
    errors = (_dict(item) for source in sources for item in _list(source.get("errors")))
    return list(dict.fromkeys(text for item in errors if (text := text_of(item.get("message")))))


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def _talk(trace: Mapping[str, Json]) -> Talk:
    """The messages from the first to the last, by their parents; those of other branches are counted."""
    nodes = [_dict(node) for node in _list(trace.get("nodes"))[:_NODES]]
    path: list[Json] = []
    place: object = len(nodes) - 1
    seen: set[int] = set()
    while isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(nodes) and place not in seen:
        seen.add(place)
        path.append({**_dict(nodes[place].get("message")), "sampled": nodes[place].get("sampled")})
        place = nodes[place].get("parent")
    return Talk(_told(at(trace, "agent.name"), "agent"), path[::-1], len(nodes) - len(path))


def _opening(talk: Json) -> tuple[list[Json], list[Json]]:
    """What was said before the model first spoke, and the rest."""
    items = _list(talk)
    first = next((place for place, item in enumerate(items) if _dict(item).get("sampled") is True), len(items))
    return items[:first], items[first:]


def _scores(value: Json) -> list[Score]:
    found = []
    for key, item in _dict(value).items():
        score = number(item if not isinstance(item, dict) else item.get("score"))
        weight = number(item.get("weight")) if isinstance(item, dict) else None
        if score is not None:
            found.append(Score(key, score, 1.0 if isinstance(item, dict) and weight is None else weight))
    return found


def _model(trace: Mapping[str, Json]) -> str:
    called = _first(_told(_dict(call).get("model")) for call in _list(trace.get("calls")))
    return called or _told(at(trace, "agent.config.model"))


def _spans(trace: Mapping[str, Json]) -> Iterator[float]:
    timing = _dict(trace.get("timing"))
    for value in (timing.get("start"), *(at(timing, f"{part}.end") for part in ("agent", "finalize", "scoring"))):
        found = number(value)
        if found:
            yield found


def _span(times: Sequence[float]) -> float | None:
    return max(times) - min(times) if len(times) > 1 else None


def _turns(completion: Json) -> int | None:
    said = [item for item in _list(completion) if _dict(item).get("role") == "assistant"]
    return len(said) or (1 if isinstance(completion, str) and completion else None)


def _numbers(value: Json | Mapping[str, Json], end: str) -> Iterator[tuple[str, float]]:
    for key, item in value.items() if isinstance(value, Mapping) else ():
        found = number(item)
        if key.endswith(end) and found is not None:
            yield key, found


def _told(value: Any, nothing: str = "") -> str:
    """A short text; nothing for one that says `nothing`."""
    return value[:200] if isinstance(value, str) and value not in (nothing, MARK) else ""


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _dict(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
