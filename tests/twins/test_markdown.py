"""Markdown twins hold everything, and nothing in them can pose as something else."""

import json
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rlx.answers import name, prose, record
from rlx.ids import EnvKey
from rlx.model import ANONYMOUS, Blob, Count, EnvPage, EnvQuery, FileEntry, Listing, Page, TaskCard, TaskHits, Unknown
from rlx.texts import say
from rlx.twins.hits import hits_markdown
from rlx.twins.inline import fence, line, span, spoken
from rlx.twins.jsonable import to_json
from rlx.twins.markdown import file_markdown, folder_markdown, listing_markdown, summary_markdown
from rlx.twins.tasks import task_markdown
from tests.toy import MAIN, ToyCatalog, ToyEnvironment, env_card

PARSER = MarkdownIt("gfm-like", {"linkify": False})
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=120) | st.text(
    st.sampled_from("`~\n\r\t #>*-_[]()<>!\\1. ab"), max_size=60
)


@given(TEXT, st.none() | TEXT)
def test_no_text_breaks_out_of_its_fence(text: str, language: str | None) -> None:
    tokens = PARSER.parse(f"{fence(text, language)}\n\nafter\n")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    expected = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert tokens[0].content == (expected if expected.endswith("\n") else f"{expected}\n")


@given(TEXT)
def test_a_line_is_plain_words_wherever_it_stands(text: str) -> None:
    for before in ("", "# ", "- x: ", "> "):
        tokens = PARSER.parse(f"{before}{line(name(text), 'en')}\n")
        assert len([token for token in tokens if token.type == "inline"]) <= 1
        for token in tokens:
            assert {child.type for child in token.children or []} <= {"text", "text_special"}


@given(TEXT)
def test_what_we_say_is_plain_words_and_code(text: str) -> None:
    tokens = PARSER.parse(f"{spoken(text, 'en')}\n")
    assert len([token for token in tokens if token.type == "inline"]) <= 1
    for token in tokens:
        assert {child.type for child in token.children or []} <= {"text", "text_special", "code_inline"}


def test_code_in_what_we_say_stays_code() -> None:
    assert spoken("Try `rlx task ls a_b/*c*`, or * `x", "en") == "Try `rlx task ls a_b/*c*`, or \\* \\`x"


def test_a_page_past_the_end_says_so() -> None:
    told = listing_markdown(Page((), 136, 9999, 40))
    assert "the list ends after 136 items" in told
    assert "9,999" not in told


def test_an_empty_list_says_why_it_is_empty() -> None:
    hits = TaskHits((), 0, False, (), 0, 20, (Unknown("no`pe", facets=("a", "b")), Unknown("a", "*x*")))
    envs = EnvPage((), 0, (), (), 3, 0, 0, 40)
    for asked, said in ((True, "Nothing here is what was asked for"), (False, "There is nothing to list yet")):
        for told in (
            listing_markdown(Page((), 0, 0, 40), asked=asked),
            listing_markdown(envs, asked=asked),
            hits_markdown(hits, asked=asked),
        ):
            assert said in told
            assert "0 to 0" not in told
    assert "no facet “no\\`pe”. The facets are a, b." in hits_markdown(hits, asked=True)
    assert "Nothing has the value “\\*x\\*” of the facet “a”." in hits_markdown(hits, asked=True)
    told = listing_markdown(Page((), 0, 0, 40, note=say("web.building")))
    assert "nothing to list" not in told


@given(TEXT)
def test_a_span_is_one_piece_of_code(text: str) -> None:
    tokens = PARSER.parse(f"x {span(text)} y\n")
    assert [child.type for child in tokens[1].children or []] == ["text", "code_inline", "text"]


@pytest.mark.anyio
async def test_a_task_is_told_whole() -> None:
    environment = ToyEnvironment(MAIN, prompt=prose("Do it.\n```\n# Not a heading\n"))
    told = task_markdown(await environment.task("plain"), MAIN)
    headings = [token.content for token in PARSER.parse(told) if token.type == "inline" and token.level == 1]
    assert "`toy/main`" in told
    assert "Do it." in told
    assert "Not a heading" not in headings
    assert "cannot" not in told.partition("Toys do not run")[0][-20:]
    assert "## Withheld" in told
    assert "- `secret/answer.txt`:" in told


@pytest.mark.anyio
async def test_an_environment_is_told_with_its_readme_and_how_it_is_read() -> None:
    told = summary_markdown(await ToyEnvironment(MAIN).summary())
    assert told.startswith("# Toy \\<b\\>tasks\\</b\\>\n")
    assert "It is written in the tests." in told
    assert "````markdown" in told or "```markdown" in told


@pytest.mark.anyio
async def test_lists_say_how_many_there_are() -> None:
    envs = await ToyCatalog().search(EnvQuery(), ANONYMOUS)
    tasks = Page((TaskCard("a`b", name("A *b*"), name("x"), {}, problem=say("web.nothing")),), 9, 4, 1)
    assert "1 to 3 of 3" in listing_markdown(envs)
    assert "- `toy/main`, 13 tasks: Brief of main" in listing_markdown(envs)
    told = listing_markdown(tasks)
    assert "5 to 5 of 9" in told
    assert "- ``a`b``: A \\*b\\*: x (Nothing is here)" in told


def test_folders_and_files_are_told() -> None:
    entries = (FileEntry("a/b", 0, is_dir=True), FileEntry("a/c", 1), FileEntry("a/s", 2, withheld=say("web.nothing")))
    folder = folder_markdown(Listing("a", entries, 3, truncated=True))
    assert "- `a/b/`" in folder
    assert "- `a/c`, 1 byte" in folder
    assert "- `a/s`: withheld. Nothing is here" in folder
    assert "More files" in folder
    text = file_markdown(Blob("x", 5, prose("``` \nhi")))
    assert "````\n``` \nhi\n````" in text
    assert "Not a text file." in file_markdown(Blob("x", 5, None, b"\0"))


def test_json_is_plain() -> None:
    card = cast(dict[str, object], to_json(env_card(MAIN)))
    assert card["key"] == "toy/main"
    assert card["modified"] == "2026-07-05T00:00:00+00:00"
    assert to_json(say("web.lines", n=1)) == "1 line"
    assert to_json(float("nan")) is None
    assert to_json(b"bytes") is None
    assert to_json(Count(name("easy"), 3)) == {"label": "easy", "n": 3, "filter": None}
    assert to_json(EnvKey("space", "a", "b")) == "space:a/b"
    assert to_json({"a": (1, record({"b": [1]}).value)}) == {"a": [1, {"b": [1]}]}
    assert to_json(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00+00:00"
    assert json.dumps(to_json(env_card(MAIN)))


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError):
        to_json(object())
    with pytest.raises(TypeError):
        to_json(ANONYMOUS)
