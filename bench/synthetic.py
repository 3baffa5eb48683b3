"""Synthetic catalogs and queries, the same for a seed: texts in words drawn from the real frequencies of English.

Tasks have titles of 3 to 8 words and briefs of 20 to 44, of the 50,000 commonest words; a few environments hold most.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import wordfreq

from rlx.answers.stored import stored
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.index.env_cards import SIZES, listed_card
from rlx.index.snapshot.rows import Content, Likeness, TaskRow
from rlx.model import Count, EnvCard, EnvQuery, Facets

ENVIRONMENTS = 7_000
TASKS = 50_000
HOLDERS = 240
"""Environments whose tasks are searched."""
WORDS = 50_000
SPOKEN = 4_000_000
NOW = datetime(2026, 6, 1, tzinfo=UTC)

LEVELS = ("Easy", "Medium", "Hard")
GRADED = ("One score", "Named scores", "Not found")
SANDBOXES = (("Docker", "HF Sandbox"), ("Docker",), ("Local", "Docker", "HF Sandbox"), ("None",))
LANGUAGES = ("Python", "Rust", "Go", "TypeScript", "Java", "C++", "Shell", "SQL")
LICENCES = ("mit", "apache-2.0", "cc-by-4.0", "gpl-3.0", "other")
TAGS = {
    "harbor": 0.30,
    "rl-environment": 0.22,
    "openenv": 0.20,
    "verifiers": 0.10,
    "nemo-gym": 0.06,
    "verl": 0.05,
    "skyrl": 0.04,
    "ors": 0.03,
}
"""What says that a repository is an environment, with its share."""
_WORD = re.compile(r"[a-z]{2,}")


class Words:
    """Draws words as often as people use them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ranked, self._often = _ranked()

    def draw(self, least: int, most: int) -> str:
        return " ".join(self.random.choices(self._often, k=self.random.randint(least, most)))

    def between(self, first: int, last: int) -> str:
        """A word of a rank between two."""
        return self.ranked[self.random.randrange(first, last)]

    def rare(self, count: int) -> list[str]:
        """Words that a name or a tag is made of."""
        return [self.between(300, 12_000) for _ in range(count)]


@cache
def _ranked() -> tuple[list[str], list[str]]:
    """Words by rank, and each as often as it is used in `SPOKEN` words."""
    ranked = [word for word in wordfreq.top_n_list("en", 3 * WORDS) if _WORD.fullmatch(word)][:WORDS]
    often = [word for word in ranked for _ in range(round(SPOKEN * wordfreq.word_frequency(word, "en")))]
    return ranked, often


def content(
    environments: int = ENVIRONMENTS, tasks: int = TASKS, *, holders: int = HOLDERS, alike: int = 4, seed: int = 1
) -> Content:
    """A catalog. `alike` pairs are named for each fifth task, as many as near duplicates are in real sets."""
    words = Words(seed)
    listed = [_info(words, place, environments) for place in range(environments)]
    datasets = [info for info in listed if info.key.kind == "dataset"]
    chosen = words.random.sample(datasets, min(holders, len(datasets), tasks))
    rows = {info.key: list(_rows(words, size)) for info, size in zip(chosen, sizes(tasks, len(chosen)), strict=True)}
    envs = [_read(words, info, rows[info.key]) if info.key in rows else listed_card(info) for info in listed]
    return Content(envs, rows, NOW, list(_alike(words, rows, alike)))


def sizes(tasks: int, holders: int) -> list[int]:
    """How many tasks each holds: a few hold most, all hold one."""
    shares = [1 / (rank + 4) ** 1.1 for rank in range(holders)]
    found = [1 + int((tasks - holders) * share / sum(shares)) for share in shares]
    found[0] += tasks - sum(found)
    return found


def _info(words: Words, place: int, environments: int) -> RepoInfo:
    """The repository at a place of the listing, which has the most popular first."""
    draw = words.random
    tag = draw.choices(list(TAGS), weights=list(TAGS.values()))[0]
    space = tag in ("openenv", "ors") and draw.random() < 0.7
    org, *name = words.rare(draw.randint(3, 4))
    licence = draw.choice(LICENCES)
    trending = round(200 / (place + 1) ** 0.8, 1)
    return RepoInfo(
        key=EnvKey(
            "space" if space else "dataset", f"{org}-{draw.choice(('ai', 'lab', 'rl'))}", f"{'-'.join(name)}-{place}"
        ),
        sha=f"{draw.getrandbits(160):040x}",
        private=False,
        gated=False,
        tags=(tag, f"license:{licence}", "language:en", "size_categories:n<1K", *words.rare(draw.randint(0, 6))),
        card={"pretty_name": words.draw(2, 5).title(), "short_description": words.draw(12, 40)},
        description="",
        downloads=int(draw.lognormvariate(4, 2)),
        likes=int(draw.lognormvariate(1, 1.5)),
        trending=trending if trending >= 1 or place < environments // 10 else 0.0,
        created=None,
        modified=NOW - timedelta(hours=draw.randint(1, 10_000)),
        sdk="docker" if space else None,
    )


def _rows(words: Words, size: int) -> Iterator[TaskRow]:
    """Tasks of one environment, which has categories, a language and a way of grading of its own."""
    draw = words.random
    categories = [stored(word) for word in words.rare(draw.randint(2, 9))]
    languages = [stored(language) for language in draw.sample(LANGUAGES, draw.randint(1, 3))]
    stem = "-".join(words.rare(2))
    told = draw.random() < 0.7
    graded = stored(draw.choices(GRADED, weights=(6, 3, 1))[0])
    sandbox = tuple(stored(value) for value in draw.choice(SANDBOXES))
    for place in range(size):
        facets: dict[str, tuple[str, ...]] = {"category": (draw.choice(categories),), "graded": (graded,)}
        facets |= {"language": (draw.choice(languages),), "sandbox": sandbox}
        if told:
            facets["difficulty"] = (stored(draw.choice(LEVELS)),)
        yield TaskRow(
            ref=f"tasks/{stem}-{place:05}",
            title=stored(words.draw(3, 8)),
            brief=stored(words.draw(20, 44)),
            facets={key: tuple(map(stored, values)) for key, values in facets.items()},
            words=" ".join(words.rare(draw.randint(0, 3))),
            digest=f"{draw.getrandbits(128):032x}",
        )


def _read(words: Words, info: RepoInfo, rows: Sequence[TaskRow]) -> EnvCard:
    """The card of an environment whose tasks are known."""
    card = listed_card(info)
    counts = {level: sum(row.facets.get("difficulty") == (level,) for row in rows) for level in LEVELS}
    told = {
        key: tuple(dict.fromkeys(v for row in rows for v in row.facets.get(key, ())))
        for key in ("graded", "difficulty")
    }
    size = SIZES[sum(len(rows) >= least for least in (10, 100, 1000))]
    runs = (stored(words.random.choice(("Dockerfile", "Compose", "Image"))),)
    facets: Facets = {
        **card.facets,
        **{key: of for key, of in told.items() if of},
        "size": (stored(size),),
        "runs": runs,
    }
    return replace(
        card,
        format=card.kind,
        tasks=len(rows),
        why=None,
        graded=told["graded"],
        runs=runs,
        levels=tuple(Count(stored(level), n) for level, n in counts.items() if n),
        facets=facets,
        state="ready",
    )


def _alike(words: Words, rows: Mapping[EnvKey, Sequence[TaskRow]], count: int) -> Iterator[Likeness]:
    every = [(key, row.ref) for key, of in rows.items() for row in of]
    for key, ref in every[::5]:
        for step in range(count):
            other, other_ref = words.random.choice(every)
            yield Likeness(key, ref, other, other_ref, round(0.9 - step / 10, 2))


@dataclass(frozen=True, slots=True)
class Ask:
    """A query: words, and values that are asked for by facet."""

    text: str
    filters: Mapping[str, tuple[str, ...]]


def asks(count: int = 60, *, seed: int = 2) -> dict[str, list[Ask]]:
    """`count` queries of each class, over tasks: what people look for, from the commonest word to one nobody wrote."""
    words = Words(seed)
    draw = words.random

    def filtered() -> Mapping[str, tuple[str, ...]]:
        keys = draw.sample(("difficulty", "language", "graded", "sandbox"), draw.randint(1, 2))
        values = {"difficulty": LEVELS, "language": LANGUAGES, "graded": GRADED, "sandbox": ("Docker", "Local")}
        return {key: tuple(draw.sample(values[key], draw.randint(1, 2))) for key in keys}

    def common() -> str:
        return words.between(50, 500)

    texts: dict[str, Callable[[], str]] = {
        "common1": common,
        "mid1": lambda: words.between(2_000, 10_000),
        "rare1": lambda: words.between(30_000, 49_000),
        "two": lambda: f"{common()} {words.between(2_000, 10_000)}",
        "prefix3": lambda: _long(words, 4)[:3],
        "miss": lambda: "".join(draw.choices("bcdfghjklmnpqrstvwxz", k=9)),
        "none": lambda: "",
    }
    found = {name: [Ask(text(), {}) for _ in range(count)] for name, text in texts.items() if name != "none"}
    for name in ("common1", "mid1", "prefix3", "none"):
        found[f"{name} filtered"] = [Ask(texts[name](), filtered()) for _ in range(count)]
    return found


def env_asks(count: int = 60, *, seed: int = 3) -> dict[str, list[EnvQuery]]:
    """The same over environments, where any part of a word counts."""
    words = Words(seed)
    found = {
        name: [EnvQuery(text=ask.text) for ask in of]
        for name, of in asks(count, seed=seed).items()
        if "filtered" not in name
    }
    found["infix5"] = [EnvQuery(text=_long(words, 8)[2:7]) for _ in range(count)]
    found["infix2"] = [EnvQuery(text=_long(words, 8)[2:4]) for _ in range(count)]
    found["all"] = [EnvQuery(offset=40 * (place % 5)) for place in range(count)]
    found["of a kind"] = [
        EnvQuery(text=words.between(50, 500), kind="harbor", filters={"size": SIZES[:2]}) for _ in range(count)
    ]
    return found


def _long(words: Words, letters: int) -> str:
    """A word of at least so many letters."""
    while True:
        word = words.between(50, 10_000)
        if len(word) >= letters:
            return word
