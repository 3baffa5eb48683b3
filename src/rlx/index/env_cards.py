"""Environments as cards: from a listing alone, and from what a format read."""

from dataclasses import replace

from rlx.answers import Shown, name
from rlx.formats import card
from rlx.formats.files import FRAMEWORKS, why_no_tasks
from rlx.formats.kinds import framework_of, kind_of
from rlx.hub.info import RepoInfo
from rlx.model import KINDS, Count, EnvCard, Facets, Summary
from rlx.texts import say

TAGS = ("rl-environment", "benchmark")
"""Tags that are a facet of their own, whatever the framework."""
SIZES = ("Under 10", "10 to 99", "100 to 999", "1,000 and more")
UNREAD = "Not counted"
"""The size of what has no task list, or was not read."""


def listed_card(info: RepoInfo) -> EnvCard:
    """What the listing says of an environment that was not read."""
    kind = kind_of(info)
    tags = tuple(name(tag) for tag in info.tags)
    return EnvCard(
        key=info.key,
        title=card.title(info),
        brief=card.brief(info),
        kind=kind,
        framework=framework_of(kind),
        format=None,
        tasks=None,
        why=why_no_tasks(kind) if kind != "harbor" else say("index.not_read"),
        revision=info.sha,
        tags=tags,
        graded=(),
        runs=(),
        levels=(),
        facets=_facets(FRAMEWORKS.get(framework_of(kind), kind), tags, None, {}),
        modified=info.modified,
        downloads=info.downloads,
        likes=info.likes,
        trending=info.trending,
        state="listed",
    )


def read_card(info: RepoInfo, summary: Summary) -> EnvCard:
    """What an environment said of itself when it was opened."""
    listed = listed_card(info)
    facets = {facet.key: facet for facet in summary.facets}
    values = {key: tuple(value.value for value in facet.values) for key, facet in facets.items()}
    kind = summary.support.framework
    if kind not in KINDS:  # of a format that is no framework, or comes from outside
        kind = "rows" if info.key.kind == "dataset" else "servers"
    levels = facets["difficulty"].values if "difficulty" in facets else ()
    return replace(
        listed,
        title=summary.title,
        brief=summary.brief,
        kind=kind,
        framework=framework_of(kind),
        format=summary.format,
        tasks=summary.tasks,
        why=summary.why,
        revision=summary.revision,
        graded=values.get("graded", ()),
        runs=values.get("runs", ()),
        levels=tuple(Count(level.value, level.n) for level in levels),
        facets=_facets(summary.support.label, listed.tags, summary.tasks, values),
        state="ready" if summary.progress is None else "indexing",
    )


def failed_card(info: RepoInfo, reason: str) -> EnvCard:
    """What the listing says of an environment that could not be read, and why it could not."""
    return replace(listed_card(info), state="failed", why=say("index.unreadable", reason=reason))


def fresh_card(card: EnvCard, info: RepoInfo) -> EnvCard:
    """A card that was made earlier, with what the listing counts now."""
    return replace(card, downloads=info.downloads, likes=info.likes, trending=info.trending, modified=info.modified)


def _facets(framework: str, tags: tuple[Shown, ...], tasks: int | None, values: Facets) -> Facets:
    licences = [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
    size = SIZES[sum(tasks >= least for least in (10, 100, 1000))] if tasks is not None else UNREAD
    found = {
        "framework": (name(framework),),
        "tag": tuple(tag for tag in tags if tag in TAGS),
        "size": (name(size),),
        "licence": tuple(name(licence) for licence in licences),
        "graded": values.get("graded", ()),
        "runs": values.get("runs", ()),
        "difficulty": values.get("difficulty", ()),
    }
    return {key: of for key, of in found.items() if of}
