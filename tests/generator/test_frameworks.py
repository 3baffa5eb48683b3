"""Connect four in four frameworks: installed by uv, served, validated, driven alike, and played by a model.

Needs uv and a package index, and minutes: it runs where RLX_REQUIRE_TOOLS is set, as it is in CI.
"""

import json
from pathlib import Path

import pytest

from rlx.generator.check.environments import make_frameworks
from rlx.generator.check.report import write_report
from rlx.generator.check.run import check
from rlx.generator.render import write
from rlx.generator.spec import FRAMEWORKS
from rlx.settings import Settings
from tests.generator.trees import tree

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.frameworks,
    pytest.mark.timeout(1500),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_connect_four_plays_alike_in_four_frameworks(tmp_path: Path) -> None:
    write(tree("board_game"), tmp_path / "c4")
    found = await check(tmp_path / "c4", make_frameworks(Settings().cache_dir / "frameworks"))
    failed = {
        f"{variant.framework}: {stage.name}": stage.detail
        for variant in found.variants
        for stage in variant.stages
        if not stage.ok
    }
    assert failed == {}
    assert [variant.framework for variant in found.variants] == list(FRAMEWORKS)
    assert found.rounds >= 200
    report, page = write_report(found, tmp_path / "report")
    assert json.loads(report.read_text())["ok"] is True
    assert "All variants agree." in page.read_text()
