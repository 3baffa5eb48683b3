"""Listings: filters, search, sort and keyset paging over every repository of a kind, in memory."""

import base64
import bisect
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rlx.localhub.access import Visitor
from rlx.localhub.repo import Repo
from rlx.localhub.views import created_ms, modified_ms
from rlx.localhub.wire import Refusal

PAGE = 1000

_FILTER_KEYS = (
    "language_creators",
    "language",
    "multilinguality",
    "size_categories",
    "task_categories",
    "task_ids",
    "benchmark",
)


SORTS: dict[str, Callable[[Repo], int]] = {
    "trendingScore": lambda repo: repo.meta.trending_score,
    "likes": lambda repo: repo.meta.likes,
    "likes30d": lambda repo: repo.meta.likes,
    "downloads": lambda repo: repo.meta.downloads,
    "lastModified": lambda repo: modified_ms(repo, repo.head),
    "createdAt": lambda repo: created_ms(repo, repo.head),
    "mainSize": lambda repo: repo.head.size,
    "id": lambda repo: 0,
}
"""Always descending; ties by id."""


@dataclass(frozen=True, slots=True)
class Query:
    filters: tuple[str, ...] = ()
    """Tags that must all be there."""
    author: str | None = None
    search: tuple[str, ...] = ()
    """Words that must all occur in the id, whatever their case."""
    gated: bool | None = None
    linked: tuple[tuple[str, str], ...] = ()
    """Pairs of card key (`models`, `datasets`) and repository that a Space must name."""
    sort: str = "trendingScore"
    limit: int = PAGE
    cursor: str | None = None


def parse_query(pairs: Iterable[tuple[str, str]], *, limit: int) -> Query:
    """A listing request's query. Refuses an unknown sort key; unknown parameters are ignored, as on the Hub."""
    pairs = list(pairs)
    single = dict(pairs)
    sort = single.get("sort") or "trendingScore"
    if sort not in SORTS:
        raise Refusal(400, "", f"Unknown sort key '{sort[:80]}'. Known: {', '.join(sorted(SORTS))}.")
    gated = single.get("gated")
    return Query(
        filters=tuple(
            [value for key, value in pairs if key == "filter"]
            + [f"{key}:{value}" for key, value in pairs if key in _FILTER_KEYS]
        ),
        author=single.get("author"),
        search=tuple(word for key, value in pairs if key == "search" for word in value.casefold().split()),
        gated=None if gated is None else gated.lower() in {"true", "1"},
        linked=tuple((key, value) for key, value in pairs if key in {"models", "datasets"}),
        sort=sort,
        limit=limit,
        cursor=single.get("cursor"),
    )


class Catalog:
    """The repositories of a kind at one moment."""

    def __init__(self, repos: Sequence[Repo]) -> None:
        self.repos = sorted(repos, key=lambda repo: repo.id)
        self.version = [(repo.id, repo.generation) for repo in self.repos]
        self._names = [repo.id.casefold() for repo in self.repos]
        self._orders: dict[str, tuple[list[int], list[tuple[int, str]]]] = {}
        self._tagged: dict[str, set[int]] = {}
        for number, repo in enumerate(self.repos):
            for tag in repo.head.card.tags(repo.kind):
                self._tagged.setdefault(tag, set()).add(number)

    def page(self, query: Query, visitor: Visitor) -> tuple[list[Repo], str | None]:
        """One page that `visitor` may see, and the cursor of the next one."""
        numbers, keys = self._order(query.sort)
        start = bisect.bisect_right(keys, _read_cursor(query.cursor)) if query.cursor else 0
        wanted = self._select(query)
        found: list[Repo] = []
        for position in range(start, len(numbers)):
            repo = self.repos[numbers[position]]
            if (wanted is None or numbers[position] in wanted) and visitor.sees(repo):
                if len(found) == query.limit:
                    return found, _write_cursor(keys[position - 1])
                found.append(repo)
        return found, None

    def _select(self, query: Query) -> set[int] | None:
        sets = [self._tagged.get(tag, set()) for tag in query.filters]
        wanted = set.intersection(*sorted(sets, key=len)) if sets else None
        for keep in self._conditions(query):
            numbers = range(len(self.repos)) if wanted is None else wanted
            wanted = {number for number in numbers if keep(number)}
        return wanted

    def _conditions(self, query: Query) -> Iterable[Callable[[int], bool]]:
        if query.author is not None:
            yield lambda number: self.repos[number].author == query.author
        if query.search:
            yield lambda number: all(word in self._names[number] for word in query.search)
        if query.gated is not None:
            yield lambda number: bool(self.repos[number].meta.gated) is query.gated
        if query.linked:
            yield lambda number: all(name in self.repos[number].head.card.values(key) for key, name in query.linked)

    def _order(self, sort: str) -> tuple[list[int], list[tuple[int, str]]]:
        known = self._orders.get(sort)
        if known is None:
            value = SORTS[sort]
            ranked = sorted((-value(repo), repo.id, number) for number, repo in enumerate(self.repos))
            known = [number for _, _, number in ranked], [(rank, id_) for rank, id_, _ in ranked]
            self._orders[sort] = known
        return known


def _write_cursor(key: tuple[int, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def _read_cursor(cursor: str) -> tuple[int, str]:
    try:
        rank, id_ = json.loads(base64.urlsafe_b64decode(cursor))
        return int(rank), str(id_)
    except (ValueError, TypeError) as error:
        raise Refusal(400, "", "The cursor is not one of this hub's.") from error
