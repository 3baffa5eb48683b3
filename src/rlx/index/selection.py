"""Which environments a query leaves, in what order, and how the others would count."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from rlx.answers.stored import stored
from rlx.index.env_cards import SIZES, UNREAD
from rlx.index.tasks import FACET_VALUES
from rlx.model import KINDS, EnvCard, EnvQuery, Facet, FacetValue
from rlx.store.instance import Instance
from rlx.texts import say

FACETS = ("tag", "framework", "graded", "runs", "difficulty", "size", "licence")
"""In the order they are offered."""
_ORDERED: Mapping[str, tuple[str, ...]] = {
    "size": (*SIZES, UNREAD),
    "difficulty": ("trivial", "easy", "medium", "hard", "difficult", "expert"),
}


class Selection:
    """One query over the cards everybody may see, in listing order."""

    def __init__(self, cards: Sequence[EnvCard], query: EnvQuery, instance: Instance) -> None:
        words = query.text.lower().split()
        collection = next((item for item in instance.collections if item.id == query.collection), None)
        members = None if query.collection is None else set(collection.environments if collection else ())
        self._cards = [
            card
            for card in cards
            if all(word in _haystack(card) for word in words) and (members is None or str(card.key) in members)
        ]
        self._query = query
        self._filters = {key: set(values) for key, values in query.filters.items() if values}
        self._pinned = {key: place for place, key in enumerate(instance.pinned)}

    def sorted(self, sort: str) -> list[EnvCard]:
        """What the whole query leaves. Trending is the listing's own order, pinned first; ties keep listing order."""
        if sort == "trending":
            return sorted(self._chosen, key=lambda card: self._pinned.get(str(card.key), len(self._pinned)))
        key = _SORTS.get(sort)
        return sorted(self._chosen, key=key) if key else list(self._chosen)  # type: ignore[arg-type]  # each key sorts alike

    def kinds(self) -> tuple[tuple[str, int], ...]:
        counts = Counter(card.kind for card in self._cards if self._passes(card, but=None))
        return tuple((kind, counts[kind]) for kind in KINDS if counts[kind])

    def facets(self) -> tuple[Facet, ...]:
        found = (self._facet(key) for key in FACETS)
        return tuple(facet for facet in found if facet.values)

    @cached_property
    def _chosen(self) -> list[EnvCard]:
        return [card for card in self._of_kind if self._passes(card, but=None)]

    @cached_property
    def _of_kind(self) -> list[EnvCard]:
        return [card for card in self._cards if self._query.kind in (None, card.kind)]

    def _passes(self, card: EnvCard, *, but: str | None) -> bool:
        return all(
            key == but or not values.isdisjoint(card.facets.get(key, ())) for key, values in self._filters.items()
        )

    def _facet(self, key: str) -> Facet:
        left = [card for card in self._of_kind if self._passes(card, but=key)]
        counts = Counter(str(value) for card in left for value in card.facets.get(key, ()))
        selected = self._filters.get(key, set())
        order = {value: place for place, value in enumerate(_ORDERED.get(key, ()))}
        values = sorted(counts | dict.fromkeys(selected - counts.keys(), 0), key=lambda value: value.lower())
        values.sort(key=lambda value: (order.get(value.lower(), order.get(value, len(order))), -counts[value]))
        shown = [value for place, value in enumerate(values) if place < FACET_VALUES or value in selected]
        items = tuple(FacetValue(stored(value), counts[value], value in selected) for value in shown)
        return Facet(key, say(f"facet.{key}"), items, key in _ORDERED, len(values) - len(shown))


_SORTS: Mapping[str, Callable[[EnvCard], object]] = {
    "updated": lambda card: -(card.modified.timestamp() if card.modified else 0),
    "tasks": lambda card: -(-1 if card.tasks is None else card.tasks),
    "name": lambda card: card.key.repo_id.lower(),
    "downloads": lambda card: -(-1 if card.downloads is None else card.downloads),
    "likes": lambda card: -(-1 if card.likes is None else card.likes),
}


def _haystack(card: EnvCard) -> str:
    return f"{card.key.repo_id} {card.title} {card.brief} {' '.join(card.tags)}".lower()
