"""The file that keeps what a survey found: JSON, written whole, and not used by another version of the program."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rlx import __version__
from rlx.answers.shown import Json
from rlx.publish.detect.base import Evidence, State
from rlx.texts import Say, words

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found of one environment."""

    revision: str | None
    """That the catalog listed when it was looked at."""
    readable: bool
    """Everybody may read its files, and they could be listed."""
    member: bool = False
    whole: bool = True
    states: Mapping[str, State] = field(default_factory=dict)
    """By framework."""
    evidence: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)


type Kept = dict[str, Looked]
"""By environment key."""


def write_kept(path: Path, kept: Mapping[str, Looked]) -> None:
    """Replace the file. A disk that cannot be written to costs another look after a restart, no more."""
    raw = {"version": __version__, "seen": {name: _out(looked) for name, looked in kept.items()}}
    fresh = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(raw), "utf-8")
        fresh.replace(path)
    except OSError as error:
        _log.warning("%s was not written: %s", path, error)


def read_kept(path: Path) -> Kept:
    """What the file holds; nothing where there is none, or none that this version wrote."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        if raw["version"] != __version__:
            return {}
        return {str(name): _in(row) for name, row in raw["seen"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("%s is not used: %s", path, type(error).__name__)
        return {}


def _out(looked: Looked) -> dict[str, Json]:
    return {
        "revision": looked.revision,
        "readable": looked.readable,
        "member": looked.member,
        "whole": looked.whole,
        "states": dict(looked.states),
        "evidence": {
            name: [{"path": one.path, "told": _text_out(one.told)} for one in seen]
            for name, seen in looked.evidence.items()
        },
    }


def _in(row: Mapping[str, Any]) -> Looked:
    evidence = {
        str(name): tuple(Evidence(str(one["path"]), _told_in(one["told"])) for one in seen)
        for name, seen in row["evidence"].items()
    }
    states = {str(name): state for name, state in row["states"].items()}
    if not set(states.values()) <= set(get_args(State.__value__)):
        raise ValueError("a state that there is not")
    revision = row["revision"]
    readable, member, whole = (row[name] is True for name in ("readable", "member", "whole"))
    return Looked(None if revision is None else str(revision), readable, member, whole, states, evidence)


def _told_in(raw: Any) -> Say:
    """Raises `KeyError` for a text that there is not, or that takes other parameters."""
    told = Say(str(raw["say"]), tuple((str(name), _value_in(value)) for name, value in raw["with"]))
    words(told)
    return told


def _text_out(text: object) -> Json:
    """A text of ours with its parameters, which may be texts too; anything else is a word or a number."""
    if isinstance(text, Say):
        return {"say": text.key, "with": [[name, _text_out(value)] for name, value in text.params]}
    return text if isinstance(text, int | float) else str(text)


def _value_in(raw: Any) -> str | int | float | Say:
    if isinstance(raw, dict):
        return _told_in(raw)
    return raw if isinstance(raw, int | float) else str(raw)
