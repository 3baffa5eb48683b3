"""What a list is asked to be filtered by, held against the facets and values that it has."""

from collections.abc import Collection, Mapping

from rlx.model import Unknown

type Known = Mapping[str, Collection[str]]
"""The values of each facet."""
type Filters = Mapping[str, tuple[str, ...]]


def spelled(filters: Filters, known: Known) -> dict[str, tuple[str, ...]]:
    """`filters` in the capitals of the values there are; what is not known stays as it is."""
    return {
        key: tuple(dict.fromkeys(own for value in values for own in _own(value, known.get(key, ()))))
        for key, values in filters.items()
    }


def unknown(filters: Filters, known: Known) -> tuple[Unknown, ...]:
    """The facets and values among `filters`, as they are spelled here, that nothing has."""
    found: list[Unknown] = []
    for key, values in filters.items():
        if key in known:
            found += [Unknown(key, value) for value in values if value not in known[key]]
        else:
            found.append(Unknown(key, facets=tuple(known)))
    return tuple(found)


def _own(value: str, values: Collection[str]) -> Collection[str]:
    if value in values:
        return (value,)
    folded = value.casefold()
    return [own for own in values if own.casefold() == folded] or (value,)
