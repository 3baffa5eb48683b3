"""What is known of frameworks beside their rows: their servers, scorers and environments, read from their packages.

Each `<name>.toml` here was written by `python -m rlx.formats.frameworks.refresh`, from the release it names.
"""

from rlx.formats.frameworks.tables import (
    NeMoAgent,
    NeMoGym,
    NeMoServer,
    ReasoningGym,
    ReasoningTask,
    Scorer,
    SkyRL,
    SkyRLEnv,
    Source,
    Taskset,
    Verifiers,
    Verl,
    table,
)

__all__ = [
    "NeMoAgent",
    "NeMoGym",
    "NeMoServer",
    "ReasoningGym",
    "ReasoningTask",
    "Scorer",
    "SkyRL",
    "SkyRLEnv",
    "Source",
    "Taskset",
    "Verifiers",
    "Verl",
    "table",
]
