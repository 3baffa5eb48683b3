"""What may be shown can be made in one place only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rlx
from rlx.answers import Shown, ShownJson, name, prose
from rlx.texts import catalog

PACKAGE = Path(rlx.__file__).parent
MINTS = {"show", "show_json", "_KEY"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        where = str(path.relative_to(PACKAGE))
        if not where.startswith(("answers/", "demo/")):
            yield where, ast.parse(path.read_text())


def test_nothing_outside_the_policy_makes_what_is_shown() -> None:
    offenders = []
    for where, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rlx.answers"):
                offenders += [where for alias in node.names if alias.name in MINTS]
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).rsplit(".", 1)[-1]
                offenders += [where for made in ("Shown", "ShownJson") if called == made]
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "cast":
                offenders += [where for argument in node.args[:1] if "Shown" in ast.unparse(argument)]
    assert offenders == []


def test_only_the_index_remakes_what_it_stored() -> None:
    users = {
        where.split("/")[0]
        for where, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "rlx.answers.stored"
    }
    assert users <= {"index"}


def test_a_plain_text_is_not_shown() -> None:
    with pytest.raises(TypeError):
        Shown("text")
    with pytest.raises(TypeError):
        ShownJson({"answer": 1})


def test_what_is_made_of_a_shown_text_is_plain_again() -> None:
    assert type(prose("a") + "b") is str
    assert type(prose("a")) is Shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\nb", "a b"),
        ("a\x1b[31mb\x07", "a[31mb"),
        ("a\u202eb\u2066", "ab"),
        ("caf\u00e9", "café"),
        ("a\ud800", "a\ufffd"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_a_name_is_one_line_without_control_characters(given: str, shown: str) -> None:
    assert name(given) == shown


@given(st.text(st.characters()))
def test_prose_is_shown_whole_and_can_be_written(text: str) -> None:
    prose(text).encode()
    if not any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        assert prose(text) == text


def test_every_reason_is_a_sentence() -> None:
    reasons = {key: text for key, text in catalog("en").items() if key.startswith("answers.")}
    assert reasons
    assert [key for key, text in reasons.items() if not (text[0].isupper() and text.endswith("."))] == []
