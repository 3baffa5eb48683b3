"""How long prompts are and how long agents get."""

from collections.abc import Callable
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.reader import HarborReader
from rlx.formats.harbor.sizes import LENGTHS, TIMEOUTS, length_range, spread, timeout_range
from rlx.index.records import Counts, Finished, TaskRecord
from rlx.model import FacetValue, Shares, Steps
from rlx.texts import words

type Files = dict[str, str | bytes]


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "Empty"), (1, "1-49"), (49, "1-49"), (50, "50-199"), (1999, "500-1999"), (2000, "2000+"), (10**6, "2000+")],
)
def test_a_prompt_falls_into_the_range_that_names_its_words(count: int, told: str) -> None:
    assert length_range(count) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(30, "Up to 5 min"), (300, "Up to 5 min"), (301, "Up to 15 min"), (172_800, "Over 3 h"), (inf, "No limit")],
)
def test_a_time_limit_falls_into_the_range_that_names_it(seconds: float, told: str) -> None:
    assert timeout_range(seconds) == told


@given(st.lists(st.integers(0, 10_000), min_size=2))
def test_longer_is_never_in_a_lower_range(counts: list[int]) -> None:
    ordered = sorted(counts)
    assert sorted(LENGTHS.index(length_range(n)) for n in ordered) == [LENGTHS.index(length_range(n)) for n in ordered]
    assert sorted(TIMEOUTS.index(timeout_range(n)) for n in ordered) == [
        TIMEOUTS.index(timeout_range(n)) for n in ordered
    ]


def test_what_has_no_limit_is_no_number_of_the_spread() -> None:
    assert spread([60.0, inf, None, 20.0, 30.0]) == {"least": 20.0, "middle": 30.0, "most": 60.0}
    assert spread([inf, None]) is None


def test_steps_add_their_time_and_one_without_a_limit_has_none(
    simple: Files, read_task: Callable[[Files], TaskRecord]
) -> None:
    steps = {"steps/a/instruction.md": "One.", "steps/b/instruction.md": "Two words."}
    settings = (
        '[agent]\ntimeout_sec = 600\n[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n[steps.agent]\ntimeout_sec = 60\n'
    )
    record = read_task({**simple, **steps, "task.toml": settings})
    assert record.notes["numbers"] == {"length": 3, "timeout": 660.0}
    unlimited = read_task({**simple, **steps, "task.toml": settings.replace("[agent]\ntimeout_sec = 600\n", "")})
    assert [str(value) for value in unlimited.card.facets["timeout"]] == ["No limit"]


def test_the_page_draws_empty_ranges_between_others_and_says_the_spread(
    simple: Files, finish: Callable[[Files], Finished]
) -> None:
    files = {f"{task}/{path}": data for task in ("a", "b") for path, data in simple.items()}
    files["b/instruction.md"] = "word " * 300
    found = finish(files)
    told = Counts(2, {key: _values(found, key) for key in found.facet_order})
    view = HarborReader().summary_view(found.header, told)
    (overview,) = [section for section in view.sections if section.id == "overview"]
    shares = {words(block.title): block for block in overview.blocks if isinstance(block, Shares)}
    lengths = shares["Words in the prompt"]
    assert [(str(part.label), part.n) for part in lengths.parts] == [("1-49", 1), ("50-199", 0), ("200-499", 1)]
    assert lengths.note is not None
    assert words(lengths.note) == "5 to 300 words, 5 in the middle"
    (grading,) = [section for section in view.sections if section.id == "grading"]
    (steps,) = [block for block in grading.blocks if isinstance(block, Steps)]
    assert "every task one score" in words(steps.items[0])


def _values(found: Finished, key: str) -> tuple[FacetValue, ...]:
    values = [value for card in found.cards for value in card.facets.get(key, ())]
    return tuple(FacetValue(value, values.count(value)) for value in dict.fromkeys(values))
