"""A processor from another distribution: rows of riddles, registered by entry point alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlx.answers import DENY, Policy, ShownJson, name, prose, record
from rlx.formats.processors.base import Match, RowCard, ShownRow, Table
from rlx.formats.processors.support import support
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Prompt, Section, Support


@dataclass(frozen=True)
class RiddleReading:
    policy: Policy = DENY
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        riddle = str(row.value.get("riddle", ""))
        return RowCard(name(riddle[:80]), name(""), search=riddle)

    def view(self, row: ShownRow) -> TaskView:
        riddle = Section("prompt", name("The riddle"), (Prompt(prose(str(row.value.get("riddle", "")))),))
        return TaskView((riddle,), (), (), _support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        return SummaryView((), (), _support())


class Riddles:
    name = "riddles"
    framework = "rows"
    version = 1

    def match(self, table: Table) -> Match | None:
        return Match(0.99, name("It has a column of riddles.")) if "riddle" in table.columns else None

    def reading(self, table: Table, roles: Mapping[str, str]) -> RiddleReading:
        return RiddleReading()


def _support() -> Support:
    told = name("A riddle is answered.")
    return support("rows", "Riddles", lifecycle=told, reward=told, evidence=told)
