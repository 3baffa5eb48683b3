"""Re-mints what the store holds. It passed the policy when it was written, and only `rlx.index` writes there."""

from rlx.answers.shown import Json, Shown, ShownJson, show, show_json


def stored(text: str) -> Shown:
    """Text of an index or a pack."""
    return show(text)


def stored_json(value: Json) -> ShownJson:
    """A JSON value of an index or a pack."""
    return show_json(value)
