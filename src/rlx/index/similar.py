"""Which tasks say nearly the same, from short sketches of what each says.

A sketch is a coordinated sample of a text's words: those with the smallest hashes, whatever the text. Broder ("On the
resemblance and containment of documents", 1997) compares such samples as sets; because every sketch samples the same
words, how rare each is can be told from the sketches of the whole catalog, so the comparison here is the cosine of
tf-idf (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988), over the range of hashes
that both sketches cover (Cohen and Kaplan, "Summarizing data using bottom-k sketches", 2007).
"""

import re
import sys
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from itertools import accumulate
from math import log, sqrt
from typing import NamedTuple

from rlx.ids import EnvKey
from rlx.index.snapshot.rows import Likeness, TaskRow

SAMPLE = 128
"""Words of a text that are kept, 4 bytes each. Three texts in four have no more."""
LEAST = 6
"""Distinct words without which a text says too little."""
ALIKE = 0.25
"""The lowest score that is told. Texts that happen to be of one subject reach 0.2; see `bench/RESULTS.md`."""
BOILERPLATE = 0.2
"""What is left of the weight of a word that every task of its environment says."""
FAMILY = 4
"""Tasks an environment has at least before any word counts as its boilerplate."""
SHARED = 3
"""Words that two texts share at least: a rare one or two are a coincidence."""
NEAR = 128
"""Earlier tasks that are looked at for one word: the last listed, when more say it."""
SEEN = 1_200
"""Earlier tasks that are looked at for all words of one task, its heaviest first."""
LIKELY = 0.1
"""The lowest cosine by heavy words alone with which two tasks are compared in full."""
SCORED = 24
"""Earlier tasks that are compared with one task."""

_WORD = re.compile(r"[^\W_]{2,}")
_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Japanese, Chinese and Korean, which is cut into pairs of characters, since it need not be spaced."""
_ALL = 1 << 32
"""Above every hash."""


def sketch(text: str) -> bytes:
    """A sketch of `text`: near texts have near sketches. Empty for a text of too few words to tell.

    The `SAMPLE` smallest 32-bit hashes of its distinct words, ascending, little-endian.
    """
    hashes = {_hash(word) for word in _words(text.lower())}
    if len(hashes) < LEAST:
        return b""
    return _little(array("I", nsmallest(SAMPLE, hashes))).tobytes()


def alike(rows: Iterable[tuple[EnvKey, TaskRow]], *, limit: int = 8) -> list[Likeness]:
    """The tasks that say nearly what each task says, both ways: in the order of `rows`, the likest first for each.

    At most `limit` for a task; those as like are in the order of `rows`. Tasks of one digest are one task here: never
    told as alike, and named by the first of them. Takes about 3 KB of memory a task.
    """
    said: list[_Said] = []
    firsts: dict[str, int] = {}
    places: list[tuple[EnvKey, str, int]] = []
    for key, row in rows:
        if len(row.sketch) < 4 * LEAST or len(row.sketch) % 4:
            continue
        place = firsts.get(row.digest)
        if place is None:
            place = len(said)
            said.append(_Said(key, row.ref, _little(array("I", row.sketch))))
            if row.digest:
                firsts[row.digest] = place
        places.append((key, row.ref, place))
    likest = [nsmallest(limit, scores, key=lambda item: (-item[1], item[0])) for scores in _scores(said)]
    return [
        Likeness(key, ref, said[other].key, said[other].ref, score)
        for key, ref, place in places
        for other, score in likest[place]
    ]


class _Said(NamedTuple):
    key: EnvKey
    ref: str
    sample: "array[int]"


class _Posting(NamedTuple):
    """Who says a word, and what it weighs there."""

    places: "array[int]"
    weights: "array[float]"


def _scores(said: Sequence[_Said]) -> list[list[tuple[int, float]]]:
    """By place, the places of those alike, and how much."""
    corpus = _Corpus(said)
    found: list[list[tuple[int, float]]] = [[] for _ in said]
    for place in range(len(said)):
        weights = corpus.weights_of(place)
        for other in corpus.earlier(place):
            score = corpus.score(place, weights, other)
            if score >= ALIKE:
                found[place].append((other, score))
                found[other].append((place, score))
    return found


class _Corpus:
    """All sketches of a catalog: what each word weighs, and who says it."""

    def __init__(self, said: Sequence[_Said]) -> None:
        self._said = said
        self._counts = Counter(word for one in said for word in one.sample)
        self._weights = [array("f")] * len(said)
        by_key: dict[EnvKey, list[int]] = defaultdict(list)
        for place, one in enumerate(said):
            by_key[one.key].append(place)
        for places in by_key.values():
            self._weigh(places)
        self._norms = [array("f", accumulate(weight * weight for weight in weights)) for weights in self._weights]
        self._squared = [norms[-1] for norms in self._norms]
        self._postings: defaultdict[int, _Posting] = defaultdict(lambda: _Posting(array("I"), array("f")))

    def _weigh(self, places: Sequence[int]) -> None:
        """Weigh the words of one environment: the rarer in the catalog and in the environment, the more."""
        within = Counter(word for place in places for word in self._said[place].sample)
        damped = len(places) >= FAMILY
        known = {
            word: log((len(self._said) + 1) / self._counts[word])
            * (max(1 - count / len(places), BOILERPLATE) if damped else 1)
            for word, count in within.items()
        }
        for place in places:
            self._weights[place] = array("f", map(known.__getitem__, self._said[place].sample))

    def weights_of(self, place: int) -> Mapping[int, float]:
        return dict(zip(self._said[place].sample, self._weights[place], strict=True))

    def earlier(self, place: int) -> list[int]:
        """The earlier tasks that a task is compared with; to be asked for every task in turn.

        A text's heavy words make up all but `ALIKE` squared of its squared norm: whoever shares none of them cannot
        score `ALIKE` (Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007). Tasks are looked up by
        these words alone, on both sides, so a few pairs near the lowest score are missed.
        """
        weights = self._weights[place]
        left = self._squared[place]
        least = left * ALIKE * ALIKE
        shared: defaultdict[int, float] = defaultdict(float)
        looked = 0
        for weight, word in sorted(zip(weights, self._said[place].sample, strict=True), reverse=True):
            if left < least:
                break
            left -= weight * weight
            if self._counts[word] == 1:
                continue
            posting = self._postings[word]
            if looked < SEEN:
                looked += min(len(posting.places), NEAR)
                for other, its in zip(posting.places[-NEAR:], posting.weights[-NEAR:], strict=True):
                    shared[other] += weight * its
            posting.places.append(place)
            posting.weights.append(weight)
        norms = self._squared
        least = LIKELY * LIKELY * norms[place]
        found = [
            (-dot * dot / norms[other], -other) for other, dot in shared.items() if dot * dot >= least * norms[other]
        ]
        return [-other for _, other in nsmallest(SCORED, found)]

    def score(self, place: int, weights: Mapping[int, float], other: int) -> float:
        """The cosine of two sketches over the hashes that both cover, 0 to 1."""
        sample, others = self._said[place].sample, self._said[other].sample
        if sample == others:
            return 1.0
        shared, dot = 0, 0.0
        for word, weight in zip(others, self._weights[other], strict=True):
            if word in weights:
                shared += 1
                dot += weight * weights[word]
        if shared < SHARED:
            return 0.0
        end = min(_end(sample), _end(others))
        norm = self._norm(place, end) * self._norm(other, end)
        return min(dot / sqrt(norm), 1.0) if norm > 0 else 0.0

    def _norm(self, place: int, end: int) -> float:
        """The sum of squared weights of the hashes up to `end`."""
        covered = bisect_right(self._said[place].sample, end)
        return self._norms[place][covered - 1] if covered else 0.0


def _end(sample: "array[int]") -> int:
    """The last hash that a sketch covers."""
    return sample[-1] if len(sample) >= SAMPLE else _ALL


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word.isascii():
            yield word
            continue
        yield from _RUN.sub(" ", word).split()
        for run in _RUN.findall(word):
            yield from (run[place : place + 2] for place in range(max(1, len(run) - 1)))


@lru_cache(1 << 16)
def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


def _little(values: "array[int]") -> "array[int]":
    """To or from the byte order of sketches."""
    if sys.byteorder == "big":
        values.byteswap()
    return values
