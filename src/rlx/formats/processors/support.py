"""What can be done here with rows of a framework, and the section that tells how to run them there."""

from rlx.answers import Shown
from rlx.model import Block, Capability, Code, Note, Section, Support, Text
from rlx.texts import say


def support(
    framework: str, label: str, *, lifecycle: Text, reward: Text, evidence: Text, run: Text | None = None
) -> Support:
    """`run` tells where it runs instead; None: nowhere that is known."""
    runs = Capability("run", "unknown", say("rows.support.unknown"))
    if run is not None:
        runs = Capability("run", "external", run)
    return Support(
        framework=framework,
        label=label,
        lifecycle=lifecycle,
        reward=reward,
        transport=None,
        evidence=evidence,
        capabilities=(
            Capability("browse", "available", say("rows.support.browse")),
            runs,
            Capability("play", "unavailable", say("rows.support.play")),
        ),
    )


def run_there(label: str, commands: Shown, *notes: Text) -> Section:
    """How to run it with its own framework: commands to copy, and what they need first."""
    blocks: tuple[Block, ...] = (*(Note(note) for note in notes), Code(commands, language="bash"))
    return Section("run-there", say("rows.section.run_there", framework=label), blocks)
