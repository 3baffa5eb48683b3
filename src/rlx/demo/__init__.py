"""The demo hub: a small local hub that ships in the package, laid out as `rlx hub serve` wants it."""

from pathlib import Path


def demo_hub() -> Path:
    """The folder of the demo hub. Read-only."""
    return Path(__file__).parent
