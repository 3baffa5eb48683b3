"""Takes what only this machine may know out of texts that are kept: its paths, and secrets of the rollout."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from rlx.telemetry import redact

_SHORTEST: Final = 6
"""Characters of a secret that is looked for; shorter ones would be found in ordinary words."""


class Scrub:
    def __init__(self, *, secrets: Iterable[str | None] = (), paths: Mapping[str, str] | None = None) -> None:
        """`paths` on this machine, with what stands for them."""
        found = {form for secret in secrets if secret and len(secret) >= _SHORTEST for form in _forms(secret)}
        words = dict.fromkeys(found, "[secret]") | dict(paths or {})
        self._words = words
        self._sought = re.compile("|".join(map(re.escape, _longest_first(words)))) if words else None
        octets = [form.encode() for form in _longest_first(found)]
        self._octets = re.compile(b"|".join(map(re.escape, octets))) if octets else None

    def text(self, text: str) -> str:
        clean = text if self._sought is None else self._sought.sub(lambda match: self._words[match[0]], text)
        return redact(clean)

    def data(self, data: bytes) -> bytes:
        """What is no text, with secrets of it as asterisks, so that all else stands where it stood."""
        return data if self._octets is None else self._octets.sub(lambda match: b"*" * len(match[0]), data)

    def value(self, value: Any) -> Any:
        """Every text in a JSON value, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _forms(secret: str) -> set[str]:
    """A secret as it is, and as it stands in JSON, in an address, and by itself in base64."""
    coded = base64.b64encode(secret.encode()).decode()
    plain = {secret, secret.strip(), json.dumps(secret)[1:-1], quote(secret, safe=""), coded, coded.rstrip("=")}
    return {form for form in plain if len(form) >= _SHORTEST}


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=len, reverse=True)
