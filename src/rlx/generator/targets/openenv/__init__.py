"""OpenEnv: an MCP environment behind HTTP and WebSockets, one episode a session, a reward with each step."""

from pathlib import Path

from rlx.generator.targets.base import Target
from rlx.generator.targets.openenv.mutants import MUTANTS

TARGET = Target(
    name="openenv",
    title="OpenEnv",
    requirement="openenv>=0.10,<0.11",
    python=">=3.10",
    folder=Path(__file__).parent,
    package="server",
    mutants=MUTANTS,
    imports="import openenv.core.env_server.mcp_environment",
    validators=(("openenv", "validate", ".", "--level", "static"),),
    served=("python", "-m", "server.app"),
    ready="/health",
    validators_online=(
        ("openenv", "validate", "--url", "{url}", "--timeout", "30"),
        ("python", str(Path(__file__).parent / "contract.py"), "{url}", "{low}", "{high}"),
    ),
)
