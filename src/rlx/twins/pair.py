"""Two tasks of an environment side by side: what is the same, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlx.ids import EnvKey
from rlx.model import Row, Section, Task, Text
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.inline import line
from rlx.twins.parts import NOWHERE, Addresses, join, section_parts

_LEFT_OUT = ("row", "files", "run-there")
"""Sections that tell nothing by being compared."""


@dataclass(frozen=True, slots=True)
class PairRow:
    label: Text
    one: Row | None
    other: Row | None

    @property
    def same(self) -> bool:
        return self.one is not None and self.other is not None and self.one.value == self.other.value


@dataclass(frozen=True, slots=True)
class PairSection:
    id: str
    title: Text
    one: Section | None
    other: Section | None

    @property
    def same(self) -> bool:
        return self.one is not None and self.other is not None and self.one.blocks == self.other.blocks


def pair_rows(one: Task, other: Task) -> tuple[PairRow, ...]:
    """The facts at a glance of both, in the order of the first."""
    first, second = ({row.label: row for row in task.glance} for task in (one, other))
    return tuple(PairRow(label, first.get(label), second.get(label)) for label in dict.fromkeys((*first, *second)))


def pair_sections(one: Task, other: Task) -> tuple[PairSection, ...]:
    """The sections of both, in the order of the first."""
    first, second = ({section.id: section for section in task.sections} for task in (one, other))
    found = []
    for id_ in dict.fromkeys((*first, *second)):
        title = first[id_].title if id_ in first else second[id_].title
        if id_ not in _LEFT_OUT:
            found.append(PairSection(id_, title, first.get(id_), second.get(id_)))
    return tuple(found)


def pair_markdown(one: Task, other: Task, key: EnvKey, language: str = DEFAULT, *, at: Addresses = NOWHERE) -> str:
    """What both share is told once; the rest of each under its ref."""
    refs = ((at.task(key, one.ref), line(one.title, language)), (at.task(key, other.ref), line(other.title, language)))
    parts = [f"# {words(say('pair.title'), language)}", "\n".join(f"- {ref}: {title}" for ref, title in refs)]
    parts.append("\n".join(_row(row, language) for row in pair_rows(one, other)))
    for section in pair_sections(one, other):
        if section.same and section.one is not None:
            parts += [*section_parts(section.one, language), words(say("pair.same"), language)]
            continue
        for task, told in ((one, section.one), (other, section.other)):
            if told is not None:
                parts += [f"({task.ref})", *section_parts(told, language)]
    return join(parts)


def _row(row: PairRow, language: str) -> str:
    sides = " | ".join("-" if side is None else _value(side.value, language) for side in (row.one, row.other))
    return f"- {words(row.label, language)}: {sides}"


def _value(value: Text | Sequence[Text], language: str) -> str:
    if isinstance(value, str | Say):
        return line(value, language)
    return ", ".join(line(item, language) for item in value)
