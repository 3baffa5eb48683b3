"""What an environment supports and how it is used: detection, kept by revision, and snippets for a reader's choices."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from rlx.hub.repo import Repo
from rlx.publish.detect.base import Detection
from rlx.publish.detect.detect import Detections
from rlx.publish.snippets.base import Choices, Snippet
from rlx.publish.snippets.make import snippets
from rlx.settings import Settings

FOLDER: Final = "http://127.0.0.1:8765"
"""The address of a folder that is served as a hub."""


def reached_at(settings: Settings) -> str:
    """Where readers reach the hub that is served: a folder's is where `rlx hub serve` puts it."""
    return settings.hub if urlsplit(settings.hub).scheme in {"http", "https"} else FOLDER


@dataclass(frozen=True, slots=True)
class Uses:
    """One for the process. `endpoint` is where readers reach the hub that is served."""

    endpoint: str
    detections: Detections = field(default_factory=Detections)

    async def of(self, repo: Repo, choices: Choices) -> tuple[Detection, tuple[Snippet, ...]]:
        """Raises `BadInput` for a framework that the files do not support, and what `detect` raises."""
        found = await self.detections.of(repo)
        tree = await repo.listing()
        return found, snippets(repo.info, tree, found.splits, found, choices, endpoint=self.endpoint)
