"""How the values of a facet are offered."""

from collections.abc import Collection, Mapping

from rlx.answers.stored import stored
from rlx.index.env_cards import SIZES, UNREAD
from rlx.model import Facet, FacetValue, Text
from rlx.texts import DEFAULT, Say, catalog

FACET_VALUES = 40
"""Values of a facet that a list offers; the rest are counted in `Facet.more`."""
NATURAL: Mapping[str, tuple[str, ...]] = {
    "size": (*SIZES, UNREAD),
    "difficulty": (
        *("Trivial", "Easy", "Simple", "Short", "Medium", "Moderate", "Hard", "Complex", "Difficult"),
        *("Challenging", "Expert", "Intricate"),
    ),
    "outcome": ("Solved", "Partly", "Failed", "Not graded", "Error"),
    "reward": ("<0", "0", "0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1", "1", ">1"),
    "turns": ("0", "1", "2–5", "6–10", "11–20", "21–50", "≥51"),
    "tokens": ("<1k", "1k–4k", "4k–16k", "16k–64k", "≥64k"),
    "health": ("Proven", "Broken", "Unproven"),
    "sandbox": ("Local", "Docker", "HF Sandbox", "None"),
}
"""Values that have an order of their own, whatever their case."""


def facet(key: str, counts: Mapping[str, int], selected: Collection[str]) -> Facet | None:
    """Values that occur, and selected ones: in their natural order, else commonest first, then by name.

    None when there are none.
    """
    order = {value.lower(): place for place, value in enumerate(NATURAL.get(key, ()))}
    known = {value: n for value, n in counts.items() if n} | {value: 0 for value in selected if not counts.get(value)}
    values = sorted(
        known, key=lambda value: (order.get(value.lower(), len(order)), -known[value], value.lower(), value)
    )
    shown = [value for place, value in enumerate(values) if place < FACET_VALUES or value in selected]
    if not shown:
        return None
    items = tuple(FacetValue(stored(value), known[value], value in selected) for value in shown)
    return Facet(key, facet_label(key), items, key in NATURAL, len(values) - len(shown))


def facet_label(key: str) -> Text:
    """A text of ours for the facets that formats share; any other key, `meta:<key>` among them, speaks for itself."""
    known = f"facet.{key}"
    return Say(known) if known in catalog(DEFAULT) else stored(key.removeprefix("meta:").replace("_", " "))
