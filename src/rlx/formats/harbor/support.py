"""What can be done here with Harbor tasks, and on what evidence."""

from rlx.formats.harbor.running import Subject, runnable
from rlx.model import Capability, Support, Text
from rlx.texts import say


def task_support(subject: Subject) -> Support:
    found = runnable(subject)
    could = [item for item in found if item.could]
    obstacle = found[0].obstacle
    if could:
        run = Capability("run", "external", say("harbor.support.run_external"))
    else:
        run = Capability("run", "unavailable", obstacle.reason if obstacle else say("harbor.run.not_yet"))
    return _support(say("harbor.support.task"), run, several=bool(subject.settings.steps))


def dataset_support(evidence: Text) -> Support:
    return _support(evidence, Capability("run", "external", say("harbor.support.run_external")), several=False)


def _support(evidence: Text, run: Capability, *, several: bool) -> Support:
    return Support(
        framework="harbor",
        label="Harbor",
        lifecycle=say("harbor.support.steps" if several else "harbor.support.lifecycle"),
        reward=say("harbor.support.reward"),
        transport=None,
        evidence=evidence,
        capabilities=(
            Capability("browse", "available", say("harbor.support.browse")),
            run,
            Capability("play", "unavailable", say("harbor.support.play")),
        ),
    )
