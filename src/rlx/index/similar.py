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
LEAST = 4
"""Distinct words without which a text says too little."""
ALIKE = 0.25
"""The lowest score that is told. Texts that happen to be of one subject reach 0.2; see `bench/RESULTS.md`."""
BOILERPLATE = 0.2
"""What is left of the weight of a word that every task of its environment says."""
FAMILY = 4
"""Tasks an environment has at least before any word counts as its boilerplate."""
SHARED = 2
"""Words that two texts share at least: one rare word is a coincidence."""
NEAR = 1_000
"""Earlier tasks that are looked at for one word: the last listed, when more say it."""
SEEN = 6_000
"""Earlier tasks that are looked at for all words of one task, its heaviest first."""
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

    At most `limit` for a task; those as like are in the order of `rows`. Tasks of one digest are the same task and
    not told here. Takes about 2.5 KB of memory a task.
    """
    said = [
        _Said(key, row.ref, row.digest, _little(array("I", row.sketch)))
        for key, row in rows
        if len(row.sketch) >= 4 * LEAST and len(row.sketch) % 4 == 0
    ]
    corpus = _Corpus(said)
    found: list[dict[int, float]] = [{} for _ in said]
    for place, one in enumerate(said):
        weights = dict(zip(one.sample, corpus.weights[place], strict=True))
        for other in corpus.earlier(place):
            if one.digest and one.digest == said[other].digest:
                continue
            score = corpus.score(place, weights, other)
            if score >= ALIKE:
                found[place][other] = found[other][place] = score
    return [
        Likeness(one.key, one.ref, said[other].key, said[other].ref, score)
        for place, one in enumerate(said)
        for other, score in nsmallest(limit, found[place].items(), key=lambda item: (-item[1], item[0]))
    ]


class _Said(NamedTuple):
    key: EnvKey
    ref: str
    digest: str
    sample: "array[int]"


class _Corpus:
    """All sketches of a catalog: what each word weighs, and who says it."""

    def __init__(self, said: Sequence[_Said]) -> None:
        self._said = said
        self._counts = Counter(word for one in said for word in one.sample)
        self.weights = [array("f")] * len(said)
        by_key: dict[EnvKey, list[int]] = defaultdict(list)
        for place, one in enumerate(said):
            by_key[one.key].append(place)
        for places in by_key.values():
            self._weigh(places)
        self._norms = [array("f", accumulate(weight * weight for weight in weights)) for weights in self.weights]
        self._places: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))

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
            self.weights[place] = array("f", map(known.__getitem__, self._said[place].sample))

    def earlier(self, place: int) -> list[int]:
        """The earlier tasks that a task is compared with; to be asked for every task in turn.

        Two texts that share none of the words which make up all but `ALIKE` squared of one's squared norm cannot score
        `ALIKE` (Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007). So only these heavy words
        are looked at, and only tasks that share as much of them.
        """
        squares = [weight * weight for weight in self.weights[place]]
        left = sum(squares)
        least = ALIKE * ALIKE * left
        shared: defaultdict[int, float] = defaultdict(float)
        looked = 0
        for square, word in sorted(zip(squares, self._said[place].sample, strict=True), reverse=True):
            if left < least:
                break
            left -= square
            if self._counts[word] == 1:
                continue
            places = self._places[word]
            if looked < SEEN:
                for other in places[-NEAR:]:
                    shared[other] += square
                looked += len(places)
            places.append(place)
        found = [(-of, -other) for other, of in shared.items() if of >= least]
        return [-other for _, other in nsmallest(SCORED, found)]

    def score(self, place: int, weights: Mapping[int, float], other: int) -> float:
        """The cosine of two sketches over the hashes that both cover, 0 to 1."""
        sample, others = self._said[place].sample, self._said[other].sample
        if sample == others:
            return 1.0
        shared, dot = 0, 0.0
        for word, weight in zip(others, self.weights[other], strict=True):
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
