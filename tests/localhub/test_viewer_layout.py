"""Which files are rows: the card's configs, and the names of files without them."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub.cards import Card
from rlx.localhub.viewer.layout import NoData, by_keyword, expand, layout, matches

FILES = [
    "README.md",
    "data/train-00000-of-00002.jsonl",
    "data/train-00001-of-00002.jsonl",
    "data/test.jsonl",
    "extra/deep/er/notes.csv",
    "extra/test.csv",
    ".hidden/train.jsonl",
    "__pycache__/train.jsonl",
]


def found(configs: object, paths: list[str] = FILES) -> dict[str, dict[str, tuple[str, ...]]]:
    card = Card({} if configs is None else {"configs": configs})
    return {name: {split.name: split.paths for split in splits} for name, splits in layout(card, paths).items()}


TRAIN = ("data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl")


@pytest.mark.parametrize(
    ("data_files", "splits"),
    [
        ("data/train-*", {"train": TRAIN}),
        (["data/test.jsonl"], {"train": ("data/test.jsonl",)}),
        ([{"split": "eval", "path": "data/test.jsonl"}], {"eval": ("data/test.jsonl",)}),
        ([{"split": "a", "path": ["data/test*", "data/train-00000*"]}], {"a": ("data/test.jsonl", TRAIN[0])}),
        ({"train": "data/train*", "test": ["data/test.jsonl"]}, {"train": TRAIN, "test": ("data/test.jsonl",)}),
        ("**/*.csv", {"train": ("extra/deep/er/notes.csv", "extra/test.csv")}),
        ("extra/**", {"train": ("extra/deep/er/notes.csv", "extra/test.csv")}),
        ("./extra", {"train": ("extra/deep/er/notes.csv", "extra/test.csv")}),
        ("extra/*", {"train": ("extra/test.csv",)}),
        ("data/t?st.json[l]", {"train": ("data/test.jsonl",)}),
        ([{"path": "data/test.jsonl"}, 3, {"split": "x"}], {"train": ("data/test.jsonl",)}),
    ],
)
def test_data_files_are_read_in_all_their_forms(data_files: object, splits: dict[str, tuple[str, ...]]) -> None:
    assert found([{"config_name": "one", "data_files": data_files}]) == {"one": splits}


def test_the_default_config_comes_first() -> None:
    configs = [{"config_name": name, "data_files": "data/test.jsonl"} for name in ("b", "default", "a")]
    assert list(found(configs)) == ["default", "a", "b"]
    configs[2]["default"] = True  # type: ignore[assignment]  # cards hold anything
    assert list(found(configs)) == ["a", "b", "default"]


def test_a_data_dir_narrows_what_is_searched() -> None:
    assert found([{"config_name": "x", "data_dir": "extra", "data_files": "**"}])["x"]["train"]
    assert found([{"config_name": "x", "data_dir": "./data/"}]) == {"x": {"train": TRAIN}}


@pytest.mark.parametrize(
    ("paths", "splits"),
    [
        (["a.jsonl"], {"train": ["a.jsonl"]}),
        (["train.jsonl", "dev.jsonl"], {"train": ["train.jsonl"], "validation": ["dev.jsonl"]}),
        (["my-eval_1.csv", "training.csv"], {"train": ["training.csv"], "test": ["my-eval_1.csv"]}),
        (["contest.jsonl"], {"train": ["contest.jsonl"]}),
        (["test/a.jsonl", "b.jsonl"], {"test": ["test/a.jsonl"]}),
        (["val/a.jsonl", "train/b.jsonl"], {"train": ["train/b.jsonl"], "validation": ["val/a.jsonl"]}),
        (
            ["data/extra-00000-of-00001.parquet", "data/train-00000-of-00001.parquet", "x.parquet"],
            {"train": ["data/train-00000-of-00001.parquet"], "extra": ["data/extra-00000-of-00001.parquet"]},
        ),
    ],
)
def test_splits_are_found_by_keyword(paths: list[str], splits: dict[str, list[str]]) -> None:
    assert by_keyword(paths) == splits


@pytest.mark.parametrize(
    "paths",
    [
        [],
        ["README.md", "LICENSE"],
        [".hidden.jsonl"],
        ["tasks/a/task.toml", "tasks/a/tests/test.sh", "tasks/a/tests/expected.json"],
        ["tasks.tar"],
    ],
)
def test_folders_of_something_else_have_no_rows(paths: list[str]) -> None:
    with pytest.raises(NoData):
        layout(Card({}), paths)


def test_a_pattern_without_files_is_told() -> None:
    with pytest.raises(NoData, match=r"No file matches gone/\*"):
        found([{"config_name": "x", "data_files": "gone/*"}])


@pytest.mark.parametrize("configs", [3, "text", [], [3], {"config_name": "x"}])
def test_configs_that_are_none_are_ignored(configs: object) -> None:
    assert list(found(configs)) == ["default"]


def test_too_many_configs_are_refused() -> None:
    with pytest.raises(NoData, match="3,001 configs"):
        found([{"config_name": str(number)} for number in range(3001)])


@given(st.text("ab*?[]", max_size=8), st.text("ab", max_size=8))
def test_a_pattern_without_slashes_is_a_shell_pattern(pattern: str, name: str) -> None:
    if "**" not in pattern and name:
        assert matches([pattern], [name]) == fnmatch.fnmatchcase(name, pattern)


def _slow(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_slow(pattern[1:], path[skip:]) for skip in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and _slow(pattern[1:], path[1:])


@given(st.lists(st.sampled_from(["**", "a", "b", "*"]), max_size=6), st.lists(st.sampled_from(["a", "b"]), max_size=6))
def test_stars_over_folders_match_what_they_should(pattern: list[str], path: list[str]) -> None:
    assert matches(pattern, path) == _slow(pattern, path)


def test_hostile_patterns_take_no_time() -> None:
    deep = "/".join(["a"] * 300)
    assert expand(["/".join(["**", "a"] * 120) + "/b"], [deep]) == []
    assert expand(["*a" * 200 + "b"], ["a" * 4000]) == []
