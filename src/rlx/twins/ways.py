"""The ways to run a task, told once for all that say the same."""

from collections.abc import Sequence
from typing import NamedTuple

from rlx.model import AgentNeed, RunOption, Text, Variable
from rlx.texts import Say, say


class Ways(NamedTuple):
    """Run options with one answer. `first` speaks for all of them."""

    options: tuple[RunOption, ...]

    @property
    def first(self) -> RunOption:
        return self.options[0]

    @property
    def plain(self) -> bool:
        """Nothing tells these options apart but their names."""
        return not any(option.notes or option.warnings for option in self.options)


def ways(options: Sequence[RunOption]) -> tuple[Ways, ...]:
    """Options in their own order, those with the same answer for the same reason together."""
    found: dict[tuple[object, ...], list[RunOption]] = {}
    for option in options:
        found.setdefault((option.ok, option.reason, option.source), []).append(option)
    return tuple(Ways(tuple(group)) for group in found.values())


def variable_said(one: Variable) -> list[Say]:
    """Who of a task reads a variable, and whether it has to be given."""
    alone = "solution" if one.readers == ("solution",) else None
    both = "environment_grader" if {"environment", "grader"} <= set(one.readers) else None
    reader = alone or both or next(each for each in one.readers if each != "solution")
    told = [say(f"launch.variable_{reader}")]
    if one.of_model:
        told.append(say("launch.variable_judge"))
    if not one.required:
        told.append(say("launch.variable_optional"))
    return told


def needs_said(needs: Sequence[AgentNeed]) -> list[tuple[str, tuple[Text, ...]]]:
    """What agents want, or what stands in their way, those with the same words together under their names."""
    found: dict[tuple[Text, ...], list[str]] = {}
    for each in needs:
        found.setdefault(each.wants if each.reason is None else (each.reason,), []).append(each.agent)
    return [(", ".join(names), said) for said, names in found.items()]
