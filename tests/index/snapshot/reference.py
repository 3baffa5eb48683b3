"""What a search of the catalog answers, in plain Python over plain lists: slow, short, and sharing no code with it."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rlx.ids import EnvKey
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.model import EnvCard, EnvQuery, TaskSearch
from rlx.store.instance import Instance

KINDS = ("openenv", "servers", "harbor", "verifiers", "nemo-gym", "openenv-data", "verl", "skyrl", "mimo", "rows")
ENV_FACETS = ("tag", "framework", "graded", "runs", "difficulty", "size", "licence")
TASK_FACETS = ("difficulty", "category", "language", "graded", "sandbox", "framework")
ORDERED = {
    "size": ("under 10", "10 to 99", "100 to 999", "1,000 and more", "not counted"),
    "difficulty": (
        [
            "trivial",
            "easy",
            "simple",
            "short",
            "medium",
            "moderate",
            "hard",
            "complex",
            "difficult",
            "challenging",
            "expert",
            "intricate",
        ]
    ),
    "sandbox": ("local", "docker", "hf sandbox", "none"),
}
SHOWN = 40

type Values = list[tuple[str, int, bool]]
type Filters = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Answer:
    items: list[str]
    total: int
    more: bool
    kinds: list[tuple[str, int]]
    facets: list[tuple[str, Values, int]]


@dataclass(frozen=True)
class Item:
    """An environment or a task, and where it was found in the order of popularity."""

    name: str
    own: Mapping[str, Sequence[str]]
    key: EnvKey


def environments(content: Content, query: EnvQuery, instance: Instance) -> Answer:
    query = replace(query, filters=_spelled(query.filters, ENV_FACETS, [card.facets for card in content.envs]))
    cards = [card for card in content.envs if str(card.key) not in instance.hidden]
    words = _folded(query.text).split()
    cards = [card for card in cards if all(word in _text(card) for word in words)]
    if query.collection is not None:
        members = [item.environments for item in instance.collections if item.id == query.collection]
        cards = [card for card in cards if members and str(card.key) in members[0]]
    passing = [card for card in cards if _passes(card.facets, query.filters)]
    of_kind = [card for card in cards if query.kind in (None, card.kind)]
    chosen = _ordered([card for card in passing if query.kind in (None, card.kind)], content, query.sort, instance)
    counts = Counter(card.kind for card in passing)
    return Answer(
        items=[str(card.key) for card in chosen[query.offset : query.offset + query.limit]],
        total=len(chosen),
        more=False,
        kinds=[(kind, counts[kind]) for kind in KINDS if counts[kind]],
        facets=_facets(
            ENV_FACETS, query.filters, lambda key: [c.facets for c in of_kind if _but(c.facets, query.filters, key)]
        ),
    )


def tasks(content: Content, search: TaskSearch, instance: Instance, most: int) -> Answer:
    every = [_own(card, row) for card, row in _popular(content)]
    search = replace(search, filters=_spelled(search.filters, TASK_FACETS, every))
    rows = [(card, row) for card, row in _popular(content) if str(card.key) not in instance.hidden]
    if search.environment is not None:
        rows = [(card, row) for card, row in rows if card.key == search.environment]
    wanted = _asked(search.text)
    if search.text.strip() and not wanted:
        rows = []
    found = [(card, row) for card, row in rows if all(_begins(word, _every(row)) for word in wanted)]
    left = [item for item in found if _passes(_own(*item), search.filters)]
    if wanted:
        whole = [item for item in left if all(word in _called(item[1]) for word in wanted)][:most]
        begun = [item for item in left if all(_begins(word, _called(item[1])) for word in wanted)][:most]
        best = []
        for item in [*whole, *begun, *left[:most]]:
            if item not in best:
                best.append(item)
        best = best[:most]
    else:
        most = len(left)
        best = left

    def counted(key: str) -> list[Mapping[str, Sequence[str]]]:
        others = [item for item in found if _but(_own(*item), search.filters, key)]
        return [_own(*item) for item in (others[:most] if wanted else others)]

    return Answer(
        items=[f"{card.key} {row.ref}" for card, row in best[search.offset : search.offset + search.limit]],
        total=min(len(left), most),
        more=len(left) > most,
        kinds=[],
        facets=_facets(TASK_FACETS, search.filters, counted),
    )


def _popular(content: Content) -> list[tuple[EnvCard, TaskRow]]:
    """First tasks before second ones; of environments in listing order."""
    placed = [
        (number, place, card, row)
        for place, card in enumerate(content.envs)
        for number, row in enumerate(content.tasks.get(card.key, ()))
    ]
    return [(card, row) for _, _, card, row in sorted(placed, key=lambda item: item[:2])]


def _ordered(cards: list[EnvCard], content: Content, sort: str, instance: Instance) -> list[EnvCard]:
    if sort == "trending":
        places = {str(card.key): place for place, card in enumerate(content.envs)}
        slots = [place for place, card in enumerate(content.envs) if card.kind == "openenv"]
        servers = [card for card in content.envs if card.kind == "openenv"]
        ours = [card for card in servers if card.key.org.lower() == instance.curated.lower()]
        for slot, card in zip(slots, [*ours, *(card for card in servers if card not in ours)], strict=True):
            places[str(card.key)] = slot
        for place, key in enumerate(instance.pinned):
            if key in places and places[key] >= 0:
                places[key] = place - 1000
        return sorted(cards, key=lambda card: places[str(card.key)])
    keys: dict[str, Callable[[EnvCard], tuple[object, ...]]] = {
        "updated": lambda card: (card.modified is None, -(card.modified.timestamp() if card.modified else 0)),
        "tasks": lambda card: (card.tasks is None, -(card.tasks or 0)),
        "downloads": lambda card: (card.downloads is None, -(card.downloads or 0)),
        "likes": lambda card: (card.likes is None, -(card.likes or 0)),
        "name": lambda card: (f"{card.key.org}/{card.key.name}".lower(),),
    }
    return sorted(cards, key=keys[sort])


def _facets(
    keys: Sequence[str], filters: Filters, counted: Callable[[str], list[Mapping[str, Sequence[str]]]]
) -> list[tuple[str, Values, int]]:
    found = []
    for key in keys:
        selected = filters.get(key, ())
        counts = Counter(value for own in counted(key) for value in own.get(key, ()))
        order = list(ORDERED.get(key, ()))
        values = sorted(
            {*counts, *selected},
            key=lambda value: (
                order.index(value.lower()) if value.lower() in order else len(order),
                -counts[value],
                value.lower(),
                value,
            ),
        )
        shown = [value for place, value in enumerate(values) if place < SHOWN or value in selected]
        if shown:
            found.append(
                (key, [(value, counts[value], value in selected) for value in shown], len(values) - len(shown))
            )
    return found


def _spelled(
    filters: Filters, keys: Sequence[str], every: Sequence[Mapping[str, Sequence[str]]]
) -> dict[str, tuple[str, ...]]:
    """A value that nothing has means those that differ by capitals alone."""
    spelled = {}
    for key, values in filters.items():
        known = {value for own in every for value in own.get(key, ())} if key in keys else set()
        alike = {value: sorted(one for one in known if one.casefold() == value.casefold()) for value in values}
        spelled[key] = tuple(
            one for value in values for one in ([value] if value in known else alike[value] or [value])
        )
    return spelled


def _passes(own: Mapping[str, Sequence[str]], filters: Filters) -> bool:
    return all(not values or set(values) & set(own.get(key, ())) for key, values in filters.items())


def _but(own: Mapping[str, Sequence[str]], filters: Filters, key: str) -> bool:
    return _passes(own, {other: values for other, values in filters.items() if other != key})


def _own(card: EnvCard, row: TaskRow) -> Mapping[str, Sequence[str]]:
    return {**row.facets, "framework": card.facets.get("framework", ())}


def _text(card: EnvCard) -> str:
    return _folded(f"{card.key.org}/{card.key.name} {card.title} {card.brief} {' '.join(card.tags)}")


def _folded(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", composed.casefold())


def _every(row: TaskRow) -> list[str]:
    return _words(f"{row.title} {row.ref} {row.brief} {' '.join(row.facets.get('category', ()))} {row.words}")


def _called(row: TaskRow) -> list[str]:
    return _words(f"{row.title} {row.ref.split('/')[-1]}")


def _begins(word: str, words: list[str]) -> bool:
    if len(word) <= 2 or _joined(word[0]):
        return word in words
    return any(other.startswith(word) for other in words)


def _asked(text: str) -> list[str]:
    """Latin words as they stand; runs of joined writing as their pairs."""
    found: list[str] = []
    for run in _runs(text)[:8]:
        if _joined(run[0]) and len(run) > 1:
            found += [run[:40][place : place + 2] for place in range(len(run[:40]) - 1)]
        else:
            found.append(run[:40])
    return list(dict.fromkeys(found))


def _words(text: str) -> list[str]:
    found: list[str] = []
    for run in _runs(text):
        if _joined(run[0]):
            found += [*run, *(run[place : place + 2] for place in range(len(run) - 1))]
        else:
            found.append(run[:40])
    return found


def _runs(text: str) -> list[str]:
    runs: list[str] = []
    last = ""
    for char in _folded(text):
        goes_on = last == "word" and _is_mark(char)
        kind = "joined" if _joined(char) else "word" if char.isalnum() or goes_on else ""
        if kind and kind == last:
            runs[-1] += char
        elif kind:
            runs.append(char)
        last = kind
    return runs


def _joined(char: str) -> bool:
    name = unicodedata.name(char, "")
    return name.startswith(("HANGUL", "CJK UNIFIED", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"))


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in {"Mn", "Mc"} and not unicodedata.name(char, "").startswith("VARIATION")
