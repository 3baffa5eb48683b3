"""Records: any JSON-like value, copied with its answers replaced.

Keys decide (`keys`), at any depth and inside strings that are JSON themselves. What cannot be looked into, because it
is too deep, too large or opaque, is withheld and never passed through. Two things are recognised without a key: what
an assistant says last in a conversation, and unified diffs outside the task's own words.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from itertools import islice
from typing import NamedTuple

from rlx.answers import choices, given, keys, places
from rlx.answers.echoes import TEXTS, Echoes, patch_at, strings
from rlx.answers.shown import ARCHIVE, MARK, Json, MaskedJson, Withheld, clean, show_json
from rlx.texts import Say, say

NODES = 200_000
"""Values looked at in one record; the rest is withheld."""
DEPTH = 100
_NAMES = 100_000
"""Keys of an object that are known to the others."""
STRINGS = 16 * 1024 * 1024
"""Characters of JSON inside strings that are parsed for one record."""
_REPORTED = 200
"""Places named in one report."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What of a record is shown. Paths are dotted and without list positions: `info.tools.name`."""

    name: str
    columns: frozenset[str] | None = None
    """Top-level keys of a known format; any other is withheld. None: the key policy alone decides."""
    allow: frozenset[str] = frozenset()
    """Paths of what the agent itself is given, or said: shown whole but for keys that hold answers (`given`)."""
    deny: frozenset[str] = frozenset()
    """Keys or paths that are withheld too."""
    look: frozenset[str] = frozenset()
    """Paths of containers that are looked into although their name says answer; the last turn of a conversation too."""
    only: frozenset[str] = frozenset()
    """Paths of objects, or of JSON texts of them, of which nothing is shown but what `allow` and `look` name."""
    echoes: frozenset[str] = frozenset()
    """Paths of values, as `messages`, in whose texts what is withheld elsewhere in the record is withheld too."""
    apart: frozenset[str] = frozenset()
    """Keys of archives whose files are shown by themselves: `ARCHIVE` stands there, and nothing is withheld."""
    given: frozenset[str] = frozenset()
    """Paths of tables handed to a solution: only values that name a variable (`${NAME}`) are shown."""


VARIABLE = re.compile(r"\$\{\w{1,100}\}")
"""A value that is somewhere else."""

TALKS = frozenset(
    {"messages", "conversations", "conversation", "trajectory", "history", "steps", "turns", "transcript"}
)
"""Names under which records keep what was said."""

DENY = Policy("deny", echoes=TALKS)
"""For records of unknown make."""


class _Zone(NamedTuple):
    strict: bool = False
    """Inside the grader's own part."""
    told: bool = False
    """Inside what a tool told the agent, whose `output` is part of the conversation."""
    schema: bool = False
    """Inside a JSON Schema, where property names are names of parameters."""
    words: bool = False
    """Inside what a solver is given, where a diff is part of the task."""


_SCHEMA_WORDS = keys.names(
    "type description title enum items properties required anyOf oneOf allOf not default format minimum maximum "
    "minItems maxItems minLength maxLength pattern additionalProperties $ref $defs definitions const examples "
    "nullable strict name"
)
_FIXED = frozenset({"const", "default", "examples"})
_SCHEMA_PLACES = keys.names("parameters inputschema outputschema jsonschema schema tools functions")
_TOLD = keys.names("function_call_output tool_result custom_tool_call_output")
_TOOLS = keys.names("tool function")
_ASSISTANT = keys.names("assistant gpt model ai agent bot")
_JSON_START = re.compile(r"[\s\ufeff]*(?:\{\s*[\"'}\w]|\[\s*[\[{\"'\d\]-]|\"\s*(?:\\\"|[\[{]))")
_LOOSE_KEY = re.compile(rf"(?:[\"']|[{{,]\s*)([^\W\d][\w .{keys.INVISIBLE}-]{{0,60}})\\*[\"']?\s*:")
_OPAQUE = re.compile(r"(?:H4sI|eJ[wyzxk]|UEsD|gAS)[A-Za-z0-9+/=\s_-]{180,}")
"""Base64 of gzip, zlib, zip or pickle: hidden tests are shipped so."""


def record(value: object, *, policy: Policy = DENY, at: str = "", nodes: int = NODES) -> MaskedJson:
    """A copy of `value` with its answers replaced by `MARK`; `at` prefixes the places named in `withheld`.

    Takes whatever JSON, TOML, YAML or a table may give. Looks at `nodes` values; the rest is withheld. Never raises.
    """
    walk = _Walk(policy, at, nodes)
    shown = walk.ended(walk.echoed(walk.value(value, "", _Zone())))
    return MaskedJson(show_json(shown), walk.report())


def plain(value: object) -> Json:
    """A copy of `value` that JSON can write, shown whole but for what is nested too deeply."""
    return _Walk(DENY, "").plain(value)


@dataclass(slots=True)
class _Walk:
    policy: Policy
    at: str
    nodes: int = NODES
    strings: int = STRINGS
    depth: int = 0
    hidden: int = 0
    found: dict[tuple[str, Say], None] = field(default_factory=dict)
    heard: Echoes = field(default_factory=Echoes)
    secrets: dict[str, None] = field(default_factory=dict)
    """Texts that were withheld, where a policy shows what an agent is given."""

    def report(self) -> tuple[Withheld, ...]:
        prefix = f"{self.at}: " if self.at else ""
        places = list(self.found)[:_REPORTED]
        return tuple(Withheld(f"{prefix}{path}" if path else self.at, reason) for path, reason in places)

    def withhold(self, path: str, reason: Say) -> str:
        self.hidden += 1
        if len(self.found) < _REPORTED:
            self.found[path, reason] = None
        return MARK

    def keep(self, plain: str, value: object, reason: Say) -> None:
        """Remember what is withheld, so that it is found where it is said again."""
        if self.policy.echoes and reason != say("answers.column"):
            self.heard.gather(plain, value)
        if self.policy.allow and len(self.secrets) < TEXTS:
            self.secrets.update(dict.fromkeys(strings(value)))
            if isinstance(value, int | float) and not isinstance(value, bool):
                self.secrets[str(scalar(value))] = None

    def echoed(self, shown: Json) -> Json:
        """What is shown, without what it repeats of what is withheld."""
        said = list(places.at(shown, "", self.policy.echoes)) if self.policy.echoes else []
        if not said:
            return shown
        self.heard.settle(said, places.told(shown, "", self.policy.allow - self.policy.echoes, self.policy.echoes))
        return places.changed(shown, "", self.policy.echoes, self.without_echoes) if self.heard.sought else shown

    def without_echoes(self, shown: Json, path: str) -> Json:
        before = self.heard.hidden
        masked = self.heard.masked(shown)
        if self.heard.hidden > before:
            self.withhold(path, say("answers.echo"))
        return masked

    def ended(self, shown: Json) -> Json:
        """What is shown, without the answers with which prompts end."""
        prompts = self.policy.allow - self.policy.echoes
        return places.changed(shown, "", prompts, self.without_ending) if self.secrets and prompts else shown

    def without_ending(self, shown: Json, path: str) -> Json:
        turns = shown
        if isinstance(shown, str) and _JSON_START.match(shown):
            try:
                turns = show_json(self.plain(parse_json(shown)[0])).value
            except (ValueError, RecursionError):
                return shown
        told = given.without_ending(turns, self.secrets) if isinstance(turns, list) else None
        if told is None:
            return shown
        self.withhold(path, say("answers.echo"))
        return json.dumps(told, ensure_ascii=False) if isinstance(shown, str) else told

    def value(self, value: object, path: str, zone: _Zone) -> Json:
        self.nodes -= 1
        if self.nodes < 0 or self.depth > DEPTH:
            return self.withhold(path, say("answers.too_deep"))
        if isinstance(value, str):
            return self.string(value, path, zone)
        if isinstance(value, Mapping):
            return self.nested(lambda: self.mapping(value, path, zone))
        if isinstance(value, list | tuple | set | frozenset):
            items = list(value)
            return self.nested(lambda: self.sequence(items, f"{path}[]", zone))
        return scalar(value)

    def nested(self, look: Callable[[], Json]) -> Json:
        self.depth += 1
        try:
            return look()
        finally:
            self.depth -= 1

    def mapping(self, value: Mapping[object, object], path: str, zone: _Zone) -> Json:
        names = frozenset(keys.flat(str(key)) for key in islice(value, _NAMES))
        told = zone.told or _is_tool_output(value)
        here = zone if told == zone.told else zone._replace(told=told)
        schema = zone.schema or _is_schema(value)
        shown: dict[str, Json] = {}
        for key, inner in value.items():
            if self.nodes < 0:
                self.withhold(path, say("answers.too_deep"))
                break
            label = clean(str(key))
            place = f"{path}.{label}" if path else label
            plain = place.replace("[]", "").lstrip(".")
            whole = keys.flat(label)
            if label in self.policy.apart:
                shown[label] = ARCHIVE if inner else None
                continue
            if plain in self.policy.allow:
                said = given.is_whole(label, inner, None)
                shown[label] = self.plain(inner) if said else self.given(inner, place)
                continue
            reason = self._reason(label, place, plain, inner, names, here) or self._closed(plain, inner)
            if reason is not None:
                self.keep(plain, inner, reason)
                shown[label] = self.withhold(place, reason)
                continue
            below = _Zone(
                strict=zone.strict or whole in keys.STRICT_CONTAINERS,
                told=told,
                schema=schema or whole in _SCHEMA_PLACES,
                words=zone.words or whole in keys.INPUTS or whole == "description",
            )
            shown[label] = self.value(inner, place, below)
        if choices.are_numbered(value):
            choices.even(list(value.values()), list(shown.values()), choices=choices.are_choices(places.last(path)))
        return shown

    def _reason(
        self, key: str, place: str, plain: str, value: object, names: frozenset[str], zone: _Zone
    ) -> Say | None:
        if key in self.policy.deny or plain in self.policy.deny:
            return say("answers.denied")
        if self.policy.columns is not None and "." not in plain and key not in self.policy.columns:
            return say("answers.key" if keys.hides(key, value, names) else "answers.column")
        if plain.rpartition(".")[0] in self.policy.given and not VARIABLE.fullmatch(str(value)):
            return say("answers.denied")
        if plain in self.policy.look or (zone.schema and (key in _SCHEMA_WORDS or _is_parameter(value))):
            return None
        if keys.hides(key, value, names, strict=zone.strict):
            return None if zone.told and key == "output" else say("answers.key")
        if zone.strict and keys.flat(key) in keys.STRICT_CONTAINERS and _is_prose(value):
            return say("answers.key")
        return None

    def _closed(self, plain: str, value: object) -> Say | None:
        """Why a part of an object of which only some is shown is not."""
        inside = plain.rpartition(".")[0] in self.policy.only and plain not in self.policy.look
        opaque = plain in self.policy.only and not _is_object(value)
        return say("answers.column") if inside or opaque else None

    def sequence(self, items: list[object], path: str, zone: _Zone) -> Json:
        roles = [_role(item) for item in items]
        talk = bool(items) and all(role is not None for role in roles) and not self._is_looked_into(path)
        first = next((at for at, role in enumerate(roles) if role in _ASSISTANT), len(items)) if talk else 0
        last = len(items)
        while talk and last and roles[last - 1] in _ASSISTANT:
            last -= 1
        shown: list[Json] = []
        for at, item in enumerate(items):
            if self.nodes < 0:
                self.withhold(path, say("answers.too_deep"))
                shown.append(MARK)
                break
            if talk and at >= last:
                shown.append({"role": scalar(roles[at]), "content": self.withhold(path, say("answers.last_turn"))})
            else:
                shown.append(self.value(item, path, zone._replace(words=zone.words or (talk and at < first))))
        if not talk:
            choices.even(items, shown, choices=choices.are_choices(places.last(path)))
        return shown

    def given(self, value: object, path: str) -> Json:
        """What an agent is given or said: shown whole, but for keys that hold answers, which no agent gets."""
        self.nodes -= 1
        if self.nodes < 0 or self.depth > DEPTH:
            return self.withhold(path, say("answers.too_deep"))
        if isinstance(value, str) and _JSON_START.match(value):
            return self.given_text(value, path)
        if isinstance(value, Mapping):
            return self.nested(lambda: self.given_object(value, path))
        if isinstance(value, list | tuple | set | frozenset):
            items = list(value)
            return self.nested(lambda: self.given_list(items, f"{path}[]"))
        return scalar(value)

    def given_object(self, value: Mapping[object, object], path: str) -> Json:
        names = frozenset(keys.flat(str(key)) for key in islice(value, _NAMES))
        shown: dict[str, Json] = {}
        for key, inner in value.items():
            label = clean(str(key))
            place = f"{path}.{label}"
            if given.is_whole(label, inner, value):
                shown[label] = self.plain(inner)
            elif given.withholds(label, inner, names, places.last(path)):
                self.keep(place.replace("[]", "").lstrip("."), inner, say("answers.key"))
                shown[label] = self.withhold(place, say("answers.key"))
            else:
                shown[label] = self.given(inner, place)
        if choices.are_numbered(value):
            choices.even(list(value.values()), list(shown.values()), choices=choices.are_choices(places.last(path)))
        return shown

    def given_list(self, items: list[object], path: str) -> Json:
        shown = [self.given(inner, path) for inner in items]
        choices.even(items, shown, choices=choices.are_choices(places.last(path)))
        return shown

    def given_text(self, text: str, path: str) -> str:
        """JSON in a text that an agent is given. What is no JSON is the text that it gets."""
        self.strings -= len(text)
        if self.strings < 0:
            return self.withhold(path, say("answers.too_deep"))
        try:
            inner, repeats = parse_json(text)
        except RecursionError:
            return self.withhold(path, say("answers.too_deep"))
        except ValueError:
            return clean(text)
        before = self.hidden
        shown = self.nested(lambda: self.given(inner, path))
        return clean(text) if self.hidden == before and not repeats else json.dumps(shown, ensure_ascii=False)

    def _is_looked_into(self, path: str) -> bool:
        return bool(self.policy.look) and path.replace("[]", "").lstrip(".") in self.policy.look

    def string(self, text: str, path: str, zone: _Zone) -> str:
        if _OPAQUE.match(text):
            return self.withhold(path, say("answers.opaque"))
        if _JSON_START.match(text):
            return self.json_text(text, path, zone)
        if not zone.words:
            begin = patch_at(text)
            if begin is not None:
                if self.policy.echoes:
                    self.heard.gather("patch", text[begin:])
                return clean(text[:begin]) + self.withhold(path, say("answers.diff"))
        return clean(text)

    def json_text(self, text: str, path: str, zone: _Zone) -> str:
        """JSON inside a string: masked and written again, or as it was when it holds nothing to hide."""
        self.strings -= len(text)
        if self.strings < 0:
            return self.withhold(path, say("answers.too_deep"))
        try:
            inner, repeats = parse_json(text)
        except RecursionError:
            return self.withhold(path, say("answers.too_deep"))
        except ValueError:
            if any(keys.is_answer_key(match[1]) for match in _LOOSE_KEY.finditer(text)):
                return self.withhold(path, say("answers.unparsed"))
            return clean(text)
        before = self.hidden
        shown = self.nested(lambda: self.value(inner, path, zone))
        if self.hidden == before and not repeats:
            return clean(text)
        return json.dumps(shown, ensure_ascii=False)

    def plain(self, value: object) -> Json:
        """A value that is shown whole, made safe to write."""
        self.nodes -= 1
        if self.nodes < 0 or self.depth > DEPTH:
            return MARK
        if isinstance(value, Mapping):
            return self.nested(lambda: {clean(str(key)): self.plain(inner) for key, inner in value.items()})
        if isinstance(value, list | tuple | set | frozenset):
            return self.nested(lambda: [self.plain(inner) for inner in value])
        return scalar(value)


def scalar(value: object) -> Json:
    """A leaf as JSON can write it: numbers finite and of bounded size, text valid Unicode, the rest by its name."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int):
        return value if value.bit_length() <= 64 else _long_number(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return f"‹{len(value)} bytes›"
    return f"‹{type(value).__name__}›"


def _long_number(value: int) -> str:
    digits = int(value.bit_length() * math.log10(2)) + 1
    return str(value) if digits <= 1000 else f"‹number of about {digits} digits›"


class _LongNumber(str):
    """An integer literal too long to be worth reading as a number."""


def parse_json(text: str) -> tuple[object, bool]:
    """`text` as JSON, and whether an object in it repeats a key (the last wins, the text still holds the others).

    Raises `ValueError` when it is not JSON and `RecursionError` when it is nested too deeply.
    """
    repeats = False

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeats
        made = dict(items)
        repeats = repeats or len(made) < len(items)
        return made

    def integer(digits: str) -> int | str:
        return int(digits) if len(digits) <= 1000 else _LongNumber(f"‹number of {len(digits.lstrip('-'))} digits›")

    return json.loads(text.lstrip("\ufeff \t\r\n"), object_pairs_hook=pairs, parse_int=integer), repeats


def _is_object(value: object) -> bool:
    """Whether `value` is nothing, or an object or the JSON text of one: what has keys to judge."""
    if not isinstance(value, str) or not value:
        return value in (None, "") or isinstance(value, Mapping)
    try:
        return isinstance(parse_json(value)[0], Mapping)
    except (ValueError, RecursionError):
        return False


def _role(item: object) -> str | None:
    if not isinstance(item, Mapping):
        return None
    role = item.get("role", item.get("from"))
    return role.lower() if isinstance(role, str) and len(role) < 40 else None


def _is_tool_output(value: Mapping[object, object]) -> bool:
    kind = value.get("type")
    return _role(value) in _TOOLS or (isinstance(kind, str) and kind in _TOLD)


def _is_schema(value: Mapping[object, object]) -> bool:
    return isinstance(value.get("properties"), Mapping) and ("type" in value or "required" in value)


def _is_parameter(value: object) -> bool:
    """Whether a property's value describes a parameter and holds nothing else."""
    return isinstance(value, Mapping) and bool(value) and all(key in _SCHEMA_WORDS - _FIXED for key in value)


def _is_prose(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and isinstance(value[0], str))
