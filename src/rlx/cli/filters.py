"""Filters as they were typed, set against what there is to filter by."""

from collections.abc import Iterable, Mapping, Sequence

from rlx.errors import BadInput

type Filters = Mapping[str, tuple[str, ...]]
type Known = Mapping[str, Sequence[str]]
"""Each filter's values."""

NAMED = 30
"""Values that an error names."""


def fits(filters: Filters, known: Known) -> bool:
    """Whether every filter and every value is known."""
    return all(key in known and all(_meant(value, known[key]) for value in values) for key, values in filters.items())


def settle(filters: Filters, known: Known, what: str) -> dict[str, tuple[str, ...]]:
    """The filters with values as they are spelled, whatever the case they were typed in.

    Raises `BadInput`, which lists what there is, for a filter or value that `what` does not have.
    """
    unknown = [key for key in filters if key not in known]
    if unknown:
        hint = f"Filters: {', '.join(known)}." if known else "It has nothing to filter by."
        raise BadInput(f"No filter {', '.join(unknown)!r} for {what}.", hint=hint)
    return {key: tuple(_settled(key, values, known[key], what)) for key, values in filters.items()}


def _settled(key: str, values: Iterable[str], known: Sequence[str], what: str) -> Iterable[str]:
    for value in values:
        meant = _meant(value, known)
        if not meant:
            more = f" and {len(known) - NAMED:,} more" if len(known) > NAMED else ""
            hint = f"{key}: {', '.join(known[:NAMED])}{more}."
            raise BadInput(f"No {key} is {value!r} in {what}.", hint=hint)
        yield from meant


def _meant(value: str, known: Sequence[str]) -> list[str]:
    """The value itself, else those that differ from it by case alone."""
    return [value] if value in known else [other for other in known if other.casefold() == value.casefold()]
