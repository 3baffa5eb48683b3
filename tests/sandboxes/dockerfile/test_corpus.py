"""Dockerfiles like those of real tasks, and any others: planned or refused, the same each time, inside the context."""

import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.dockerfile import Copy, Entry, Item, Plan, Refusal, Run, needs, plan
from rlx.texts import LANGUAGES, words
from tests.sandboxes.dockerfile.making import HOST, files

CORPUS = Path(__file__).parent / "corpus"
EXPECTED: Mapping[str, Any] = tomllib.loads((CORPUS / "expected.toml").read_text())
CONTEXT = files("data/main.c", "data/fix.patch", ".config", "Dockerfile")


def test_every_dockerfile_of_the_corpus_is_expected_to_become_something() -> None:
    assert {path.name.removesuffix(".Dockerfile") for path in CORPUS.glob("*.Dockerfile")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_dockerfile_of_the_corpus_becomes_what_is_expected(name: str) -> None:
    expected = EXPECTED[name]
    found = plan((CORPUS / f"{name}.Dockerfile").read_text(), CONTEXT, host=HOST)
    if isinstance(found, Refusal):
        assert f"{found.kind} {found.line}" == expected.get("refused"), words(found.why)
        return
    assert found.base.reference == expected["base"]
    assert (found.image.workdir, found.image.user) == (expected["workdir"], expected.get("user"))
    assert len(found.steps) == expected["steps"]
    told = [" ".join((need.kind, str(need.line), *need.names)) for need in needs(found).found]
    assert told == expected["needs"]
    assert expected.get("env", {}).items() <= found.image.env.items()


PATHS = ["a", "d/x", "d/.y", "d/e/z", "e/", "b c", "*", "l", "../out", "/abs", "d/x/below"]
ENTRIES = st.builds(
    Entry,
    st.sampled_from(["file", "folder", "link"]),
    st.integers(0, 0o7777),
    st.integers(0, 99),
    st.sampled_from(["a", "d", "../d", "/", "l", "..", "none"]),
    st.sampled_from(["", "1", "2"]),
)
WORDS = [
    "a",
    "d",
    "d/",
    ".",
    "*",
    "d/*",
    "l",
    "l/x",
    "../a",
    "$X",
    "${X:-d}",
    "'q",
    "[ab]",
    "\\",
    "**",
    "none",
    "/x/",
    "/y",
]
LINES = st.one_of(
    st.sampled_from(
        [
            "FROM debian:12",
            "FROM debian:12 AS s",
            "FROM s",
            "FROM $X",
            "FROM alpine",
            "ARG X=d",
            "ARG X",
            "ENV X=$X:a Y='b'",
            "ENV X old form",
            "USER $X",
            "WORKDIR $X",
            'SHELL ["sh", "-c"]',
            "RUN pip install x && \\",
            "  curl https://a.b/$X",
            "RUN <<E",
            "E",
            "# note",
            "RUN --mount=type=bind,source=d,target=/m x",
            "RUN --mount=from=s,target=/m x",
            "COPY <<E <<F /w/",
            "F",
            "CMD x",
            "LABEL a=b",
        ]
    ),
    st.builds(
        lambda word, flag, parts: " ".join((word, *flag, *parts)),
        st.sampled_from(["COPY", "ADD"]),
        st.lists(
            st.sampled_from(["--from=s", "--from=0", "--chown=$X", "--parents", "--exclude=d/*", "--link"]), max_size=2
        ),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    ),
)
TEXTS = st.lists(LINES, max_size=9).map(lambda lines: "\n".join(["FROM debian:12 AS s", *lines]))


@given(
    TEXTS, st.dictionaries(st.sampled_from(PATHS), ENTRIES), st.none() | st.lists(st.sampled_from(WORDS)).map("\n".join)
)
def test_any_dockerfile_is_planned_or_refused_and_always_the_same(
    text: str, context: dict[str, Entry], ignore: str | None
) -> None:
    found = plan(text, context, host=HOST, dockerignore=ignore)
    assert plan(text, dict(reversed(context.items())), host=HOST, dockerignore=ignore) == found
    if isinstance(found, Refusal):
        assert found.line is None or 1 <= found.line <= text.count("\n") + 1
        assert all(words(found.why, language) for language in LANGUAGES)
        return
    assert isinstance(found, Plan)
    needs(found)
    check(found, context)


def check(found: Plan, context: Mapping[str, Entry]) -> None:
    """Everything that is copied or mounted is of the context, and goes below where it is told to go."""
    known = {"", *context, *(str(above) for path in context for above in PurePosixPath(path).parents)}
    for place, stage in enumerate(found.stages):
        for step in stage.steps:
            items: tuple[Item, ...] = ()
            if isinstance(step, Copy):
                assert step.stage is None or step.stage < place
                assert step.dest.startswith("/")
                items = step.items
            elif isinstance(step, Run):
                items = tuple(item for mount in step.mounts for item in mount.items)
            for item in items:
                assert item.source in known
                assert ".." not in (*item.source.split("/"), *item.name.split("/"))
                assert not item.name.startswith("/")


@given(st.binary(max_size=300))
def test_any_bytes_are_planned_or_refused(octets: bytes) -> None:
    plan(octets.decode("utf-8", "replace"), CONTEXT, host=HOST)
    plan("FROM debian:12\n" + octets.decode("utf-8", "surrogateescape"), CONTEXT, host=HOST)
    plan("FROM debian:12\nCOPY . /x", CONTEXT, host=HOST, dockerignore=octets.decode("latin-1"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line", ["COPY *a*b*c*/*d*e* /x/\n" * 900, "COPY " + "*/*x* " * 2000 + "/x/", "COPY [^x]*[^y]*z /x/\n" * 900]
)
def test_patterns_that_would_take_too_long_over_a_large_context_are_refused(line: str) -> None:
    context = {f"d{n % 50}/e{n % 7}{n}": Entry("file", digest="x") for n in range(20_000)}
    found = plan(f"FROM debian:12\n{line}", context, host=HOST)
    assert isinstance(found, Refusal)
    assert found.kind == "unsupported"
