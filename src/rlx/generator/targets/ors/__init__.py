"""ORS, the Open Reward Standard: tools behind HTTP, a reward with each call, tasks in splits."""

from pathlib import Path

from rlx.generator.targets.base import Target
from rlx.generator.targets.ors.mutants import MUTANTS

TARGET = Target(
    name="ors",
    title="ORS (openreward)",
    requirement="openreward>=0.1.167,<0.2",
    python=">=3.11",
    folder=Path(__file__).parent,
    package=".",
    mutants=MUTANTS,
    imports="import openreward.environments",
    served=("python", "server.py"),
    ready="/health",
)
