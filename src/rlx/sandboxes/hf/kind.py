"""The kind `hf`: whether a Hub has sandboxes, and new ones on the account of a token."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import httpx2

from rlx.errors import BadInput
from rlx.sandboxes.base import Impossible, Possible, SandboxSpec
from rlx.settings import DEFAULT_HUB, Settings
from rlx.texts import say

if TYPE_CHECKING:
    from rlx.sandboxes.hf.sandbox import HubSandbox

IMAGE: Final = "python:3.12-slim"
FLAVOR: Final = "cpu-basic"
_ASKED: Final = 5.0
"""Seconds that a Hub of one's own may take to say whether it has jobs."""


@dataclass(frozen=True, slots=True)
class Account:
    """On whose account sandboxes are made, and how they are found again."""

    token: str = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    is_alive: Callable[[str], bool] = lambda worker: True
    """Whether a worker of this host still runs, by its label. Blocks."""


class HF:
    """`account` None: nothing is made, as nobody would pay for it."""

    name = "hf"

    def __init__(self, settings: Settings, account: Account | None = None) -> None:
        self.hub = settings.hub.rstrip("/")
        self.account = account

    def can_run(self) -> Possible | Impossible:
        if "://" not in self.hub:
            return Impossible(say("sandbox.hf.folder"), say("sandbox.hf.folder_hint"))
        if self.hub != DEFAULT_HUB and not self._has_jobs():
            return Impossible(say("sandbox.hf.no_jobs", hub=self.hub), say("sandbox.hf.folder_hint"))
        return Possible((say("sandbox.hf.note"),))

    def _has_jobs(self) -> bool:
        try:
            answer = httpx2.get(f"{self.hub}/api/jobs/hardware", timeout=_ASKED)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return False
        return answer.status_code in (200, 401, 403)

    def make(self, spec: SandboxSpec, image: str = IMAGE) -> "HubSandbox":
        from rlx.sandboxes.hf.sandbox import HubSandbox  # with the Hub's client, which is not light

        if self.account is None:
            raise BadInput("A Hugging Face sandbox needs a token to pay with.", hint="Sign in, or set HF_TOKEN.")
        for wanted, what in (
            (spec.layers or spec.tools, "layers of this machine"),
            (spec.network == "none", "its network closed"),
            (spec.forward is not None, "one address let through"),
            (spec.cpus is not None or spec.memory_mb is not None, "limits other than those of its hardware"),
            (spec.disk_mb is not None or spec.pids is not None, "limits of disk and processes"),
        ):
            if wanted:
                raise BadInput(f"A Hugging Face sandbox cannot have {what}.")
        if not spec.workdir.startswith("/") or "\0" in spec.workdir:
            raise BadInput(f"The working folder {spec.workdir!r} is not absolute.")
        return HubSandbox(self.hub, self.account, spec, image, FLAVOR)


def point_client_at(hub: str) -> None:
    """Let the Hub's client speak with `hub`. It reads its Hub's address from the environment, when it is imported."""
    if "://" in hub:
        os.environ["HF_ENDPOINT"] = hub.rstrip("/")
