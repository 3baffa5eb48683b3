"""What a repository's card says of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.card import body, brief, title
from rlx.hub.info import read_info


@pytest.mark.parametrize(
    ("readme", "expected"),
    [
        (
            "# Title\n\nRows for `reward_model` and _style_ **checks**, with [links](https://x.test) to follow.\n",
            "Rows for reward_model and style checks, with links to follow.",
        ),
        (
            "---\ntags: [x]\n---\n<img src=x>\n\n<!-- canary GUID 1 -->\nBENCHMARK canary text of no use.\n\n"
            "This paragraph is prose and long enough to be one.\n",
            "This paragraph is prose and long enough to be one.",
        ),
        (
            "> One file each as `tasks/<task>/`, a <b>zip</b> or <br/> a tar, where 2 > 1 always.\n",
            "One file each as tasks/<task>/, a zip or a tar, where 2 > 1 always.",
        ),
        ("# 웹 서버\n\n리눅스에서 웹 서버를 고치는 과제 모음입니다.\n", "리눅스에서 웹 서버를 고치는 과제 모음입니다."),
        ("本数据集用于训练网页服务器修复智能体。\n", "本数据集用于训练网页服务器修复智能体。"),
        ("짧은 글.\n", ""),
        (
            "## Summary\n![logo](x.png)\nThis paragraph stands right below its heading and picture.\n",
            "This paragraph stands right below its heading and picture.",
        ),
        (
            "Name\n====\nThis paragraph stands right below an underlined heading.\n",
            "This paragraph stands right below an underlined heading.",
        ),
        (
            "```\nThis is a line of code.\n\nAnd so is this one, after a line that is empty.\n```\n"
            "Prose comes after it, long enough to be a paragraph.\n",
            "Prose comes after it, long enough to be a paragraph.",
        ),
        (
            "Keywords: these, are, many, words, and, none, says, a, thing\n\nProse comes after them, long enough.\n\n"
            "More prose comes, and it is long enough to be one.\n",
            "More prose comes, and it is long enough to be one.",
        ),
        ("Short.\n\n- a list that is long enough to look like a paragraph of prose\n", ""),
    ],
)
def test_a_brief_is_the_first_paragraph_that_reads_like_prose(readme: str, expected: str) -> None:
    assert brief(read_info("dataset", {"id": "org/name"}), readme) == expected


def test_a_long_brief_ends_at_a_word() -> None:
    found = brief(read_info("dataset", {"id": "org/name"}), "word " * 200)
    assert len(found) <= 280
    assert found.endswith("word…")


def test_a_long_brief_of_a_language_without_spaces_is_cut_where_it_is_long() -> None:
    found = brief(read_info("dataset", {"id": "org/name"}), "RLX " + "智能体" * 200)
    assert len(found) == 280
    assert found.endswith(("智…", "能…", "体…"))


@pytest.mark.parametrize(
    ("readme", "expected"),
    [
        ("# 한국 웹 서버 과제\n\nText.", "한국 웹 서버 과제"),
        (
            "---\ntags: [x]\n---\n<!-- # not this -->\n```sh\n# nor this\n```\n# **Web** [servers](https://x.test)\n",
            "Web servers",
        ),
        ("# Dataset Card for Web Servers\n", "Web Servers"),
        ("# Dataset Card for [Dataset Name]\n", "name"),
        ("# Dataset Description\n\n# Web Servers\n", "name"),
        ("# 데이터셋 설명\n", "name"),
        ("Web Servers\n===========\n", "Web Servers"),
        ('<h1 align="center">Web Servers</h1>\n', "Web Servers"),
        ("Prose.\n\n## Results of last year\n\n# Web Servers\n", "name"),
        ("# BENCHMARK canary 1234\n", "name"),
        (f"# {'word ' * 60}\n", "name"),
        ("", "name"),
    ],
)
def test_a_title_is_the_heading_a_card_opens_with_unless_any_card_may_have_it(readme: str, expected: str) -> None:
    assert title(read_info("dataset", {"id": "org/name"}), readme) == expected


def test_a_title_that_the_front_matter_tells_comes_before_the_heading() -> None:
    info = read_info("dataset", {"id": "org/name", "cardData": {"pretty_name": "Told"}})
    assert title(info, "# Heading\n") == "Told"


@given(st.text("#`~\n=- a<h1>/![]()한", max_size=200))
def test_any_readme_has_a_title_and_a_brief_of_one_line(readme: str) -> None:
    info = read_info("dataset", {"id": "org/name"})
    assert title(info, readme)
    assert "\n" not in title(info, readme) + brief(info, readme)


@pytest.mark.parametrize("readme", ["\ufeff---\na: 1\n---\nText", "---\r\na: 1\r\n---\r\nText", "Text"])
def test_front_matter_is_left_out(readme: str) -> None:
    assert body(readme) == "Text"
