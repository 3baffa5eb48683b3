"""Cards that are written, and READMEs that get front matter."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub.cards import parse_card
from rlx.localhub.writing.cards import validate
from rlx.publish.carding import About, body, card, front_matter, with_front_matter

ABOUT = About(
    title="Steps",
    repo="acme/steps",
    kind="dataset",
    what="A few tasks.",
    tags=("rl-environment", "harbor"),
    tasks=5,
    graded=("Its tests run.",),
    run=("rlx run start acme/steps tasks/a --agent oracle",),
    license="mit",
)
lines = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60)


def test_a_card_says_what_it_is_how_it_is_graded_and_how_to_run_it() -> None:
    told = card(ABOUT)
    assert parse_card(told).data == {
        "pretty_name": "Steps",
        "license": "mit",
        "tags": ["rl-environment", "harbor"],
        "size_categories": ["n<1K"],
    }
    for part in (
        "A few tasks.",
        "5 tasks.",
        "## How it is graded",
        "Its tests run.",
        "## How to run it",
        "--agent oracle",
    ):
        assert part in told


def test_a_space_has_what_its_hub_needs() -> None:
    told = parse_card(card(replace(ABOUT, kind="space", sdk="docker", port=8000, license=None))).data
    assert told == {"title": "Steps", "sdk": "docker", "app_port": 8000, "tags": ["rl-environment", "harbor"]}
    assert "size_categories" not in told


@given(title=lines, tags=st.lists(lines, min_size=1, max_size=4, unique=True), license=lines)
def test_front_matter_holds_any_words_as_they_are(title: str, tags: list[str], license: str) -> None:
    told = card(replace(ABOUT, title=title, tags=tags, license=license))
    assert validate(told)["errors"] == []
    data = parse_card(told).data
    assert (data["pretty_name"], data["tags"]) == (title, tags)
    assert data.get("license", "") == license


@given(readme=st.text(max_size=200))
def test_every_byte_of_a_readme_stays_behind_its_front_matter(readme: str) -> None:
    told = with_front_matter(ABOUT, readme)
    assert told.endswith(readme)
    assert told.startswith(front_matter(ABOUT))
    assert parse_card(told).values("tags") == ["rl-environment", "harbor"]


def test_what_is_not_known_is_not_said() -> None:
    told = body(replace(ABOUT, tasks=None, graded=(), run=()))
    assert told == "# Steps\n\nA few tasks.\n"
