"""What can be done here with tasks that are folders of other makes, and on what evidence."""

from rlx.formats.folders.facts import Facts
from rlx.model import Capability, Support, Text
from rlx.texts import say


def task_support(facts: Facts) -> Support:
    return _support(say("folders.support.task"), is_terminal=facts.is_terminal)


def dataset_support(evidence: Text, *, is_terminal: bool) -> Support:
    """`is_terminal`: all of its tasks are Terminal-Bench's."""
    return _support(evidence, is_terminal=is_terminal)


def _support(evidence: Text, *, is_terminal: bool) -> Support:
    make = "terminal" if is_terminal else "other"
    runs = Capability("run", "external" if is_terminal else "unknown", say(f"folders.support.run_{make}"))
    return Support(
        framework="files",
        label="Terminal-Bench 1" if is_terminal else "Task folders",
        lifecycle=say(f"folders.support.lifecycle_{make}"),
        reward=say(f"folders.support.reward_{make}"),
        transport=None,
        evidence=evidence,
        capabilities=(
            Capability("browse", "available", say("folders.support.browse")),
            runs,
            Capability("play", "unavailable", say("folders.support.play")),
        ),
    )
