"""Facets: what lists of tasks are filtered by."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.facets import metadata_facets
from rlx.formats.harbor.facets import DIFFICULTIES, difficulty, metadata_values
from rlx.index.records import Finished, TaskRecord

type Files = dict[str, str | bytes]


def facets(record: TaskRecord) -> dict[str, list[str]]:
    return {key: [str(value) for value in values] for key, values in record.card.facets.items()}


def test_an_ordinary_task_has_the_facets_it_has_values_for(
    simple: Files, read_task: Callable[[Files], TaskRecord]
) -> None:
    assert facets(read_task(simple)) == {
        "graded": ["One score"],
        "runs": ["Dockerfile"],
        "sandbox": ["Local", "Docker", "HF Sandbox"],
        "difficulty": ["Easy"],
        "length": ["1-49"],
        "timeout": ["No limit"],
        "network": ["Open"],
        "base": ["python:3.12-slim"],
    }


def test_what_a_task_needs_is_a_facet(simple: Files, read_task: Callable[[Files], TaskRecord]) -> None:
    simple["task.toml"] = (
        '[verifier]\nenvironment_mode = "separate"\n[verifier.env]\nK = "${OPENAI_API_KEY}"\n'
        '[environment]\ngpus = 1\nskills_dir = "/s"\nmcp_servers = [{name = "a", url = "u"}]\n'
        '[environment.env]\nT = "${T}"'
    )
    found = facets(read_task(simple))
    assert found["setup"] == ["Separate grader", "MCP servers", "Skills", "Model judge", "Secrets", "GPU"]
    assert found["sandbox"] == ["None"]


def test_a_task_whose_settings_do_not_parse_has_no_facets(
    simple: Files, read_task: Callable[[Files], TaskRecord]
) -> None:
    assert facets(read_task({**simple, "task.toml": "a = {b}"})) == {}


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("easy", "Easy"),
        ("HARD", "Hard"),
        ("difficult", "Hard"),
        ("moderate", "Medium"),
        ("intricate task (multi-stage, (a) x)", "Intricate"),
        ("{difficulty}", None),
        ("", None),
        (True, None),
        (["easy"], None),
        (3, "3"),
        ("x" * 50, None),
    ],
)
def test_difficulty_is_the_authors_word_on_the_common_scale(value: object, level: str | None) -> None:
    assert difficulty(value) == level


def test_synonyms_of_a_metadata_key_count(simple: Files, read_task: Callable[[Files], TaskRecord]) -> None:
    simple["task.toml"] = '[metadata]\ntask_complexity = "moderate task (x)"\ndomain = "data"\nkeywords = "one"\n'
    found = facets(read_task(simple))
    assert (found["difficulty"], found["category"], found["tags"]) == (["Moderate"], ["data"], ["one"])
    assert "Moderate" in DIFFICULTIES


def test_answers_are_never_facets(finish: Callable[[Files], Finished], simple: Files) -> None:
    files: Files = {}
    for number in range(6):
        task = {**simple, "task.toml": f'[metadata]\nexpected_decision = "pass{number % 2}"\nmode = "m{number % 2}"\n'}
        files |= {f"tasks/{number}/{path}": data for path, data in task.items()}
    found = finish(files)
    assert "meta:mode" in found.facet_order
    assert not any("expected" in key for key in found.facet_order)
    assert "pass0" not in str(found)


def test_metadata_keys_of_people_and_prose_are_no_facets() -> None:
    values = metadata_values(
        {"author_email": "a@b.c", "tier": 2, "notes": "x", "field": ["a", "b"], "deep": {"a": 1}, "long": "y" * 70}
    )
    assert values == {"tier": ("2",), "field": ("a", "b")}


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        (["a", "a", "b", "b"], True),
        (["a", "b", "c", "d"], False),
        (["a", "a", "a", "a"], False),
        (["a", "b"] + [""] * 9, False),
        ([str(n) for n in range(26)] * 2, False),
    ],
    ids=["repeated", "unique", "constant", "rare", "many"],
)
def test_a_metadata_key_is_a_facet_when_it_tells_tasks_apart(values: list[str], chosen: bool) -> None:
    known = [{"key": (value,)} if value else {} for value in values]
    assert (metadata_facets(known) == ("key",)) is chosen


@given(
    st.dictionaries(
        st.text(max_size=8), st.integers() | st.text(max_size=80) | st.lists(st.text(max_size=8)), max_size=6
    )
)
def test_facet_values_are_short_single_lines(metadata: dict[str, object]) -> None:
    for values in metadata_values(metadata).values():
        assert all(0 < len(value) <= 60 and "\n" not in value for value in values)
