"""`openenv`, whose Docker is a local sandbox and which opens no tunnel: there is neither where tests run."""

import sys
from typing import Any

from harbor.models.trial import config
from openenv.cli.__main__ import main
from openenv.harbor.capabilities import Capabilities


class Here(config.EnvironmentConfig):  # type: ignore[misc]  # harbor's types are not followed
    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "import_path": "tests.publish.standing:Standing"})


if __name__ == "__main__":
    config.EnvironmentConfig = Here
    Capabilities.available_sandboxes = property(lambda self: ["docker"])
    sys.argv += ["--expose", "direct"]
    sys.exit(main())
