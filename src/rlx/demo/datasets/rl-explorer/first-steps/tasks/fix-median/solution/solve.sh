#!/bin/bash
set -euo pipefail
cat > /app/stats.py <<'PY'
"""Three small statistics."""

from collections import Counter


def _some(values, name):
    values = list(values)
    if not values:
        raise ValueError(f"{name} of no values")
    return values


def mean(values):
    """The arithmetic mean."""
    values = _some(values, "mean")
    return sum(values) / len(values)


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(_some(values, "median"))
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def mode(values):
    """The value that occurs most often; of several, the one that came first."""
    return Counter(_some(values, "mode")).most_common(1)[0][0]
PY
