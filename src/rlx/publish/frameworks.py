"""Frameworks that environments on the Hub are for, by the tag that claims one.

Which of them are dataset libraries there: `DATASET_LIBRARIES_UI_ELEMENTS` of `@huggingface/tasks` 0.21.54.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rlx.formats.kinds import bare_tags

MEMBER: Final = "rl-environment"
"""The tag of every environment, whatever its framework."""


@dataclass(frozen=True, slots=True)
class Framework:
    tag: str
    title: str
    library: bool
    """The Hub knows its tag as a dataset library: it shows an icon and offers a snippet."""


FRAMEWORKS: Final[Mapping[str, Framework]] = MappingProxyType(
    {
        framework.tag: framework
        for framework in (
            Framework("harbor", "Harbor", True),
            Framework("openenv", "OpenEnv", True),
            Framework("verifiers", "Verifiers", True),
            Framework("nemo-gym", "NeMo Gym", True),
            Framework("verl", "verl", False),
            Framework("skyrl", "SkyRL", False),
            Framework("ors", "ORS", False),
        )
    }
)


def claimed(tags: Iterable[str]) -> frozenset[str]:
    """Tags of the frameworks that a repository says it is for."""
    bare = bare_tags(tags)
    return frozenset(tag for tag in FRAMEWORKS if tag in bare)
