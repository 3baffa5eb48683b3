"""Words of a search in titles and briefs: marked, escaped, and never hidden past a brief's two lines."""

import re
from html import unescape
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rlx.index.snapshot.words import asked, spans
from rlx.web.found import excerpt, lit
from rlx.web.inert import spell

texts = st.text(st.sampled_from("ab <>&\"'\u202e\x1b[0m환경é𝒙-_"), max_size=60)


def told(html: str) -> str:
    """What a reader sees of it."""
    return unescape(re.sub(r"</?mark>", "", html))


@given(texts, texts)
def test_every_text_is_told_whole_and_holds_no_markup_but_marks(text: str, words: str) -> None:
    found = spans(text, asked(words))
    html = str(lit(text, found))
    assert re.findall(r"<[^>]*>", re.sub(r"</?mark>", "", html)) == []
    parts = re.split(r"</?mark>", html)
    assert [unescape(part) for part in parts[1::2]] == [spell(text[start:end]) for start, end in found]
    assert told(html).replace("⟨ESC", "⟨U+001B") in {spell(text), *_cut(text, found)}


def _cut(text: str, found: tuple[tuple[int, int], ...]) -> set[str]:
    """A sequence that a mark cuts through is spelled part by part."""
    places = [0, *(place for span in found for place in span), len(text)]
    return {"".join(spell(text[a:b]).replace("⟨ESC", "⟨U+001B") for a, b in pairwise(places))}


def test_words_are_marked_as_they_are_written() -> None:
    assert lit("Fix <b>the</b> Fixture", [(0, 3), (15, 18)]) == (
        "<mark>Fix</mark> &lt;b&gt;the&lt;/b&gt; <mark>Fix</mark>ture"
    )


def test_a_brief_begins_shortly_before_a_word_that_comes_late() -> None:
    text = "word " * 40 + "and then the parser"
    at = text.index("parser")
    html = str(excerpt(text, [(at, at + 6)]))
    assert html.startswith("… word word")
    assert html.endswith("and then the <mark>parser</mark>")
    assert len(told(html)) < 80
    assert excerpt(text, [(0, 4)]).startswith("<mark>word</mark> word")
    assert excerpt(text, []) == text


def test_a_word_that_comes_late_in_a_text_without_spaces_is_shown() -> None:
    text = "환" * 200 + "경"
    assert str(excerpt(text, [(200, 201)])).endswith(f"{'환' * 60}<mark>경</mark>")
