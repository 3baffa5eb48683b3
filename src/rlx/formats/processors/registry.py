"""The processors, in one tuple: ours, then what others register under the entry-point group `rlx.processors`."""

from collections.abc import Sequence
from functools import cache

from rlx.formats.processors.base import Match, Processor, Table
from rlx.formats.registry import Entry, load

PROCESSOR_GROUP = "rlx.processors"

PROCESSORS: tuple[Entry, ...] = (
    Entry("nemo-gym-rollouts", "rlx.formats.processors.nemo_gym:NeMoGymRollouts"),
    Entry("nemo-gym", "rlx.formats.processors.nemo_gym:NeMoGym"),
    Entry("skyrl", "rlx.formats.processors.skyrl:SkyRL"),
    Entry("verl", "rlx.formats.processors.verl:Verl"),
    Entry("harbor-packed", "rlx.formats.processors.harbor_packed:HarborPacked"),
    Entry("swe-bench", "rlx.formats.processors.swe_bench:SweBench"),
    Entry("verifiers-evals", "rlx.formats.processors.verifiers_evals:VerifiersEvals"),
    Entry("verifiers", "rlx.formats.processors.verifiers:Verifiers"),
    Entry("traces", "rlx.formats.processors.traces:Traces"),
    Entry("prompts", "rlx.formats.processors.prompts:Prompts"),
)


@cache
def processors() -> tuple[Processor, ...]:
    """Every processor, built once. Raises `BadInput` when two share a name."""
    return load(PROCESSORS, PROCESSOR_GROUP)  # type: ignore[return-value]  # as in `rlx.formats.registry`


def choose(table: Table, known: Sequence[Processor]) -> tuple[Processor, Match] | None:
    """The surest processor of `table`; registry order breaks ties."""
    found = [(processor, match) for processor in known if (match := processor.match(table)) is not None]
    return max(found, key=lambda item: item[1].confidence, default=None)
