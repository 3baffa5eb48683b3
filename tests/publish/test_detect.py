"""What repositories support, judged by their files; and what their tags claim."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rlx.ids import parse_key
from rlx.model import ANONYMOUS
from rlx.publish.detect.base import Detection
from rlx.publish.detect.detect import Detections, detect
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.texts import words

pytestmark = pytest.mark.anyio

type Detect = Callable[..., "AsyncIterator[Detection]"]
TASK = {"task.toml": "version = '1.0'", "instruction.md": "Do it.", "environment/Dockerfile": "FROM debian:12"}
REQUEST = {"responses_create_params": {"input": [{"role": "user", "content": "Which?"}]}, "expected": "that"}
VERL = {
    "data_source": "toy",
    "prompt": [{"role": "user", "content": "Which?"}],
    "ability": "math",
    "reward_model": {"style": "rule", "ground_truth": "1"},
    "extra_info": {"index": 0},
}
SKYRL = {"prompt": [{"role": "user", "content": "Which?"}], "env_class": "gsm8k", "reward_spec": {"ground_truth": "1"}}


def card(*tags: str) -> str:
    return "---\ntags: [" + ", ".join(tags) + "]\n---\n# Toy\n"


def tasks(*roots: str) -> dict[str, str]:
    return {f"{root}/{path}" if root else path: text for root in roots for path, text in TASK.items()}


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@asynccontextmanager
async def opened(folder: Path, files: Mapping[str, str | bytes], kind: str = "datasets") -> AsyncIterator[Services]:
    for path, text in files.items():
        target = folder / "hub" / kind / "toy" / "env" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    settings = Settings(hub=str(folder / "hub"), store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings) as services:
        yield services


async def detected(folder: Path, files: Mapping[str, str | bytes], kind: str = "datasets") -> Detection:
    async with opened(folder, files, kind) as services:
        key = parse_key("toy/env" if kind == "datasets" else "space:toy/env")
        return await detect(await services.library.repo(key, ANONYMOUS))


def told(detection: Detection) -> dict[str, str]:
    return {support.framework: support.state for support in detection.supports}


def ways(detection: Detection) -> list[tuple[str, str]]:
    return [(way.kind, way.path) for support in detection.supports for way in support.ways]


async def test_folders_of_tasks_are_harbor_s_and_those_in_tasks_openenv_s_too(tmp_path: Path) -> None:
    files = {"README.md": card("rl-environment", "harbor"), **tasks("tasks/a", "tasks/b", "more/deep/c")}
    found = await detected(tmp_path, files)
    assert found.member
    assert told(found) == {"harbor": "supported", "openenv": "untagged"}
    assert ways(found) == [("harbor-repo", "tasks"), ("harbor-repo", "more/deep"), ("openenv-tasks", "tasks")]


async def test_a_repository_that_is_one_task_is_no_folder_of_tasks(tmp_path: Path) -> None:
    found = await detected(tmp_path, {"README.md": card("harbor"), **tasks("")})
    assert ways(found) == [("harbor-path", "")]
    assert not found.member


async def test_a_registry_counts_where_it_names_what_is_there(tmp_path: Path) -> None:
    listed = [{"name": "a", "path": "tasks/a"}]
    registry = [
        {"name": "toy", "version": "1.0", "description": "", "tasks": listed},
        {"name": "gone", "version": "1.0", "description": "", "tasks": [{"name": "z", "path": "tasks/z"}]},
    ]
    files = {"README.md": card("harbor", "verifiers"), "registry.json": json.dumps(registry), **tasks("tasks/a")}
    found = await detected(tmp_path, files)
    assert told(found) == {"harbor": "supported", "openenv": "untagged", "verifiers": "supported"}
    named = [way for support in found.supports for way in support.ways if way.name]
    assert [(way.kind, way.name, way.version) for way in named] == [
        ("harbor-registry", "toy", "1.0"),
        ("verifiers-harbor", "toy", "1.0"),
    ]


async def test_a_tag_without_files_is_only_a_claim_and_says_why(tmp_path: Path) -> None:
    files = {"README.md": card("verifiers", "openenv", "verl", "rl-environment"), **tasks("other/a")}
    found = await detected(tmp_path, files)
    states = told(found)
    assert states == {"harbor": "untagged", "openenv": "claimed", "verifiers": "claimed", "verl": "claimed"}
    evidence = {support.framework: words(support.evidence[0].told) for support in found.supports}
    assert "no task lies in it" in evidence["openenv"]
    assert "registry.json" in evidence["verifiers"]
    assert evidence["verl"] == "No file that the framework loads"
    libraries = {support.framework: support.library for support in found.supports}
    assert libraries == {"harbor": True, "openenv": True, "verifiers": True, "verl": False}


@pytest.mark.parametrize(
    ("row", "way"),
    [(REQUEST, "nemo-gym-rows"), (VERL, "verl-rows"), (SKYRL, "skyrl-rows")],
    ids=["nemo", "verl", "skyrl"],
)
async def test_rows_are_told_by_their_columns_whatever_the_tags_say(
    tmp_path: Path, row: Mapping[str, object], way: str
) -> None:
    found = await detected(tmp_path, {"README.md": card("harbor"), "data/train.jsonl": lines(row, row)})
    framework = way.removesuffix("-rows")
    assert told(found) == {"harbor": "claimed", framework: "untagged"}
    assert ways(found) == [(way, "data/train.jsonl")]


async def test_a_tag_makes_no_rows_of_a_framework_out_of_others(tmp_path: Path) -> None:
    plain = lines({"question": "1+1?", "answer": "2"}, {"question": "1+2?", "answer": "3"})
    found = await detected(tmp_path, {"README.md": card("verl", "skyrl", "nemo-gym"), "train.jsonl": plain})
    assert told(found) == {"nemo-gym": "claimed", "verl": "claimed", "skyrl": "claimed"}


async def test_attempts_are_no_tasks(tmp_path: Path) -> None:
    attempt = {**REQUEST, "response": {"output": []}, "reward": 1.0}
    found = await detected(tmp_path, {"README.md": card("nemo-gym"), "data/rollouts.jsonl": lines(attempt, attempt)})
    assert told(found) == {"nemo-gym": "claimed"}
    assert words(found.supports[0].evidence[0].told).startswith("Only attempts")


async def test_programs_are_told_by_manifest_package_settings_and_server(tmp_path: Path) -> None:
    package = "[project]\nname = 'toy-env'\ndependencies = ['verifiers>=0.4']"
    dataset = {
        "README.md": card("rl-environment"),
        "environments/toy/pyproject.toml": package,
        "environments/toy/toy_env.py": "def load_environment(**kwargs):\n    ...\n",
        "environments/bare/pyproject.toml": package.replace("toy-env", "bare-env"),
        "configs/toy.yaml": "toy:\n  resources_servers:\n    toy: {}\n",
        "resources_servers/toy/configs/toy.yaml": "resources_servers:\n  toy: {}\n",
    }
    found = await detected(tmp_path / "dataset", dataset)
    assert told(found) == {"verifiers": "untagged", "nemo-gym": "untagged"}
    assert ways(found) == [
        ("verifiers-package", "environments/toy"),
        ("nemo-gym-config", "resources_servers/toy/configs/toy.yaml"),
    ]
    space = {"README.md": "---\nsdk: docker\ntags: [openenv]\n---\n", "openenv.yaml": "spec_version: 1\nname: toy\n"}
    found = await detected(tmp_path / "space", {**space, "server.py": "from openreward import Server\n"}, "spaces")
    assert told(found) == {"openenv": "supported", "ors": "untagged"}
    assert [way.name for support in found.supports for way in support.ways] == ["toy", ""]


async def test_hostile_files_support_nothing_and_break_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": card("rl-environment"),
        "registry.json": b"\xff" * 50 + b"[" * 50_000,
        "pyproject.toml": b"[project]\nname = 'x'\ndependencies = " + b"[" * 5000,
        "configs/a.yaml": b"a: &a [*a, *a]\n" * 100,
        "data/train.jsonl": b"\x00{not json\n" * 100,
        "tasks/a/task.toml": b"\xff\xfe",
    }
    found = await detected(tmp_path, files)
    assert told(found) == {}


async def test_what_was_detected_is_kept_by_revision(tmp_path: Path) -> None:
    kept = Detections()
    async with opened(tmp_path, {"README.md": card("harbor"), **tasks("tasks/a")}) as services:
        repo = await services.library.repo(parse_key("toy/env"), ANONYMOUS)
        assert await kept.of(repo) is await kept.of(repo)
