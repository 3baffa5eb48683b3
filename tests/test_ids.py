"""Keys, refs and their URLs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.ids import ROOT_REF, EnvKey, check_ref, check_revision, decode_ref, encode_ref, parse_key

refs = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80)


@given(refs)
@example("tasks/fix-bug")
@example("a//b/../c/./~d/~")
@example("tasks/100% #1? \"quoted\" 'ref'")
@example("작업/과제 1")
@example("x" * 200)
def test_a_ref_survives_its_url(ref: str) -> None:
    encoded = encode_ref(ref)
    assert decode_ref(encoded) == ref
    assert encoded.isascii()
    assert not {"", ".", ".."} & set(encoded.split("/"))
    assert not set("?#\"'<> ") & set(encoded)


def test_a_repository_that_is_one_task_has_a_page_without_a_ref() -> None:
    key = parse_key("org/name")
    assert key.task_page(ROOT_REF) == "/t/org/name"
    assert decode_ref("") == ROOT_REF
    assert parse_key("space:org/name").task_page("a/0") == "/s/org/name/t/a/0"


@pytest.mark.parametrize("text", ["org/name", "space:org/name", "a.b-c_d/E.f", "0/1"])
def test_a_key_prints_as_it_is_typed(text: str) -> None:
    key = parse_key(text)
    assert str(key) == text
    assert parse_key(str(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "org",
        "org/",
        "/name",
        "org/na/me",
        "org/..",
        "../name",
        "o rg/name",
        "org/na\0me",
        "org/name.git",
        "o" * 97 + "/n",
    ],
)
def test_what_cannot_name_a_repository_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not an environment key"):
        parse_key(text)


def test_both_kinds_may_exist_under_one_name() -> None:
    dataset, space = EnvKey("dataset", "org", "name"), EnvKey("space", "org", "name")
    for attribute in ("page", "api", "slug"):
        assert getattr(dataset, attribute) != getattr(space, attribute)
    assert dataset.task_page("x") != space.task_page("x")


@pytest.mark.parametrize("ref", ["a\0b", "a\nb", "a\x7fb", "a\ud800", "x" * 2049])
def test_refs_that_could_not_be_looked_up_are_refused(ref: str) -> None:
    with pytest.raises(BadInput):
        check_ref(ref)


@pytest.mark.parametrize("revision", ["../../etc", "a b", "", "main\n", "x" * 300])
def test_what_cannot_be_a_revision_is_refused(revision: str) -> None:
    with pytest.raises(BadInput):
        check_revision(revision)


@pytest.mark.parametrize("revision", ["main", "refs/pr/1", "v1.0", "0" * 40])
def test_revisions_pass(revision: str) -> None:
    assert check_revision(revision) == revision
