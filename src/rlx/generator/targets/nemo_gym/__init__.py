"""NeMo Gym: a resources server with a route for each tool, sessions by cookie, and the reward when all is done."""

from pathlib import Path

from rlx.generator.targets.base import Target
from rlx.generator.targets.nemo_gym.mutants import MUTANTS

TARGET = Target(
    name="nemo_gym",
    title="NeMo Gym",
    # The last release for Python 3.12: 0.7 needs 3.13.14 or newer.
    requirement="nemo-gym>=0.4,<0.5",
    python=">=3.12",
    folder=Path(__file__).parent,
    package="resources_servers/{package}",
    mutants=MUTANTS,
    imports="import nemo_gym.base_resources_server",
    validators=(
        (
            *("gym", "env", "validate", "--model", "none", "--model-url", "http://127.0.0.1:9/v1", "--model-api-key"),
            *("none", "--model-type", "openai_model", "--search-dir", ".", "--resources-server", "{package}"),
        ),
    ),
    served=("python", "server.py"),
    ready="/openapi.json",
    steps=False,
    rollout_imports=0,
)
