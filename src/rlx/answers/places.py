"""Values at dotted paths of a record, through lists: found, and changed."""

from collections.abc import Callable, Iterator
from typing import Final

from rlx.answers import keys
from rlx.answers.shown import Json

_DEPTH: Final = 100


def last(path: str) -> str:
    """The name at the end of a path."""
    return path.replace("[]", "").rpartition(".")[2]


def changed(value: Json, path: str, wanted: frozenset[str], change: Callable[[Json, str], Json]) -> Json:
    """`value` with what stands at the `wanted` paths changed."""
    if path in wanted:
        return change(value, path)
    if isinstance(value, list) and leads(path, wanted):
        return [changed(item, path, wanted, change) for item in value]
    if isinstance(value, dict) and leads(path, wanted):
        return {key: changed(item, f"{path}.{key}".lstrip("."), wanted, change) for key, item in value.items()}
    return value


def at(value: Json, path: str, wanted: frozenset[str]) -> Iterator[Json]:
    """What stands at the `wanted` paths."""
    if path in wanted:
        yield value
    elif isinstance(value, list) and leads(path, wanted):
        for item in value:
            yield from at(item, path, wanted)
    elif isinstance(value, dict) and leads(path, wanted):
        for key, item in value.items():
            yield from at(item, f"{path}.{key}".lstrip("."), wanted)


def told(value: Json, path: str, allowed: frozenset[str], echoes: frozenset[str], depth: int = 0) -> Iterator[Json]:
    """What of a record an agent is given: what a policy allows, and what is called as a question or its choices are.
    Without what is sought for echoes, and what stands there beside."""
    if path in echoes or depth > _DEPTH:
        return
    if path in allowed or (path and keys.flat(last(path)) in keys.INPUTS | keys.OPTIONS):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from told(item, path, allowed, echoes, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from told(item, f"{path}.{key}".lstrip("."), allowed, echoes, depth + 1)


def leads(path: str, wanted: frozenset[str]) -> bool:
    """Whether a wanted path may be below `path`."""
    return not path or any(item.startswith(f"{path}.") for item in wanted)
