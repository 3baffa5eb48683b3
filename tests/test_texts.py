"""What the product says: every text that is named exists, every text that exists is named, and parameters agree."""

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlx.texts import DEFAULT, LANGUAGES, catalog, say, words

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for path in sorted((ROOT / "src" / "rlx").rglob("*.py"))
    if not path.is_relative_to(ROOT / "src" / "rlx" / "demo" / "datasets")
]
TEMPLATES = sorted((ROOT / "src" / "rlx").rglob("*.html"))


@dataclass(frozen=True, slots=True)
class Use:
    key: str
    params: frozenset[str]
    where: str


def uses() -> Iterator[Use]:
    """Every `say("area.name", …)` of the source whose key is written out."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say"):
                continue
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                params = frozenset(keyword.arg or "**" for keyword in node.keywords)
                yield Use(first.value, params, f"{path.relative_to(ROOT)}:{node.lineno}")


USES = list(uses())


def placeholders(template: str) -> set[str]:
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(template) if name}


@dataclass(slots=True)
class Written:
    """What the source writes out: whole strings, and the fixed beginnings and ends of those that it builds."""

    whole: set[str]
    beginnings: set[str]
    ends: set[str]

    def names(self, key: str) -> bool:
        return (
            key in self.whole
            or any(key.startswith(beginning) for beginning in self.beginnings)
            or any(key.endswith(end) and key.removesuffix(end) in self.whole for end in self.ends)
        )


def written() -> Written:
    found = Written(set(), set(), set())
    areas = {key.split(".")[0] for key in catalog(DEFAULT)}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.whole.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                first, last = node.values[0], node.values[-1]
                if isinstance(first, ast.Constant) and str(first.value).split(".")[0] in areas:
                    found.beginnings.add(str(first.value))
                elif isinstance(last, ast.Constant) and str(last.value).startswith("_"):
                    found.ends.add(str(last.value))
    found.beginnings = {text for text in found.beginnings if "." in text}
    return found


def test_there_are_texts_and_they_are_used() -> None:
    assert USES
    assert catalog(DEFAULT)


def test_every_text_that_is_said_exists_and_gets_its_parameters() -> None:
    known = catalog(DEFAULT)
    unknown = [f"{use.where}: {use.key}" for use in USES if use.key not in known]
    short = [
        f"{use.where}: {use.key} lacks {', '.join(sorted(missing))}"
        for use in USES
        if use.key in known and "**" not in use.params and (missing := placeholders(known[use.key]) - use.params)
    ]
    assert unknown == []
    assert short == []


def test_every_text_is_said_somewhere() -> None:
    """A key counts as said when it is written out, in code or a template, or built from a part of it that is."""
    source = written()
    markup = "\n".join(path.read_text() for path in TEMPLATES)
    source.beginnings.update(re.findall(r'say\("([\w.]+)" ~', markup))
    keys = {key.removesuffix("_one") for key in catalog(DEFAULT)}
    assert sorted(key for key in keys if not source.names(key) and key not in markup) == []


def test_a_singular_has_a_plural_that_counts() -> None:
    known = catalog(DEFAULT)
    for key in known:
        if key.endswith("_one"):
            plural = known.get(key.removesuffix("_one"), "")
            assert "n" in placeholders(plural), key
            assert placeholders(known[key]) <= placeholders(plural), key


OTHERS = [language for language in LANGUAGES if language != DEFAULT]
FOR_MACHINES = {"web.llms"}
"""What programs read stays English."""
PARTICLE = re.compile(r"\}(은|는|이|가|을|를|과|와|으로|로|이나|나|이며|이고|이라)(?![가-힣])")


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_says_everything(language: str) -> None:
    """A language without singulars says every number alike."""
    english, other = catalog(DEFAULT), catalog(language)
    assert sorted(key for key in english if not key.endswith("_one") and key not in {*other, *FOR_MACHINES}) == []
    assert sorted(other.keys() - english.keys()) == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_parameters_of_the_original(language: str) -> None:
    english, other = catalog(DEFAULT), catalog(language)
    assert [key for key in other if placeholders(other[key]) != placeholders(english.get(key, ""))] == []


def test_korean_puts_no_particle_after_a_parameter_whose_last_sound_it_cannot_know() -> None:
    assert [key for key, template in catalog("ko").items() if PARTICLE.search(template)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_can_be_said(language: str) -> None:
    for key, template in catalog(DEFAULT).items():
        params: dict[str, str | int] = {name: (7 if name == "n" else "x") for name in placeholders(template)}
        assert words(say(key, **params), language).strip()
