"""What every test may use."""

import atexit
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from rlx.store.passing import passing, sweep

# How long one example takes says nothing on a machine that many share.
settings.register_profile("rlx", deadline=None)
settings.load_profile("rlx")

# The Hub's client reads these once, when it is first imported: no token, cache or telemetry of this machine. The list
# of agent harnesses, which it would ask the Hub for, is there already.
sweep()
_FOLDERS = ExitStack()
atexit.register(_FOLDERS.close)
_HF_HOME = _FOLDERS.enter_context(passing("hf-"))
(_HF_HOME / ".agent_harnesses.json").write_text('{"standardEnvVars": [], "harnesses": {}}')
os.environ.pop("HF_TOKEN", None)
os.environ.pop("HF_ENDPOINT", None)
os.environ["HF_HOME"] = str(_HF_HOME)
for _switch in ("TELEMETRY", "UPDATE_CHECK", "PROGRESS_BARS", "IMPLICIT_TOKEN", "XET"):
    os.environ[f"HF_HUB_DISABLE_{_switch}"] = "1"

collect_ignore = ["fixtures"]
"""The fixture hub's tasks have graders that look like tests."""

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
