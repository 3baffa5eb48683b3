"""What a task's files say of whether it can run here."""

from pathlib import Path

import pytest

from rlx.ids import parse_key
from rlx.model import Viewer
from rlx.runners.qualify import DOCKERFILE, Material, material, qualify
from rlx.sandboxes.dockerfile import Host
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.tools import tools_key
from rlx.services import create_services
from rlx.settings import Settings
from rlx.texts import words

pytestmark = pytest.mark.anyio

HOST = Host("Debian GNU/Linux 12", tools={"python3": "3.11.2"})
FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"


def of(dockerfile: str) -> Material:
    return Material({DOCKERFILE: dockerfile}, frozenset((DOCKERFILE,)), {}, True)


async def test_the_dockerfile_of_a_task_that_lies_in_a_row_is_looked_at(tmp_path: Path) -> None:
    settings = Settings(hub=str(FIXTURES), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    viewer = Viewer("local")
    async with create_services(settings) as services:
        environment = await services.library.open(parse_key("acme/packed-parquet"), viewer, wait=None)
        found = await material(environment, "train/0")

    assert found is not None
    assert found.texts[DOCKERFILE].startswith("FROM debian:12-slim")
    assert found.has_solution


def test_what_an_image_starts_is_told_with_its_command() -> None:
    told = qualify(of('FROM debian:12\nENTRYPOINT ["/serve", "now"]\n'), HOST).warnings

    assert any("/serve now" in words(text) for text in told)
    assert qualify(of("FROM debian:12\n"), HOST).warnings == ()


def test_prepared_tools_are_among_a_machines_programs(tmp_path: Path) -> None:
    local = Local(Settings(cache_dir=tmp_path))
    copying = of("FROM debian:12\nCOPY --from=ghcr.io/astral-sh/uv:0.9 /uv /bin/uv\n")
    with local.layers.making(tools_key()):
        pass

    host = local.host()

    assert host.tools["uv"] == host.tools["uvx"] == "0.9.7"
    assert qualify(copying, host).reason is None
    assert qualify(copying, HOST).reason is not None
