"""Rows that trainers read from parquet: a prompt as chat messages, what rewards are made of, and what else there is."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import MARK, Json, Policy, Shown, ShownJson, name, prose, record
from rlx.answers.keys import words
from rlx.formats.conversation import tools, turns
from rlx.formats.processors.base import RowCard, ShownRow, Table
from rlx.formats.processors.cards import brief_of, filled, searched, title_of, usual_facets
from rlx.formats.processors.prompts.cells import at, is_empty, opened, places, told, withheld_places
from rlx.formats.processors.prompts.preambles import own_words, preambles
from rlx.formats.rows.media import named_media
from rlx.model import Block, KeyValues, Message, Messages, Note, Row, Section, Steps, Text, Tools
from rlx.model.blocks import Attachment
from rlx.texts import Say, say

PROMPT: Final = "prompt"
GIVEN: Final = frozenset({PROMPT, "tools", "extra_info.tools_schema"})
"""What the agent itself is given."""
MEDIA: Final = ("images", "videos", "audios")
_QUESTIONS: Final = ("extra_info.question", "extra_info.interaction_kwargs.query", "question", "problem")
_NAMED: Final = 40
_LEAST, _LONGEST = 12, 4000
_ATTACHED: Final = 40
_FILES: Final = 6
_TESTED: Final = ("test", "validation", "val", "valid", "eval", "evaluation", "dev", "heldout")
"""Splits that nobody trains on."""
_SHARD: Final = re.compile(r"-\d{1,6}-of-\d{1,6}")


@dataclass(frozen=True, slots=True)
class Title:
    """How rows of one table get their titles."""

    shared: tuple[str, ...]
    """What many prompts begin with."""

    @classmethod
    def of(cls, table: Table, policy: Policy) -> "Title":
        rows = (record(dict(row), policy=policy).value.value for row in table.sample)
        return cls(preambles([_asked(row) for row in rows if isinstance(row, dict)]))

    def card(self, row: ShownRow, facets: Mapping[str, tuple[Shown, ...]]) -> RowCard:
        text = self._text(row.value)
        title = title_of(text)
        return RowCard(title, brief_of(text, title), filled(facets), searched([text]))

    def _text(self, row: Mapping[str, Json]) -> str:
        """The question alone where the row repeats it; else what is asked, less what many rows begin with."""
        asked = _asked(row)
        for path in _QUESTIONS:
            words = str(at(row, path) or "").strip()
            if words != MARK and _LEAST < len(words) < _LONGEST and words in asked:
                return words
        return own_words(asked, self.shared)


def prompt_section(row: ShownRow) -> Section:
    """The messages that a chat template makes the prompt of, media, and tools where the row has them."""
    return Section("prompt", say("rows.section.prompt"), tuple(_prompt(row.value)))


def grading_blocks(row: ShownRow, sentences: Sequence[Text], settings: Sequence[str]) -> tuple[Block, ...]:
    """What scores it, where what is withheld stood, and the settings of scoring that are no answers."""
    blocks: list[Block] = [Steps(tuple(sentences))]
    hidden = withheld_places(row)
    if hidden:
        more = say("training.more", n=len(hidden) - _NAMED) if len(hidden) > _NAMED else None
        blocks.append(KeyValues((Row(say("training.withheld"), places(hidden[:_NAMED]), more, code=True),)))
    return (*blocks, *told(row.value, settings))


def metadata(row: ShownRow, used: Sequence[str]) -> Section:
    """What else the row holds; of `extra_info` and `reward_*` each part by itself."""
    paths: list[str] = []
    for key, value in row.value.items():
        inner = opened(value)
        if key in used or key in (PROMPT, *MEDIA):
            continue
        if isinstance(inner, dict):
            paths += [path for part in inner if (path := f"{key}.{part}") not in used]
        else:
            paths.append(key)
    return Section("metadata", say("rows.section.metadata"), told(row.value, paths))


def facets(row: ShownRow, category: Sequence[str], used: Sequence[str]) -> dict[str, tuple[Shown, ...]]:
    """The first of `category` that has a value is the category; short values of `extra_info` tell rows apart too."""
    flat = {key: value for key, value in row.value.items() if key != PROMPT}
    inner = opened(flat.pop("extra_info", None))
    flat = {**(inner if isinstance(inner, dict) else {}), **flat}
    found = dict(usual_facets(flat, {*used, "split", "question", "index", "data_source"}))
    for column in category:
        value = row.value.get(column)
        if isinstance(value, str) and value.strip() and value != MARK and len(value) < 80:
            found["category"] = (name(value),)
            break
    given = [tool.name for tool in tools(row.value.get("tools"))]
    if given:
        found["tools"] = tuple(dict.fromkeys(given))
    return found


def text_at(row: Mapping[str, Json], path: str) -> str | None:
    """A short text of the row, on one line."""
    value = at(row, path)
    return " ".join(value.split())[:200] if isinstance(value, str) and value.strip() and value != MARK else None


@dataclass(frozen=True, slots=True)
class Files:
    """What a trainer reads: to train on, and to validate with. Empty where the set has none."""

    train: tuple[str, ...]
    validate: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> "Files":
        """The files of the split, and beside them those of the other kind, which are called alike.

        A split is trained on unless it is called as one that is not; where there is no other, it is validated with too.
        """
        tested = set(words(table.split)) & set(_TESTED)
        if tested:
            return cls(_called(table, tested.pop(), ("train", "training")), table.paths)
        return cls(table.paths, _called(table, "train", _TESTED) or table.paths)

    @property
    def notes(self) -> tuple[Text, ...]:
        if not self.train:
            return (say("training.no_train"),)
        return (say("training.same"),) if self.train == self.validate else ()

    def option(self, files: Sequence[str]) -> str:
        """A list that both trainers' options take; where the set lacks them, a variable for one's own."""
        if not files:
            return '"$TRAIN_FILES"'
        return shlex.quote("[" + ",".join(f"data/{path}" for path in files[:_NAMED]) + "]")


def _called(table: Table, split: str, others: Sequence[str]) -> tuple[str, ...]:
    """Files of the repository that are called as those of the split are, but for its name, which is one of `others`."""
    known = {_stem(path, split) for path in table.paths}
    for other in others:
        found = tuple(sorted(path for path in table.files if other in words(path) and _stem(path, other) in known))
        if found:
            return found
    return ()


def _stem(path: str, split: str) -> str:
    return _SHARD.sub("", re.sub(rf"(?<![A-Za-z]){re.escape(split)}(?![A-Za-z])", "*", path))


def first(table: Table, policy: Policy) -> Mapping[str, Json]:
    """The first row, masked: what is told of all rows is told of it."""
    found = record(dict(table.sample[0]), policy=policy).value.value if table.sample else {}
    return found if isinstance(found, dict) else {}


def download(table: Table, files: Files) -> str:
    """The command that brings the files, at the revision that is shown; of many, the whole set."""
    paths = tuple(dict.fromkeys((*files.train, *files.validate)))
    names = [table.key.repo_id, *(paths if len(paths) <= _FILES else ())]
    return (
        f"hf download {' '.join(map(shlex.quote, names))} --repo-type dataset "
        f"--revision {shlex.quote(table.sha)} --local-dir data"
    )


def noted(cards: Sequence[RowCard]) -> ShownJson:
    return record({"rows": len(cards)}).value


def asked_text(row: ShownRow) -> str:
    """All that the model is sent, for estimates."""
    said = turns(row.value.get(PROMPT)) if not is_empty(row.value.get(PROMPT)) else ()
    return "\n".join(message.text for message in said)


def _asked(row: Mapping[str, Json]) -> str:
    said = turns(row.get(PROMPT)) if not is_empty(row.get(PROMPT)) else ()
    users = [message.text for message in said if message.role in {"user", "human"} and message.text.strip()]
    return users[-1] if users else next((message.text for message in said if message.text.strip()), "")


def _prompt(row: Mapping[str, Json]) -> Iterator[Block]:
    value = row.get(PROMPT)
    if is_empty(value) or value == MARK:
        yield Note(say("training.no_prompt"), "warn")
    else:
        media = tuple(_media([row.get(key) for key in MEDIA]))[:_ATTACHED]
        beside = (Message(name("user"), prose(""), media=media),) if media else ()
        yield Messages((*turns(value), *beside))
    given = tools(row.get("tools"))
    if given:
        yield Note(say("training.tools", n=len(given)))
        yield Tools(given)


def _media(value: Json, depth: int = 0) -> Iterator[Attachment]:
    if isinstance(value, str):
        found = named_media(value)
        if found is not None:
            yield Attachment(name(found[0]), found[1], name(found[2]))
    elif depth < 4:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _media(item, depth + 1)


def sources(version: str, date: str, framework: str) -> Say:
    return say("training.source", framework=framework, version=version, date=date)
