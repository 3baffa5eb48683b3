"""Verifiers: a taskset of the v1 API, its tools served over MCP to each rollout, the reward read from shared state."""

from pathlib import Path

from rlx.generator.targets.base import Target
from rlx.generator.targets.verifiers.mutants import MUTANTS

TARGET = Target(
    name="verifiers",
    title="Verifiers",
    requirement="verifiers>=0.4,<0.5",
    python=">=3.11,<3.15",
    folder=Path(__file__).parent,
    package="{package}",
    mutants=MUTANTS,
    imports="import verifiers.v1",
    rollout_imports=2,  # vf-eval, and the server of the tools
    validators=(
        ("vf-validate", "{name}", "--runtime.type", "subprocess", "--no-rich", "--only-setup", "-o", "outputs"),
    ),
)
