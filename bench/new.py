"""Prints what `rlx new` makes of every archetype in every framework: `python bench/new.py [ARCHETYPE...]`.

Each is written, then checked as `rlx new --check` does, from environments of uv that are kept. `--mutants` plants every
mistake in every wrapper as well. Exits 1 when a variant differs or a mutant survives.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rlx.generator.check.environments import Frameworks, make_frameworks
from rlx.generator.check.mutation import Fate, mutate
from rlx.generator.check.report import Report, write_report
from rlx.generator.check.run import check
from rlx.generator.registry import archetype, archetypes
from rlx.generator.render import render, write
from rlx.settings import Settings


def row(name: str, report: Report, rendered: float) -> str:
    stages = {variant.framework: "ok" if variant.ok else "differs" for variant in report.variants}
    differences = sum(len(variant.differences) for variant in report.variants)
    told = ", ".join(f"{framework} {state}" for framework, state in stages.items())
    return (
        f"| {name} | {1000 * rendered:.0f} ms | {told} | {report.rounds} | {report.calls:,} | {differences} "
        f"| {report.seconds:.0f} s | {report.processor_seconds:.0f} s | {100 * report.import_share:.0f} % |"
    )


def fates(name: str, found: list[Fate]) -> str:
    killed = Counter(fate.framework for fate in found if fate.killed)
    every = Counter(fate.framework for fate in found)
    return f"| {name} | " + " | ".join(f"{killed[framework]} of {every[framework]}" for framework in every) + " |"


async def one(name: str, frameworks: Frameworks, mutants: bool, reports: Path | None) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        begun = time.perf_counter()
        tree = render(archetype(name).example())
        rendered = time.perf_counter() - begun
        folder = Path(scratch) / name
        write(tree, folder)
        report = await check(folder, frameworks, told=lambda line: print(line, file=sys.stderr))
        print(row(name, report, rendered), flush=True)
        if reports is not None:
            write_report(report, reports / name)
        if not mutants:
            return report.ok
        found = await mutate(folder, frameworks, told=lambda line: print(line, file=sys.stderr))
        print(fates(name, found), flush=True)
        return report.ok and all(fate.killed for fate in found)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archetypes", nargs="*", default=sorted(archetypes()))
    parser.add_argument("--mutants", action="store_true", help="plant mistakes in the wrappers too")
    parser.add_argument("--reports", type=Path, help="where reports go, as JSON and as pages")
    asked = parser.parse_args()
    frameworks = make_frameworks(Settings().cache_dir / "frameworks")
    good = [await one(name, frameworks, asked.mutants, asked.reports) for name in asked.archetypes]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
