"""Why a task is not an ordinary one: its settings do not parse, or Harbor could not begin with it."""

from rlx.answers import Masked, name, prose
from rlx.formats.harbor.missing import missing_parts
from rlx.formats.harbor.phrases import none_of
from rlx.formats.harbor.running import Subject
from rlx.model import Code
from rlx.texts import Say, say

_AROUND = 2
"""Lines shown before and after the one a parser stopped at."""


def problem_of(subject: Subject) -> Say | None:
    """One sentence, the same in lists and on the page; None for an ordinary task."""
    problem = subject.facts.problem
    if problem:
        if problem.line is None:
            return say("harbor.problem.toml", message=problem.message)
        at = {"line": problem.line, "column": problem.column or 1}
        return say("harbor.problem.toml_at", message=problem.message, **at)
    lacking = missing_parts(subject.settings, subject.paths)
    if lacking:
        return say("harbor.problem.missing", what=none_of(lacking))
    if subject.facts.mark:
        return say("harbor.problem.mark")
    return say("harbor.problem.not_utf8", path=subject.facts.not_utf8[0]) if subject.facts.not_utf8 else None


def excerpt(written: Masked, line: int) -> Code:
    """The lines around the one a parser stopped at, from the masked text."""
    lines = written.text.split("\n")
    first = max(line - _AROUND, 1)
    text = "\n".join(lines[first - 1 : line + _AROUND])
    masked = tuple(at - first + 1 for at in written.masked if first <= at <= line + _AROUND)
    return Code(prose(text), name("task.toml"), "toml", masked, first)
