"""The kind `local` for tests that need it."""

import os

import pytest

from rlx.sandboxes.base import Impossible
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from rlx.texts import words


def local_kind(settings: Settings) -> Local:
    """Skips the test where it cannot run; under RLX_REQUIRE_TOOLS=1, as in CI, it fails instead."""
    kind = Local(settings)
    able = kind.can_run()
    if isinstance(able, Impossible):
        if os.environ.get("RLX_REQUIRE_TOOLS") == "1":
            pytest.fail(words(able.why), pytrace=False)
        pytest.skip(words(able.why))
    return kind
