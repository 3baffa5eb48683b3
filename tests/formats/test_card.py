"""What a repository's card says of it."""

import pytest

from rlx.formats.card import body, brief
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
        ("Short.\n\n- a list that is long enough to look like a paragraph of prose\n", ""),
    ],
)
def test_a_brief_is_the_first_paragraph_that_reads_like_prose(readme: str, expected: str) -> None:
    assert brief(read_info("dataset", {"id": "org/name"}), readme) == expected


def test_a_long_brief_ends_at_a_word() -> None:
    found = brief(read_info("dataset", {"id": "org/name"}), "word " * 200)
    assert len(found) <= 280
    assert found.endswith("word…")


@pytest.mark.parametrize("readme", ["\ufeff---\na: 1\n---\nText", "---\r\na: 1\r\n---\r\nText", "Text"])
def test_front_matter_is_left_out(readme: str) -> None:
    assert body(readme) == "Text"
