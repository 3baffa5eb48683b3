"""Lists that one visitor alone is given: with their own private environments among those everybody sees."""

from dataclasses import replace

from rlx.ids import EnvKey
from rlx.model import EnvPage, EnvQuery, Viewer
from rlx.web.ports import Catalog


def asked_of(query: EnvQuery, viewer: Viewer) -> EnvQuery:
    """`query` as this visitor may ask it: without a token nothing is theirs."""
    return query if viewer.token is not None else replace(query, mine=False)


async def only_theirs(catalog: Catalog, query: EnvQuery, page: EnvPage) -> frozenset[EnvKey]:
    """Of a page, what the catalog does not tell everybody of."""
    if not query.mine:
        return frozenset()
    return frozenset([card.key for card in page.items if await catalog.card(card.key) is None])
