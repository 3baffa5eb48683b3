"""What is kept of hostile data: JSON of a bounded size, whatever comes in."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_DEPTH: Final = 12
_NODES: Final = 4_000
_KEY: Final = 200


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one rollout."""

    events: int = 20_000
    event_bytes: int = 64 * 1024
    log_bytes: int = 32 * 1024 * 1024
    reserve: int = 1_000
    """Events past the bounds for what may not be missing: states, stages, results."""
    record_bytes: int = 256 * 1024
    trajectory_bytes: int = 64 * 1024 * 1024
    file_bytes: int = 16 * 1024 * 1024
    files_bytes: int = 64 * 1024 * 1024
    files: int = 200


def bounded(data: Mapping[str, Any], size: int) -> tuple[dict[str, Any], int]:
    """`data` as JSON of about `size` bytes at most, and how many characters of its texts were left off.

    Each text is cut to the same length; what is no JSON becomes its text, and what is no finite number None.
    """
    plain = _plain(data, _Budget(_NODES))
    if not isinstance(plain, dict):
        return {}, 0
    longest = size
    kept: dict[str, Any] = plain
    while longest > 16:
        cut = _Cut(longest)
        kept = {key: cut.of(value) for key, value in plain.items()}
        if len(dumped(kept)) <= size:
            return kept, cut.characters
        longest //= 2
    return {"cut": "too much to keep"}, len(dumped(plain))


def dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


class _Budget:
    def __init__(self, nodes: int) -> None:
        self.left = nodes


class _Cut:
    """Cuts texts to a length, and counts what it left off."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.characters = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > self._longest:
            self.characters += len(value) - self._longest
            return f"{value[: self._longest]}…"
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        return value


def _plain(value: object, budget: _Budget, depth: int = 0) -> Any:
    budget.left -= 1
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value.bit_length()) + " bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= _DEPTH or budget.left <= 0:
        return "…"
    if isinstance(value, Mapping):
        return {
            str(key)[:_KEY].encode("utf-8", "replace").decode(): _plain(item, budget, depth + 1)
            for key, item in _while_left(value.items(), budget)
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_plain(item, budget, depth + 1) for item in _while_left(value, budget)]
    return type(value).__name__


def _while_left[T](items: Iterable[T], budget: _Budget) -> Iterator[T]:
    for item in items:
        if budget.left <= 0:
            return
        yield item
