"""Sets of environments that operators name: which are known, and which are offered beside a list."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlx.answers.shown import Json
from rlx.errors import BadInput
from rlx.model import EnvQuery, Viewer
from rlx.store.instance import Collection, Instance
from rlx.texts import say
from rlx.texts.figures import number
from rlx.twins.inline import line, span
from rlx.twins.parts import heading
from rlx.web.ports import Services


@dataclass(frozen=True, slots=True)
class Offered:
    """A collection, and how many of its environments are listed."""

    set: Collection
    n: int


def check_collection(query: EnvQuery, instance: Instance) -> None:
    """Raises `BadInput` for a collection that operators do not name; one in which nothing is listed is known."""
    known = [one.id for one in instance.collections]
    if query.collection is not None and query.collection not in known:
        hint = f"One of: {', '.join(known)}." if known else "There are none here."
        raise BadInput(f"{query.collection[:40]!r} is not a collection of this site.", hint=hint)


async def offered(services: Services, query: EnvQuery, viewer: Viewer) -> tuple[Offered, ...]:
    """Those that hold something listed, and the one that was asked for."""
    found = []
    for one in services.instance.current().collections:
        n = (await services.catalog.search(EnvQuery(collection=one.id, limit=0), viewer)).total
        if n or one.id == query.collection:
            found.append(Offered(one, n))
    return tuple(found)


def collections_json(collections: Sequence[Offered]) -> dict[str, Json]:
    told: list[Json] = [{"id": one.set.id, "title": one.set.title, "n": one.n} for one in collections]
    return {"collections": told}


def collections_markdown(collections: Sequence[Offered], language: str) -> str:
    lines = [f"- {span(one.set.id)}: {line(one.set.title, language)} ({number(one.n)})" for one in collections]
    return "\n".join(["", heading(say("explore.collections"), language), "", *lines, ""]) if lines else ""
