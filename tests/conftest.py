"""What every test may use."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

FIXTURE_HUB = Path(__file__).parent / "fixtures" / "hub"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def fixture_hub() -> Path:
    """The small on-disk hub written for the tests. Read-only."""
    return FIXTURE_HUB


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """Gives the path of a program, or skips the test; under RLX_REQUIRE_TOOLS=1, as in CI, it fails instead."""

    def require(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            if os.environ.get("RLX_REQUIRE_TOOLS") == "1":
                pytest.fail(f"{name} is not installed, and RLX_REQUIRE_TOOLS=1 asks for it.", pytrace=False)
            pytest.skip(f"{name} is not installed")
        return path

    return require
