"""How long local sandboxes take: to start cold and warm, to run a command, to move files, and eight at once.

python bench/sandbox.py [--rounds 30] [--json]
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from rlx.errors import SandboxError
from rlx.sandboxes.base import Impossible, SandboxSpec
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.settings import Settings
from rlx.texts import words

AT_ONCE = 8
MEGABYTE = 1024 * 1024


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


def told(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {"p50": round(statistics.median(ordered), 1), "p95": round(ordered[int(len(ordered) * 0.95)], 1)}


async def started(kind: Local) -> LocalSandbox:
    made = kind.make(SandboxSpec())
    await made.start()
    return made


async def measure(cache: Path, rounds: int) -> dict[str, dict[str, float]]:
    kind = Local(Settings(cache_dir=cache))
    figures: dict[str, dict[str, float]] = {}
    cold: list[LocalSandbox] = []

    async def first() -> None:
        cold.append(await started(kind))

    figures["cold start, the base built, ms"] = told([await timed(first)])
    await cold[0].stop()
    starts, stops = [], []
    for _ in range(rounds):
        made = kind.make(SandboxSpec())
        starts.append(await timed(made.start))
        stops.append(await timed(made.stop))
    figures["warm start, ms"], figures["stop, ms"] = told(starts), told(stops)
    made = await started(kind)
    try:
        figures["exec of true, ms"] = told([await timed(lambda: made.exec(["true"])) for _ in range(rounds * 3)])
        large = cache / "large"
        large.write_bytes(bytes(64 * MEGABYTE))
        up = await timed(lambda: made.upload(large, "/large"))
        down = await timed(lambda: made.download("/large", cache / "back"))
        figures["64 MB in and out, MB/s"] = {"in": round(64000 / up), "out": round(64000 / down)}
    finally:
        await made.stop()
    walls = []
    for _ in range(max(1, rounds // 5)):
        group = [kind.make(SandboxSpec()) for _ in range(AT_ONCE)]
        walls.append(await timed(lambda group=group: asyncio.gather(*(one.start() for one in group))))  # type: ignore[misc]
        await asyncio.gather(*(one.exec("echo ready") for one in group))
        await asyncio.gather(*(one.stop() for one in group))
    figures[f"{AT_ONCE} started at once, all ready, ms"] = told(walls)
    return figures


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=30)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        able = Local(Settings(cache_dir=Path(folder) / "probe")).can_run()
        if isinstance(able, Impossible):
            raise SandboxError(words(able.why))
        figures = asyncio.run(measure(Path(folder), chosen.rounds))
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    for name, values in figures.items():
        print(f"| {name} | {', '.join(f'{key} {value:,}' for key, value in values.items())} |")


if __name__ == "__main__":
    main()
