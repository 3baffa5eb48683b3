"""Globs are Go's, and a `.dockerignore` means what it means to Docker."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.dockerfile.patterns import Glob, Ignore, split_wildcards
from rlx.sandboxes.dockerfile.refusals import Refused


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", ".py", True),
        ("*", ".bashrc", True),
        ("*", "a/b", False),
        ("*/b", "a/b", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[^a-c]x", "bx", False),
        ("[^a]", "/", True),
        ("a[\\]]", "a]", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
        ("a*b*c", "axxbyyc", True),
        ("a*b*c", "axxbyy", False),
        ("**", "ab", True),
        ("**", "a/b", False),
        ("é*", "éa", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_a_glob_matches_as_go_does(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path) is fits


@pytest.mark.parametrize("pattern", ["[", "[]a]", "[a", "a\\", "[a-]", "[-x]", "[x-]"])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(Refused):
        Glob(pattern)


@pytest.mark.parametrize(
    ("rules", "out", "kept"),
    [
        ("node_modules", ["node_modules", "node_modules/a/b"], ["src/node_modules", "node_modules2"]),
        ("/a/", ["a", "a/b"], ["b/a"]),
        ("*.log", ["a.log"], ["a/b.log", "log"]),
        ("**/*.log", ["a.log", "a/b.log", "a/b/c.log"], ["a.logs"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["z", "a/bz", "b/a/z"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs"]),
        ("*\n!keep\n", ["a", "a/keep"], ["keep", "keep/a"]),
        ("*.md\n!README.md\nREADME*\n", ["a.md", "README.md"], []),
        ("*.md\nREADME*\n!README.md", ["a.md", "README"], ["README.md"]),
        ("# a\n\n  b  \n", ["b"], ["# a", "a"]),
        ("./a/../b", ["b"], ["a"]),
        ("a?b", ["axb"], ["a/b"]),
        ("**a", ["xa", "b/xa"], ["ab"]),
        ("a**", ["ab/c"], ["b"]),
        ("temp*", ["temp", "temporary/x"], ["a/temp"]),
        (".git\n.*", [".git/x", ".env"], ["a.b"]),
        ("\\!a", ["!a"], ["a"]),
        (".", [], ["a"]),
        ("**", ["a", "a/b"], []),
        ("**\n!src/*.py", ["a", "src/b/c.txt"], ["src/a.py"]),
    ],
)
def test_a_dockerignore_leaves_out(rules: str, out: list[str], kept: list[str]) -> None:
    ignore = Ignore.of(rules)
    assert [path for path in out if not ignore.leaves_out(path)] == []
    assert [path for path in kept if ignore.leaves_out(path)] == []


def test_a_path_is_parted_where_its_wildcards_begin() -> None:
    assert split_wildcards("a/b*/c") == ("a", "b*/c")
    assert split_wildcards("*.py") == ("", "*.py")
    assert split_wildcards("a/b") == ("a/b", "")
    assert split_wildcards("a\\*/b") == ("a\\*/b", "")


ODD = st.text(alphabet="a/*?[]^-\\!.b", max_size=20)


@given(ODD, ODD)
def test_any_pattern_matches_or_is_refused(pattern: str, path: str) -> None:
    with contextlib.suppress(Refused):
        Glob(pattern).matches(path)
    with contextlib.suppress(Refused):
        Ignore.of(pattern).leaves_out(path)


@given(st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "?"]), min_size=1, max_size=4), st.data())
def test_what_two_stars_match_is_at_any_depth(parts: list[str], data: st.DataObject) -> None:
    """Against a slower way to say the same: by the parts of the path."""
    path = data.draw(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5))

    def fits(rule: list[str], rest: list[str]) -> bool:
        if not rule:
            return not rest
        if rule[0] == "**":
            if len(rule) == 1:
                return bool(rest)
            return any(fits(rule[1:], rest[count:]) for count in range(len(rest) + 1))
        return bool(rest) and Glob(rule[0]).matches(rest[0]) and fits(rule[1:], rest[1:])

    expected = any(fits(parts, path[:count]) for count in range(1, len(path) + 1))
    assert Ignore(["/".join(parts)]).leaves_out("/".join(path)) is expected


@pytest.mark.timeout(10)
def test_hostile_patterns_are_matched_soon() -> None:
    assert not Glob("*a" * 400).matches("a" * 300 + "b")
    assert not Ignore(["**/" * 200 + "x"]).leaves_out("a/" * 500 + "b")


@pytest.mark.timeout(10)
def test_patterns_that_would_take_too_long_are_refused() -> None:
    with pytest.raises(Refused) as found:
        Ignore(["**/*/" * 150 + "x"]).leaves_out("a/" * 2000 + "b")
    assert found.value.kind == "unsupported"
