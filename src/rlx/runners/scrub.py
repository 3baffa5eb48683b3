"""Takes what only this machine may know out of texts that are kept: its paths, and secrets of the rollout."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rlx.telemetry import redact

_SHORTEST: Final = 6
"""Characters of a secret that is looked for; shorter ones would be found in ordinary words."""


class Scrub:
    def __init__(self, *, secrets: Iterable[str | None] = (), paths: Mapping[str, str] | None = None) -> None:
        """`paths` on this machine, with what stands for them."""
        words = {secret: "[secret]" for secret in secrets if secret and len(secret) >= _SHORTEST}
        words |= dict(paths or {})
        self._words = words
        longest_first = sorted(words, key=len, reverse=True)
        self._sought = re.compile("|".join(map(re.escape, longest_first))) if words else None

    def text(self, text: str) -> str:
        clean = text if self._sought is None else self._sought.sub(lambda match: self._words[match[0]], text)
        return redact(clean)

    def value(self, value: Any) -> Any:
        """Every text in a JSON value, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value
