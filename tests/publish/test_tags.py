"""Tags are added to a card, and no other byte of it changes: real cards' ways of writing them, and ugly ones."""

import difflib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.publish.tags import add_tags, tags_of

TAGS = ("rl-environment", "nemo-gym")
ADDED = b"rl-environment, nemo-gym"
CARDS = {
    "list": (b"---\ntags:\n- a\n- b # why\nlicense: mit\n---\n# x\n", b"- rl-environment\n- nemo-gym\n"),
    "indented": (b"---\ntags:\n    - a\nx: 1\n---\n", b"    - rl-environment\n    - nemo-gym\n"),
    "crlf": (b"---\r\nlicense: mit\r\ntags:\r\n- a\r\n---\r\nb\r\n", b"- rl-environment\r\n- nemo-gym\r\n"),
    "flow": (b"---\ntags: [a, 'b c'] # two\n---\n", b", " + ADDED),
    "flow over lines": (b"---\ntags: [\n  a, # one\n  b,\n]\n---\n", b", " + ADDED),
    "empty flow": (b"---\ntags: []\n---\n", ADDED),
    "scalar": (b"---\ntags: a # one\n---\n", b"[, " + ADDED + b"]"),
    "quoted scalar": (b'---\ntags: "a, b"\n---\n', b"[, " + ADDED + b"]"),
    "nothing": (b"---\ntags:\nx: 1\n---\n", b" [" + ADDED + b"]"),
    "no tags": (b"---\nx: 1 # c\n---\nbody", b"tags:\n- rl-environment\n- nemo-gym\n"),
    "kept newlines": (b"---\nx: |+\n  a\n\n---\n", b"tags:\n- rl-environment\n- nemo-gym\n"),
    "indented keys": (b"---\n  a: 1\n---\n", b"  tags:\n  - rl-environment\n  - nemo-gym\n"),
    "comments alone": (b"---\n# c\n---\n", b"tags:\n- rl-environment\n- nemo-gym\n"),
    "other keys twice": (b"---\na: 1\na: 2\ntags: [x]\n---\n", b", " + ADDED),
    "tabs in values": (b'---\na: "x\ty" # z\ntags: [x]\n---\n\tbody\t', b", " + ADDED),
    "no front matter": (b"# x\n---\ny\n", b"---\ntags:\n- rl-environment\n- nemo-gym\n---\n"),
    "empty": (b"", b"---\ntags:\n- rl-environment\n- nemo-gym\n---\n"),
}
REFUSED = {
    "bom": (b"\xef\xbb\xbf---\ntags: [a]\n---\n", "byte order mark"),
    "not utf-8": (b"---\ntags: [\xff]\n---\n", "not UTF-8"),
    "unfinished": (b"---\ntags: [a]\n", "does not end"),
    "late": (b"\n---\ntags: [a]\n---\n", "first line"),
    "tabs": (b"---\ntags:\n\t- a\n---\n", "no YAML .line 3."),
    "tags twice": (b"---\ntags: [a]\ntags: [b]\n---\n", "more than once"),
    "list in a text": (b"---\ntags: a, b\n---\n", "a text, and no list"),
    "block text": (b"---\ntags: |\n  a\n---\n", "a text, and no list"),
    "mapping": (b"---\ntags: {a: 1}\n---\n", "no list of words"),
    "mappings": (b"---\ntags:\n- a: 1\n---\n", "no list of words"),
    "alias": (b"---\nx: &x [a]\ntags: *x\n---\n", "those of another key"),
    "anchor in use": (b"---\ntags: &x [a]\ny: *x\n---\n", "another key"),
    "flow mapping": (b"---\n{tags: [a]}\n---\n", "no list of keys"),
    "deep": (b"---\ntags: " + b"[" * 20_000 + b"\n---\n", "no YAML that can be read"),
    "two documents": (b"---\na: 1\n...\nb: 2\n---\n", "no YAML"),
    "huge": (b"---\n" + b"a: 1\n" * 60_000 + b"---\n", "longer than"),
}


def inserted(before: bytes, after: bytes) -> bytes:
    """What was put in, where nothing was taken out."""
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    assert {step[0] for step in steps} <= {"equal", "insert"}
    return b"".join(after[step[3] : step[4]] for step in steps if step[0] == "insert")


@pytest.mark.parametrize("name", CARDS)
def test_only_tags_are_put_in(name: str) -> None:
    before, put = CARDS[name]
    after = add_tags(before, TAGS)
    assert sorted(inserted(before, after)) == sorted(put)
    assert tags_of(after)[-2:] == TAGS
    assert add_tags(after, TAGS) == after


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_edited_surely_is_refused_with_the_reason(name: str) -> None:
    card, why = REFUSED[name]
    with pytest.raises(BadInput, match=why) as refused:
        add_tags(card, TAGS)
    assert refused.value.hint


def test_tags_are_known_in_any_capitals_and_as_a_library_s() -> None:
    card = b"---\ntags: [RL-Environment, 'library:nemo-gym']\n---\n"
    assert add_tags(card, TAGS) == card


@pytest.mark.parametrize("path", sorted(Path(__file__).parents[1].glob("fixtures/hub/*/*/*/README.md")), ids=str)
def test_cards_of_the_fixture_hub_keep_all_else(path: Path) -> None:
    before = path.read_bytes()
    try:
        after = add_tags(before, ("zz-tag",))
    except BadInput:
        return
    inserted(before, after)
    assert "zz-tag" in tags_of(after)


WORDS = st.text(st.sampled_from("ab-: #'\"[],{}\t&*!|>%@`é한"), min_size=1, max_size=8)


@given(
    tags=st.lists(WORDS, max_size=4),
    style=st.sampled_from([None, True, False]),
    newline=st.sampled_from(["\n", "\r\n"]),
    others=st.dictionaries(WORDS.filter(lambda word: word != "tags"), WORDS | st.lists(WORDS), max_size=3),
    body=st.text(max_size=40),
)
def test_whatever_is_written_the_rest_stays(
    tags: list[str], style: bool | None, newline: str, others: dict[str, object], body: str
) -> None:
    told = yaml.safe_dump({**others, "tags": tags}, default_flow_style=style, allow_unicode=True, sort_keys=False)
    front = told.replace("\n", newline)
    before = f"---{newline}{front}---{newline}{body}".encode()
    try:
        after = add_tags(before, TAGS)
    except BadInput:
        return
    put = inserted(before, after)
    assert put.count(b"rl-environment") <= 1
    read = yaml.safe_load(after.decode().split(f"---{newline}", 2)[1])
    assert {key: value for key, value in read.items() if key != "tags"} == others
    assert list(read["tags"])[: len(tags)] == tags
    assert after.endswith(body.encode())
