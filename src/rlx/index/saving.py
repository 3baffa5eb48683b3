"""How an index is named, written and, with those of older revisions, kept."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread

from rlx.answers import Shown, name
from rlx.formats import card as env_card
from rlx.hub.repo import Repo
from rlx.index.records import Finished, Reader
from rlx.index.tasks import Extra, Header, write_index
from rlx.model import Progress
from rlx.store.shelf import Shelf

MAX_FILE = 512 * 1024
"""Bytes of one file that an index reads. Larger ones are left to the file viewer."""
KEPT_REVISIONS = 3

type OnProgress = Callable[[Progress], None]


def names(repo: Repo, reader: Reader) -> tuple[str, str]:
    """Shelf names of the index and the pack of `repo` at its revision, as `reader` reads it."""
    leaf = f"{repo.key.slug}/{repo.sha}.{reader.format}{reader.version}.db"
    return f"indexes/{leaf}", f"packs/{leaf}"


async def save(
    path: Path,
    repo: Repo,
    reader: Reader,
    finished: Finished,
    extras: Sequence[Extra],
    readme: Shown | None,
    *,
    walked: bool = False,
    pending: int = 0,
    unsearched: int = 0,
    shared: tuple[str, ...] = (),
) -> None:
    """Write an index; for the last four see `Header`. A task without a title is called by the repository's name."""
    called = (card if card.title else replace(card, title=name(repo.key.name)) for card in finished.cards)
    finished = replace(finished, cards=tuple(called))
    header = Header(
        key=str(repo.key),
        sha=repo.sha,
        format=reader.format,
        reader_version=reader.version,
        built_at=datetime.now(UTC),
        tasks=len(extras),
        title=env_card.title(repo.info, readme or ""),
        brief=env_card.brief(repo.info, readme or ""),
        readme=readme,
        facts=finished.header,
        facet_order=finished.facet_order,
        ordered=finished.ordered,
        tile=finished.tile,
        subsets=finished.subsets,
        withheld=finished.withheld,
        walked=walked,
        pending=pending,
        unsearched=unsearched,
        shared=shared,
    )
    await anyio.to_thread.run_sync(write_index, path, header, finished, extras)


def prune(shelf: Shelf, slug: str) -> None:
    """Keep the newest revisions; an open database outlives its name."""
    for folder in (f"indexes/{slug}", f"packs/{slug}"):
        for leaf in shelf.names(folder)[KEPT_REVISIONS:]:
            shelf.drop(f"{folder}/{leaf}")
        shelf.sweep(folder)
