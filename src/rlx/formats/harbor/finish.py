"""The second pass over a dataset: what can only be said of a task once all its neighbours are known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlx.answers import Shown, ShownJson, Withheld, name, record
from rlx.formats.facets import metadata_facets, tile_facet
from rlx.formats.harbor.dataset import MAX_LISTED, absent, manifests
from rlx.formats.harbor.discovery import common_root, group_of
from rlx.formats.harbor.facets import ORDER, ORDERED, useful
from rlx.formats.harbor.sizes import spread
from rlx.ids import ROOT_REF
from rlx.index.records import Finished, TaskRecord
from rlx.model import TaskCard
from rlx.texts import Say

SHARED = 0.3
"""A paragraph that more than this part of the tasks begin with says nothing of one of them."""


def finish(records: Sequence[TaskRecord], shared: Mapping[str, bytes]) -> Finished:
    roots = ["" if item.card.ref == ROOT_REF else item.card.ref for item in records]
    common = common_root(roots)
    groups = [group_of(root, common) for root in roots]
    briefs = _briefs(records)
    titles = _titles(records, roots, common)
    known: list[Mapping[str, tuple[str, ...]]] = [_note(item, "metadata", {}) for item in records]
    keys = metadata_facets(known)
    cards = []
    for place, item in enumerate(records):
        facets = dict(item.card.facets)
        if groups[place]:
            facets["group"] = (name(groups[place]),)
        for key in keys:
            if values := known[place].get(key):
                facets[f"meta:{key}"] = tuple(name(value) for value in dict.fromkeys(values))
        cards.append(replace(item.card, title=titles[place], brief=briefs[place], facets=facets))
    numbers = {key: tuple(_note(item, "numbers", {}).get(key) for item in records) for key in ("length", "timeout")}
    offered = [key for key in (*ORDER, *(f"meta:{key}" for key in keys)) if useful(cards, key)]
    grouped = "group" in offered
    return Finished(
        cards=tuple(_keep(card, offered) for card in cards),
        settings={},
        header=_header(records, shared, numbers, len({group for group in groups if group}) if grouped else 0),
        facet_order=tuple(offered),
        ordered=ORDERED,
        tile=tile_facet(_keep(card, offered).facets for card in cards),
        subsets=grouped,
        numbers=numbers,
        withheld=_withheld(records),
    )


def _keep(card: TaskCard, keys: Sequence[str]) -> TaskCard:
    return replace(card, facets={key: values for key, values in card.facets.items() if key in keys})


def _briefs(records: Sequence[TaskRecord]) -> list[Shown]:
    """For each task its first paragraph that is not shared by too many; the first one when all are."""
    candidates: list[tuple[Shown, ...]] = [_note(item, "briefs", ()) for item in records]
    counts = Counter(text for texts in candidates for text in set(texts))
    limit = max(1.0, len(records) * SHARED)
    empty = name("")
    return [
        next((text for text in texts if counts[text] <= limit), texts[0] if texts else empty) for texts in candidates
    ]


def _titles(records: Sequence[TaskRecord], roots: Sequence[str], common: str) -> list[Shown]:
    """Titles that occur once; namesakes are called by their folder, or by their path when that is shared too."""
    folders = [root.rpartition("/")[2] or str(item.card.title) for root, item in zip(roots, records, strict=True)]
    titles, names = Counter(str(item.card.title) for item in records), Counter(folders)
    found = []
    for item, root, folder in zip(records, roots, folders, strict=True):
        title = item.card.title
        if titles[str(title)] > 1:
            below = root.removeprefix(common).strip("/") or folder
            title = name(folder if names[folder] == 1 else below)
        found.append(title)
    return found


def _header(
    records: Sequence[TaskRecord],
    shared: Mapping[str, bytes],
    numbers: Mapping[str, Sequence[float | None]],
    groups: int,
) -> ShownJson:
    refs = [item.card.ref for item in records]
    unparsed = [item.card.ref for item in records if item.notes.get("unparsed")]
    odd = [item.card.ref for item in records if item.card.problem and not item.notes.get("unparsed")]
    told = []
    for manifest in manifests(shared):
        missing = absent(manifest, refs)
        told.append(
            {
                "path": manifest.path,
                "name": manifest.name,
                "version": manifest.version,
                "description": manifest.description,
                "authors": manifest.authors,
                "keywords": manifest.keywords,
                "listed": len(manifest.listed),
                "absent": len(missing),
                "missing": missing[:MAX_LISTED],
                "problem": manifest.problem,
            }
        )
    facts = {
        "tasks": len(refs),
        "first": refs[0] if refs else "",
        "root": refs == [ROOT_REF],
        "groups": groups,
        "spread": {key: spread(values) for key, values in numbers.items()},
        "problems": {"unparsed": unparsed, "missing": odd},
        "manifests": told,
    }
    return record(facts).value


def _withheld(records: Sequence[TaskRecord]) -> tuple[Withheld, ...]:
    """What is withheld over all tasks: each kind of place once, with the number of tasks it is in."""
    counts: Counter[tuple[str, Say]] = Counter()
    for item in records:
        counts.update({(_head(found.where), found.reason) for found in item.withheld})
    return tuple(
        Withheld(f"{head} × {n}" if n > 1 else head, reason)
        for (head, reason), n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0][0]))
    )[:40]


def _head(where: str) -> str:
    """The folder or file a place is in: `solution/`, `tests/`, `task.toml`."""
    path = where.partition(":")[0]
    folder, slash, _ = path.partition("/")
    return f"{folder}/" if slash else folder


def _note(item: TaskRecord, key: str, default: Any) -> Any:
    return item.notes.get(key, default)
