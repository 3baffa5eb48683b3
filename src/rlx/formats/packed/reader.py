"""Reads tasks in archives for the index: as Harbor folders, with what is said of the archives beside it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rlx.answers import ShownJson, name, whole
from rlx.formats.harbor.reader import HarborReader
from rlx.formats.harbor.support import dataset_support
from rlx.formats.packed.run_there import of_archives
from rlx.formats.packed.view import TOLD, PackedRepo, view
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.index.codec import say_in
from rlx.index.records import Counts, Finished, SummaryView, TaskRecord
from rlx.model import Note, Section
from rlx.texts import say

_VERSION: Final = 1
"""Raised when the reading of archives changes; what is read of the folders in them has a version of its own."""


class PackedReader(HarborReader):
    """Meets `rlx.index.records.Reader` and `rlx.formats.base.Viewing`."""

    format = "packed"
    version = 100 * HarborReader.version + _VERSION

    def view(self, repo: Repo) -> PackedRepo:
        return view(repo)

    def shared(self, tree: Mapping[str, TreeEntry]) -> tuple[str, ...]:
        return (*super().shared(tree), *(path for path in (TOLD,) if path in tree))

    async def finish(self, records: Sequence[TaskRecord], shared: Mapping[str, bytes]) -> Finished:
        manifests = {path: data for path, data in shared.items() if path != TOLD}
        finished = await super().finish(records, manifests)
        told = json.loads(shared.get(TOLD, b"{}"))
        return replace(finished, header=whole({"harbor": finished.header.value, "packed": told}))

    def summary_view(self, header: ShownJson, counts: Counts) -> SummaryView:
        facts: Any = header.value
        inner = super().summary_view(whole(facts["harbor"]), counts)
        told = facts["packed"]
        found = say("packed.how", n=told.get("archives", 0), tasks=counts.tasks)
        notes = tuple(_refused(told))
        runs = of_archives(told)
        sections = (
            *inner.sections,
            *([runs] if runs else []),
            *([Section("refused", say("packed.refused"), notes)] if notes else []),
        )
        return SummaryView(sections, (found, *inner.how[1:]), dataset_support(found))


def _refused(told: Mapping[str, Any]) -> Iterator[Note]:
    for item in told.get("refused", ()):
        yield Note(say_in(item["why"]), "warn", name(item["where"]))
    if told.get("more"):
        yield Note(say("packed.refused_more", n=told["more"]), "warn")
