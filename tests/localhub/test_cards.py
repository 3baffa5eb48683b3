"""Cards: front matter in every shape that is met."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub.cards import parse_card

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {k: v}\n" + "\n".join(
    f"x{number}: &x{number} {{<<: [*{before}, *{before}]}}"
    for number, before in enumerate(["a", *(f"x{number}" for number in range(29))])
)


def front(text: str) -> dict[str, object]:
    return dict(parse_card(f"---\n{text}\n---\nBody.").data)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("tags: [a, b]", ["a", "b"]),
        ("tags: a", ["a"]),
        ("tags:\n- a\n- a\n- b", ["a", "b"]),
        ("tags: [1, 2.5, true, null, [x], {y: z}, a]", ["1", "2.5", "a"]),
        ("tags: {a: b}", []),
        ("tags:", []),
        ("tags: a\ntags: [b]", ["b"]),
        ("license: [mit, apache-2.0]", ["license:mit", "license:apache-2.0"]),
        ("language: no", []),
        ("size_categories:\n- 1K<n<10K", ["size_categories:1K<n<10K"]),
        ("tags:\n- a\nlicense:\tmit", ["license:mit", "a"]),
        ("task_categories: [x]\ntags: [y]\nlicense: z", ["license:z", "task_categories:x", "y"]),
    ],
)
def test_tags_come_from_whatever_the_card_holds(text: str, tags: list[str]) -> None:
    assert parse_card(f"---\n{text}\n---\n").tags("datasets") == [*tags, "region:us"]


def test_a_space_is_tagged_with_its_sdk_and_never_by_key() -> None:
    assert parse_card("---\nsdk: docker\nlicense: mit\ntags: [openenv]\n---\n").tags("spaces") == [
        "docker",
        "openenv",
        "region:us",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# No front matter",
        "text\n---\ntags: [a]\n---\n",
        "---\ntags: [a]\n",
        "---\n---\n",
        "---\n- a\n- list\n---\n",
        "---\njust text\n---\n",
        "---\n: :\n  - [\n---\n",
        "---\n'unclosed\n---\n",
        "---\n!!python/object/apply:os.system [true]\n---\n",
        "---\na: *nowhere\n---\n",
        f"---\n{BOMB}\n---\n",
        f"---\na: {'[' * 5000}{']' * 5000}\n---\n",
        f"---\na: {'9' * 5000}\n---\n",
        f"---\na: {'x' * 300_000}\n---\n",
        "---\na: &a [*a]\n---\n",
    ],
    ids=lambda text: text[:24],
)
def test_what_is_no_card_counts_as_empty(text: str) -> None:
    assert parse_card(text).data == {}


def test_odd_values_become_plain_ones() -> None:
    text = "day: 2026-13-45\nwhen: 2026-01-02\nn: .nan\ni: .inf\ns: !!set {a}\nb: !!binary aGk=\n7: one\ntrue: t"
    assert front(text) == {
        "day": "2026-13-45",
        "when": "2026-01-02",
        "n": None,
        "i": None,
        "s": ["a"],
        "b": None,
        "7": "one",
        "true": "t",
    }


def test_merge_keys_cannot_multiply() -> None:
    assert front(MERGES)["x29"] == {}


def test_the_front_matter_may_be_preceded_by_space_and_a_byte_order_mark() -> None:
    for start in ("", "\ufeff", "\n \n", "\ufeff\r\n"):
        card = parse_card(f"{start}---\r\ntags: [a]\r\n---\r\n\r\n# Title\r\n\r\nBody  text.\r\n")
        assert card.data == {"tags": ["a"]}
        assert card.description == "# Title Body text."


def test_descriptions_are_cut() -> None:
    assert len(parse_card("word " * 1000).description) <= 500


@given(st.text() | st.text(st.sampled_from("-:[]{}&*!|>'\"%@`#,? \n\tabc1.~<")))
def test_any_text_is_a_card_that_json_can_say(text: str) -> None:
    for card in (parse_card(text), parse_card(f"---\n{text}\n---\n")):
        json.dumps(card.data, allow_nan=False).encode()
        assert all(isinstance(tag, str) for tag in card.tags("datasets"))
