"""Specifications and rendered trees that tests share."""

from functools import cache

from rlx.generator.registry import archetype, archetypes
from rlx.generator.render import Tree, render
from rlx.generator.spec import EnvSpec

ARCHETYPES = sorted(archetypes())


@cache
def example(name: str) -> EnvSpec:
    return archetype(name).example()


@cache
def tree(name: str) -> Tree:
    """The example of an archetype in every framework. Not to be changed."""
    return render(example(name))


def connect_four() -> EnvSpec:
    return example("board_game")
