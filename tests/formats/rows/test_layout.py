"""Which files make which config and split, from a listing and a card."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.rows.layout import MAX_CONFIGS, layout
from rlx.formats.rows.patterns import Work, braces, expand, matches

SETS = json.loads((Path(__file__).parent / "shared_sets.json").read_text())

type Told = list[tuple[str, str, str, list[str]]]


def told(card: object, *paths: str, converted: tuple[str, ...] = ()) -> Told:
    found = layout({"configs": card} if card is not None else {}, paths, converted)
    return [(split.config, split.name, split.format, list(split.paths)) for split in found.splits]


@pytest.mark.parametrize("repo", SETS)
def test_the_splits_of_real_sets_are_found(repo: str) -> None:
    known = SETS[repo]
    assert told(known.get("configs"), *known["paths"]) == [tuple(split) for split in known["splits"]]


def test_there_are_as_many_real_sets_as_there_were() -> None:
    assert (len(SETS), sum(not known["splits"] for known in SETS.values())) == (119, 7)


@pytest.mark.parametrize(
    ("data_files", "splits"),
    [
        ("data/*.jsonl", {"train": ["data/a.jsonl", "data/b.jsonl"]}),
        (["data/b.jsonl", "data/a.jsonl"], {"train": ["data/b.jsonl", "data/a.jsonl"]}),
        ({"test": "data/b.jsonl"}, {"test": ["data/b.jsonl"]}),
        ({"odd": ["data/b.jsonl", "data/a.jsonl"]}, {"odd": ["data/b.jsonl", "data/a.jsonl"]}),
        ([{"split": "dev", "path": "./data/a.jsonl"}], {"dev": ["data/a.jsonl"]}),
        ([{"split": "x", "path": ["data/a*", "data/b*"]}], {"x": ["data/a.jsonl", "data/b.jsonl"]}),
        ([{"path": "data/a.jsonl"}], {"train": ["data/a.jsonl"]}),
        ("**/*.jsonl", {"train": ["data/a.jsonl", "data/b.jsonl", "top.jsonl"]}),
        ("data", {"train": ["data/a.jsonl", "data/b.jsonl"]}),
        ("data/{b,a}.jsonl", {"train": ["data/b.jsonl", "data/a.jsonl"]}),
        ("data/[!b].jsonl", {"train": ["data/a.jsonl"]}),
        ("hf://datasets/org/name@main/data/?.jsonl", {"train": ["data/a.jsonl", "data/b.jsonl"]}),
    ],
)
def test_data_files_are_told_in_many_ways(data_files: object, splits: dict[str, list[str]]) -> None:
    found = told([{"config_name": "c", "data_files": data_files}], "data/a.jsonl", "data/b.jsonl", "top.jsonl")
    assert {name: paths for _, name, _, paths in found} == splits
    assert {config for config, *_ in found} == {"c"}


def test_configs_come_the_default_first_then_by_name_and_within_a_folder_of_theirs() -> None:
    card = [
        {"config_name": "b", "data_dir": "two"},
        {"config_name": "a", "data_files": "one/*.csv"},
        {"config_name": "z", "data_dir": "./two/", "data_files": "test.csv", "default": True, "sep": ";"},
        {"config_name": "y", "data_dir": "two", "data_files": "two/test.csv"},
    ]
    found = layout({"configs": card}, ["one/x.csv", "two/dev.csv", "two/test.csv"])
    assert found.configs == ("a", "b", "y")
    assert [split.name for split in found.of("b")] == ["validation", "test"]
    assert found.unmatched == ("z/train",)


@pytest.mark.parametrize(
    ("paths", "splits"),
    [
        (
            (
                "data/train-00000-of-00002.parquet",
                "data/train-00001-of-00002.parquet",
                "data/odd-00000-of-00001.parquet",
            ),
            2,
        ),
        (("train/a.jsonl", "validation/a.jsonl", "dev/b.jsonl", "notes/c.jsonl"), 2),
        (("my-train.csv", "my_val.csv", "my.test.csv", "testify.csv"), 3),
        (("contest.jsonl", "latest.jsonl"), 1),
        (("a.JSONL.GZ", "b.jsonl.zst"), 1),
    ],
)
def test_splits_are_told_by_names_where_the_card_tells_none(paths: tuple[str, ...], splits: int) -> None:
    assert len(told(None, *paths)) == splits


def test_what_is_no_table_is_left_out() -> None:
    paths = (
        ".hidden/a.jsonl",
        "__pycache__/b.json",
        "README.md",
        "metadata.json",
        "schema.json",
        "x.parquet.gz",
        "x.py",
    )
    assert told(None, *paths) == [("default", "train", "json", ["schema.json"])]
    assert told(None, *paths, "rows.jsonl") == [("default", "train", "json", ["rows.jsonl"])]


def test_rows_of_one_split_are_of_one_make() -> None:
    assert told(None, "a.csv", "b.csv", "c.jsonl") == [("default", "train", "csv", ["a.csv", "b.csv"])]


def test_the_converted_branch_stands_in_where_there_are_no_tables() -> None:
    branch = ("default/train/0001.parquet", "default/train/0000.parquet", "x/partial-test/0000.parquet", "odd.parquet")
    expected = [
        ("default", "train", "parquet", ["default/train/0000.parquet", "default/train/0001.parquet"]),
        ("x", "test", "parquet", ["x/partial-test/0000.parquet"]),
    ]
    assert told(None, "audio/a.wav", converted=branch) == expected
    assert told([{"config_name": "c", "data_files": "gone/*"}], "audio/a.wav", converted=branch) == expected
    assert told(None, "a.jsonl", converted=branch) == [("default", "train", "json", ["a.jsonl"])]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["**", "*.jsonl", "[", "data"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["config_name", "data_files", "split", "path", "data_dir", "default", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(anything, st.lists(st.text(min_size=1, max_size=20) | st.sampled_from(["a.jsonl", "data/b.csv"]), max_size=8))
def test_no_card_makes_it_fail_and_no_path_is_made_up(card: object, paths: list[str]) -> None:
    found = layout({"configs": card}, paths)
    assert {path for split in found.splits for path in split.paths} <= set(paths)


@given(
    st.lists(st.sampled_from(["**", "*", "a", "?b", "[a-c]*"]), min_size=1, max_size=5),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=6),
)
def test_stars_match_what_they_say(pattern: list[str], path: list[str]) -> None:
    def slow(pattern: list[str], path: list[str]) -> bool:
        if not pattern or not path:
            return not path and all(part == "**" for part in pattern)
        if pattern[0] == "**":
            return slow(pattern[1:], path) or slow(pattern, path[1:])
        fits = {"*": True, "a": path[0] == "a", "?b": False, "[a-c]*": True}[pattern[0]]
        return fits and slow(pattern[1:], path[1:])

    assert matches(pattern, path) == slow(pattern, path)


def test_hostile_globs_end_soon() -> None:
    paths = [f"data/{'a' * 200}{n}.jsonl" for n in range(2000)]
    work = Work()
    assert expand(["*a" * 200 + "b", "**/" * 150 + "x", "x" * 1000, "{a,b}" * 40], paths, work) == []
    assert expand(["*"] * 100_000, paths, Work(0)) == []
    assert len(braces("{a,b}" * 40)) <= 64
    many = [{"config_name": str(n), "data_files": "*/*"} for n in range(MAX_CONFIGS + 5)]
    assert len(layout({"configs": many}, ["a.jsonl"]).configs) == 0


def test_files_of_one_rollout_each_are_rows_of_one_split() -> None:
    files = ("a/one.traj", "b/two.traj.json", "b/three.trajectory.json", "b/four.traj.gz", "trajectories/x/five.json")
    assert told(None, *files, "README.md", "results.json") == [("default", "train", "json", [*files])]
    lists = ("a.trajectory.no_tools.json", "a.traces.json")
    assert told(None, *lists) == [("default", "train", "json", [*lists])]
    assert told(None, "gpt__my-test-repo/a.traj", "demos/b.traj")[0][1] == "train"
    assert told(None, "test/a.traj", "train/b.traj") == [
        ("default", "train", "json", ["train/b.traj"]),
        ("default", "test", "json", ["test/a.traj"]),
    ]


def test_rollouts_beside_rows_are_a_split_of_their_own() -> None:
    files = [f"trajs/{at}.traj" for at in range(3)]
    assert told(None, "data/train.parquet", *files, "data/info.json") == [
        ("default", "train", "parquet", ["data/train.parquet"]),
        ("default", "trajectories", "json", files),
    ]
    assert told(None, "train.json", "more.json", "a.traj")[-1] == ("default", "trajectories", "json", ["a.traj"])


def test_what_harbors_jobs_keep_of_an_agent_is_no_row_by_itself() -> None:
    path = "jobs/one/task__abc/agent/mini.trajectory.json"
    assert told(None, "jobs/one/result.json", path) == [("default", "train", "json", ["jobs/one/result.json", path])]
