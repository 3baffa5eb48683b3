"""Whether a plan can be followed in one sandbox of the image itself."""

from rlx.sandboxes.dockerfile import Plan
from rlx.sandboxes.replay import replayable
from rlx.texts import Say, say


def unfit(plan: Plan) -> tuple[Say, int] | None:
    """What stands in the way, and the line that says it."""
    if len(plan.stages) > 1:
        return say("sandbox.hf.stages"), plan.stages[-1].line
    return replayable(plan)
