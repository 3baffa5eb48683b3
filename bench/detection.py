"""What detection says of a folder of repositories, against a table written by hand: `python bench/detection.py DIR`.

Exits 1 when any repository's states or ways differ. The table is `bench/detected.toml`, of the gathered environments.
"""

import argparse
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

import anyio

from rlx.model import ANONYMOUS, EnvQuery
from rlx.publish.detect.base import Detection
from rlx.publish.detect.detect import detect
from rlx.services import Services, create_services
from rlx.settings import Settings

TABLE = Path(__file__).with_name("detected.toml")


def told(detection: Detection) -> set[str]:
    """States and ways as the table writes them; many folders of as many tasks are one entry."""
    found = {f"{support.framework} {support.state}" for support in detection.supports}
    ways = [way for support in detection.supports for way in support.ways]
    alike = Counter((way.kind, way.tasks) for way in ways)
    for way in ways:
        count = alike[way.kind, way.tasks]
        words = (way.kind, "" if count > 9 else way.path, "" if way.tasks is None else str(way.tasks))
        found.add((f"{count} x " if count > 9 else "") + " ".join(word for word in words if word))
    return found


def agrees(wanted: set[str], seen: set[str], *, exactly: bool) -> bool:
    """Of an organisation's many the states have to be the same, and the ways that are told to be there."""
    if exactly:
        return wanted == seen
    states = {item for item in seen if item.endswith((" supported", " claimed", " untagged"))}
    return wanted <= seen and states <= wanted


async def everything(services: Services) -> dict[str, tuple[set[str], float]]:
    found: dict[str, tuple[set[str], float]] = {}
    cards: list[str] = []
    while True:
        page = await services.catalog.search(EnvQuery(offset=len(cards), limit=200), ANONYMOUS)
        cards += [str(card.key) for card in page.items]
        for card in page.items:
            repo = await services.library.repo(card.key, ANONYMOUS)
            begun = time.perf_counter()
            detection = await detect(repo)
            found[str(card.key)] = (told(detection), time.perf_counter() - begun)
        if not page.items or len(cards) >= page.total:
            return found


async def compare(folder: str) -> int:
    expected = tomllib.loads(TABLE.read_text())["environments"]
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(hub=folder, store=Path(scratch, "store"), cache_dir=Path(scratch, "cache"))
        async with create_services(settings) as services:
            found = await everything(services)
    wrong = 0
    for key, (seen, _) in sorted(found.items()):
        wanted = expected.get(key, expected.get(key.partition("/")[0]))
        if wanted is None or not agrees(set(wanted), seen, exactly=key in expected):
            wrong += 1
            print(f"{key}: found {sorted(seen)}, expected {wanted}")
    seconds = sorted(time for _, time in found.values())
    print(f"{len(found)} repositories, {wrong} told otherwise than by hand")
    print(f"{sum(seconds):.1f} s, {seconds[-1]:.2f} s at most")
    return 1 if wrong else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hub", help="a folder of repositories")
    sys.exit(anyio.run(compare, parser.parse_args().hub))


if __name__ == "__main__":
    main()
