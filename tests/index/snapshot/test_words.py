"""Which words a query asks for, and where a text holds them."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.index.folding import fold
from rlx.index.snapshot.words import asked, env_token, facet_token, spans, tokens

WRITING = "abC ﬁßÉe\u0301\u0302환경\u1112\u116a\u11abﾌﾟﾛ強化हिन्दीเขียน.-_\ue000\U000f0000"
written = st.text(st.sampled_from(WRITING), max_size=30)
texts = written | st.text(max_size=30)


@pytest.mark.parametrize(
    ("query", "text", "stands"),
    [
        ("C++", "snake_case C++ code", ["C"]),
        ("и", "ошибки и тесты", ["и"]),
        ("नमस्ते", "हिन्दी में नमस्ते दुनिया", ["नमस्ते"]),
        ("เขียน", "ภาษาไทยการเขียนโปรแกรม", ["เขียน"]),
        (
            "환경",
            "\u1112\u1161\u11a8\u1109\u1173\u11b8\u1112\u116a\u11ab\u1100\u1167\u11bc",
            ["\u1112\u116a\u11ab\u1100\u1167\u11bc"],
        ),
        ("プログ", "ﾌﾟﾛｸﾞﾗﾑ 半角", ["ﾌﾟﾛｸﾞ"]),
        ("strasse", "die Straße", ["Straße"]),
        ("café", "un cafe\u0301 ici", ["cafe\u0301"]),
        ("f", "ﬁ f", ["f"]),
        ("fix", "prefix fixture", ["fix"]),
    ],
)
def test_words_stand_where_a_reader_sees_them(query: str, text: str, stands: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text, asked(query))] == stands


@given(texts, texts)
def test_a_text_is_marked_when_it_holds_a_word_and_only_there(text: str, query: str) -> None:
    wanted = asked(query)
    found = spans(text, wanted)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    here = tokens(text)
    holds = any(
        any(token.startswith(word[:-1]) for token in here) if word.endswith("*") else word in here for word in wanted
    )
    if all(fold(char) for char in text) and fold(text) == "".join(map(fold, text)):
        assert bool(found) == holds


@given(written)
def test_a_text_is_found_by_itself_however_it_is_composed(text: str) -> None:
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(text)
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)


@given(texts, st.integers(0, 200_000))
def test_no_text_holds_a_token_of_the_index_itself(text: str, number: int) -> None:
    own = {facet_token(number), env_token(number)}
    assert not own & tokens(f"{text} {' '.join(own)}")
    assert not any(mark in word for word in asked(" ".join(own)) for mark in own)


def test_the_words_after_a_long_run_of_unspaced_writing_count() -> None:
    assert asked("強化学習環境を作る方法 python")[-1] == "python*"


def test_no_more_than_eight_words_of_forty_characters_count() -> None:
    assert len(asked(" ".join(f"word{n}" for n in range(20)))) == 8
    assert len(asked("環" + "境界" * 50)) <= 39
