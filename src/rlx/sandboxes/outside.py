"""What a kind is whose sandboxes Harbor makes itself, for a task alone."""

from dataclasses import dataclass

from rlx.errors import BadInput
from rlx.sandboxes.base import Impossible, Possible, Sandbox, SandboxSpec


@dataclass(frozen=True, slots=True)
class Outside:
    """Found out when it was asked for."""

    name: str
    found: Possible | Impossible

    def can_run(self) -> Possible | Impossible:
        return self.found

    def make(self, spec: SandboxSpec) -> Sandbox:
        raise BadInput(
            f"Sandboxes of {self.name} are made by Harbor, for a task alone.",
            hint=f"Try one with: rlx run start ENV REF --agent oracle --sandbox {self.name}",
        )
