"""Commands of snippets, run to the letter against what they name, from folders pulled from a local hub.

The releases are in environments of uv: this runs where the suites of frameworks do.
"""

import io
import json
import os
import shlex
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio.to_thread
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi

from rlx.agents import scripted
from rlx.demo import demo_hub
from rlx.generator.check.environments import make_frameworks
from rlx.generator.check.servers import serving as served
from rlx.generator.registry import targets
from rlx.generator.render import write
from rlx.ids import EnvKey, parse_key
from rlx.localhub import LocalHubServer
from rlx.model import ANONYMOUS
from rlx.publish.snippets.base import Choices, Snippet
from rlx.publish.uses import Uses
from rlx.services import create_services
from rlx.settings import DEFAULT_HUB, Settings
from tests.endpoints import endpoint
from tests.generator.trees import tree
from tests.publish.hubs import serving
from tests.publish.test_detect import REQUEST, VERL, card, lines, opened, tasks

pytestmark = [pytest.mark.anyio, pytest.mark.frameworks, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
STEPS, ROWS, GAME = (parse_key(f"alice/{name}") for name in ("first-steps", "rows", "game"))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pythons() -> dict[str, Path]:
    """The Python of each framework; this one has Harbor, OpenEnv and the Hub's client."""
    frameworks = make_frameworks(Settings().cache_dir / "frameworks")
    return {
        "": Path(sys.executable),
        **{n: await frameworks.python(targets()[n]) for n in ("verifiers", "nemo_gym", "ors")},
    }


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalHubServer]:
    """A hub with tasks in folders, rows of two frameworks, and what `rlx new` writes for Verifiers."""
    root = tmp_path_factory.mktemp("hub")
    write(tree("board_game"), root / "game")
    (root / "game" / "README.md").write_text("---\ntags: [rl-environment, verifiers]\n---\n# A game\n")
    rows = root / "rows"
    rows.mkdir()
    (rows / "nemo.jsonl").write_text(lines(REQUEST, REQUEST))
    (rows / "train.jsonl").write_text(lines(VERL, VERL))
    (rows / "README.md").write_text(
        "---\nconfigs:\n- config_name: nemo\n  data_files: nemo.jsonl\n"
        "- config_name: verl\n  data_files: train.jsonl\n---\n"
    )
    with serving(root) as running:
        api = HfApi(endpoint=running.url, token="hf_alice")
        folders = {STEPS: demo_hub() / "datasets/rl-explorer/first-steps", ROWS: rows, GAME: root / "game"}
        for key, folder in folders.items():
            api.create_repo(key.repo_id, repo_type="dataset")
            api.upload_folder(repo_id=key.repo_id, folder_path=folder, repo_type="dataset")
        yield running


@pytest.fixture
def shell(pythons: dict[str, Path], tmp_path: Path) -> dict[str, str]:
    """An environment in which `uvx` runs what is installed."""
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text(
        f"#!{sys.executable}\nimport runpy\n"
        f"runpy.run_path({str(ROOT / 'tests/publish/uvx.py')!r}, run_name='__main__')\n"
    )
    uv = [str(Path(os.environ["UV"]).parent)] if "UV" in os.environ else []  # as `uv run` tells it
    uvx.chmod(uvx.stat().st_mode | stat.S_IXUSR)
    return {
        **{name: value for name, value in os.environ.items() if name not in {"HF_TOKEN", "PYTHONPATH"}},
        "PATH": os.pathsep.join([str(uvx.parent), *uv, str(Path(sys.base_prefix, "bin")), os.environ["PATH"]]),
        "RLX_PYTHONS": os.pathsep.join(str(python) for python in pythons.values()),
        "RLX_CACHE": str(Settings().cache_dir),
        "PYTHONPATH": str(ROOT),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HARBOR_TELEMETRY": "off",
        "NO_COLOR": "1",
        "COLUMNS": "200",
        "LLM_API_KEY": "none",
    }


async def printed(
    server: LocalHubServer, key: EnvKey, store: Path, choices: Choices, endpoint: str = ""
) -> list[Snippet]:
    settings = Settings(hub=server.url, store=store / "store", cache_dir=store / "cache")
    async with create_services(settings) as services:
        repo = await services.library.repo(key, ANONYMOUS)
        _, made = await Uses(endpoint or server.url).of(repo, choices)
    return list(made)


def run(text: str, shell: dict[str, str], folder: Path, *, python: Path | None = None, ok: bool = True) -> str:
    """What a step prints. It is run by bash, or by the Python that has what it imports."""
    command = ["bash", "-euc", text] if python is None else [str(python), "-c", text]
    done = subprocess.run(command, cwd=folder, env=shell, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 or not ok, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def steps(snippet: Snippet) -> dict[str, str]:
    return {step.id: step.text for step in snippet.steps}


async def test_harbor_checks_a_task_with_its_own_solution_and_the_result_is_read(
    server: LocalHubServer, shell: dict[str, str], tmp_path: Path
) -> None:
    sandbox = "tests.publish.standing:Standing"
    choices = Choices("harbor", task="tasks/tidy-config", sandbox=sandbox)
    (snippet,) = await printed(server, STEPS, tmp_path, choices)
    told = steps(snippet)
    run(told["get"], shell, tmp_path)
    assert sorted(path.name for path in (tmp_path / "first-steps" / "tasks").iterdir()) == ["tidy-config"]
    run(told["oracle"], shell, tmp_path)
    read = run(told["read"], shell, tmp_path, python=Path(sys.executable))
    assert "None {'reward': 1.0}" in read
    assert "--port" in run(f"{told['view']} --help", shell, tmp_path)


async def test_openenv_rolls_a_task_out_with_a_model_and_the_result_is_read(
    server: LocalHubServer, shell: dict[str, str], tmp_path: Path
) -> None:
    choices = Choices("openenv", task="tasks/tidy-config", model="solve", agent="terminus-2")
    (snippet,) = await printed(server, STEPS, tmp_path, choices)
    told = steps(snippet)
    run(told["get"], shell, tmp_path)
    with endpoint(lambda body: (200, json.dumps(scripted.answer({**body, "model": "solve"})).encode())) as (url, _):
        run(told["run"], {**shell, "LLM_URL": url}, tmp_path)
    assert "None 1.0" in run(told["read"], shell, tmp_path, python=Path(sys.executable))


async def test_verifiers_plays_the_package_of_a_repository_with_a_model(
    server: LocalHubServer, shell: dict[str, str], pythons: dict[str, Path], tmp_path: Path
) -> None:
    (snippet,) = await printed(server, GAME, tmp_path, Choices("verifiers", model="solve"))
    told = steps(snippet)
    run(told["get"], shell, tmp_path)
    run(told["install"], shell, tmp_path)
    with endpoint(lambda body: (200, json.dumps(scripted.answer({**body, "model": "solve"})).encode())) as (url, heard):
        run(told["run"], {**shell, "LLM_URL": url}, tmp_path)
    assert heard


@pytest.mark.parametrize("form", ["tar", "zip", "parquet"])
async def test_packed_tasks_are_unpacked_where_harbor_finds_them(
    form: str, shell: dict[str, str], tmp_path: Path
) -> None:
    async with opened(tmp_path / "site", {"README.md": card("harbor"), **packed(form)}) as services:
        repo = await services.library.repo(parse_key("toy/env"), ANONYMOUS)
        _, made = await Uses(DEFAULT_HUB).of(repo, Choices("harbor"))
    (tmp_path / "env").symlink_to(tmp_path / "site" / "hub" / "datasets" / "toy" / "env")
    where = run(steps(made[0])["unpack"], shell, tmp_path, python=Path(sys.executable)).strip()
    assert (tmp_path / where / "a" / "environment" / "Dockerfile").read_text() == "FROM debian:12"


def packed(form: str) -> dict[str, str | bytes]:
    """A task in an archive, as sets of them are published."""
    told = io.BytesIO()
    files = tasks("tasks/a") if form == "tar" else tasks("a") if form == "zip" else tasks("")
    if form == "zip":
        with zipfile.ZipFile(told, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        return {"a.zip": told.getvalue()}
    with tarfile.open(fileobj=told, mode="w:gz" if form == "parquet" else "w") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    if form == "tar":
        return {"tasks.tar": told.getvalue()}
    table = io.BytesIO()
    pq.write_table(pa.table({"path": ["a"], "task_binary": [told.getvalue()]}), table)
    return {"data/tasks.parquet": table.getvalue()}


REGISTRY = [{"name": "toy", "version": "1.0", "description": "", "tasks": [{"name": "a", "path": "tasks/a"}]}]


async def test_a_registry_s_tasks_are_asked_for_with_flags_that_there_are(
    shell: dict[str, str], tmp_path: Path
) -> None:
    files = {"README.md": card("harbor", "verifiers"), "registry.json": json.dumps(REGISTRY), **tasks("tasks/a")}
    async with opened(tmp_path, files) as services:
        repo = await services.library.repo(parse_key("toy/env"), ANONYMOUS)
        _, made = await Uses(DEFAULT_HUB).of(repo, Choices(task="tasks/a", model="m"))
    harbor, verifiers = (one for one in made if one.way is not None and one.way.version)
    told = run(f"{steps(harbor)['oracle']} --print-config", shell, tmp_path)
    config = json.loads(told[told.index("{") : told.rindex("}") + 1])
    (dataset,) = config["datasets"]
    assert (dataset["name"], dataset["version"], dataset["task_names"]) == ("toy", "1.0", ["a"])
    assert dataset["repo"] == f"{DEFAULT_HUB}/datasets/toy/env"
    run(f"{steps(verifiers)['run']} --dry-run", {**shell, "LLM_URL": "http://127.0.0.1:9/v1"}, tmp_path)
    (written,) = (tmp_path / "outputs").glob("*/configs/resolved/eval.json")
    assert "toy@1.0" in written.read_text()


async def test_nemo_gym_downloads_its_rows_and_knows_the_flags_of_its_run(
    server: LocalHubServer, shell: dict[str, str], pythons: dict[str, Path], tmp_path: Path
) -> None:
    (snippet,) = await printed(server, ROWS, tmp_path, Choices("nemo-gym", model="m"))
    told = steps(snippet)
    run(told["get"], shell, tmp_path)
    assert json.loads((tmp_path / "rows" / "nemo.jsonl").read_text().splitlines()[0]) == REQUEST
    words = shlex.split(told["run"])
    parse = f"from nemo_gym.cli.main import build_parser; print(build_parser().parse_args({words[6:]!r}))"
    assert "rows/nemo.jsonl" in run(parse, shell, tmp_path, python=pythons["nemo_gym"])
    (tmp_path / "rollouts.jsonl").write_text('{"reward": 0.5}\n')
    assert "0.5" in run(told["read"], shell, tmp_path, python=Path(sys.executable))


async def test_rows_are_read_at_their_revision(
    server: LocalHubServer, shell: dict[str, str], pythons: dict[str, Path], tmp_path: Path
) -> None:
    made = await printed(server, ROWS, tmp_path, Choices("rows", config="verl"))
    there = {**shell, "HF_ENDPOINT": server.url, "HF_HUB_DISABLE_XET": "1"}
    assert "data_source" in run(steps(made[0])["datasets"], there, tmp_path, python=pythons["nemo_gym"])
    (verl,) = await printed(server, ROWS, tmp_path, Choices("verl"))
    run(steps(verl)["get"], shell, tmp_path)
    assert (tmp_path / "rows" / "train.jsonl").is_file()


@pytest.mark.parametrize("framework", ["openenv", "ors"])
async def test_the_client_of_a_server_speaks_with_one(
    framework: str, shell: dict[str, str], pythons: dict[str, Path], tmp_path: Path
) -> None:
    target = targets()[framework]
    frameworks = make_frameworks(Settings().cache_dir / "frameworks")
    python = await frameworks.python(target)
    write(tree("board_game"), tmp_path / "game")
    (variant,) = (tmp_path / "game").glob(f"{framework}*")
    space = {"README.md": "---\nsdk: docker\n---\n", "openenv.yaml": "name: toy\n", "server.py": "import openreward\n"}
    async with opened(tmp_path, space, "spaces") as services:
        repo = await services.library.repo(parse_key("space:toy/env"), ANONYMOUS)
        _, (snippet,) = await Uses(DEFAULT_HUB).of(repo, Choices(framework))
    async with served(target, python, variant, frameworks.variables) as url:
        for step in snippet.steps:
            if step.language == "python":
                text = step.text.replace("https://toy-env.hf.space", url)
                assert url in text
                said = await anyio.to_thread.run_sync(partial(run, text, shell, tmp_path, python=python))
                assert said.strip()
