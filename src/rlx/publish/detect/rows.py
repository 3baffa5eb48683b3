"""Tables whose rows are tasks of a framework, known by their columns and what is in them."""

from typing import Final

import anyio.to_thread

from rlx.formats.processors.registry import choose, processors
from rlx.publish.detect.base import Evidence, Files, Found, Kind, Way
from rlx.texts import say

WAYS: Final[dict[str, Kind]] = {
    "nemo-gym": "nemo-gym-rows",
    "verifiers": "verifiers-rows",
    "verl": "verl-rows",
    "skyrl": "skyrl-rows",
}
"""By the processor that reads such rows."""
ATTEMPTS: Final = {"nemo-gym-rollouts": "nemo-gym", "verifiers-evals": "verifiers"}
"""Processors of what a framework wrote about attempts: it loads no environment from them."""
SURE: Final = 0.6


async def detect_rows(files: Files) -> Found:
    ways: list[Way] = []
    evidence: dict[str, tuple[Evidence, ...]] = {}
    for table in files.tables:
        chosen = await anyio.to_thread.run_sync(choose, table, processors())
        if chosen is None or chosen[1].confidence < SURE:
            continue
        processor, match = chosen
        path = (*table.paths, "")[0]
        if processor.name in WAYS:
            kind = WAYS[processor.name]
            way = Way(kind, path, table.config, split=table.split)
            ways.append(way)
            evidence[way.framework] = (*evidence.get(way.framework, ()), Evidence(path, match.evidence))
        elif processor.name in ATTEMPTS:
            framework = ATTEMPTS[processor.name]
            seen = Evidence(path, say("publish.seen.attempts", what=match.evidence))
            evidence[framework] = (*evidence.get(framework, ()), seen)
    return Found(tuple(ways), evidence)
