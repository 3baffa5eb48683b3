"""The ways to run a task, told once for all that say the same."""

from collections.abc import Sequence
from typing import NamedTuple

from rlx.model import RunOption


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
