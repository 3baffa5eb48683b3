"""What agents did: recorded rollouts, whatever wrote them down."""

from rlx.formats.processors.traces.processor import Traces

__all__ = ["Traces"]
