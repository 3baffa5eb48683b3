"""The events of an indexer's run: a bar and a summary for a person, one JSON object a line for a program."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rlx.cli.inert import inert_json
from rlx.cli.output import Output, Tell, note, progress

_STOPPED = {
    "time": "the time was used up",
    "count": "as many as --count were read",
    "rate": "the Hub's rate limit is nearly used up",
    "hub": "the Hub is in trouble",
}


class Events:
    """Prints what an indexer tells. Data is on standard output for programs alone; people read standard error."""

    def __init__(self, output: Output, bar: Tell) -> None:
        self._json = output.format == "json"
        self._quiet = output.format == "quiet"
        self._bar = bar
        self._done = 0
        self._planned = 0
        self.planned: list[str] = []
        """What a dry run would read."""

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        if self._json:
            sys.stdout.write(inert_json(json.dumps({"event": event, **facts}, ensure_ascii=False)) + "\n")
            sys.stdout.flush()
            return
        if event == "plan":
            ids = facts["ids"]
            self.planned = [str(key) for key in ids] if isinstance(ids, list) else []
            self._planned = len(self.planned)
        if event in ("read", "failed"):
            self._done += 1
            self._bar(self._done, self._planned)
        line = _line(event, facts)
        if line and not self._quiet:
            note(line)


@contextmanager
def events(output: Output) -> Iterator[Events]:
    with progress("Reading environments") as bar:
        yield Events(output, bar)


def _line(event: str, facts: Mapping[str, object]) -> str | None:
    """What a person is told of an event, where it is worth a line."""
    match event:
        case "listed":
            return f"Listed {_counted(facts['datasets'], 'dataset')} and {_counted(facts['spaces'], 'Space')}."
        case "plan" if facts["environments"]:
            reasons = {"changed": "changed", "format": "in an old format", "partial": "incomplete", "new": "new"}
            told = ", ".join(f"{_figure(facts[why])} {text}" for why, text in reasons.items() if facts[why])
            return f"To read: {told}."
        case "plan":
            return "Everything listed was read before."
        case "failed":
            return f"{facts['id']} failed: {facts['reason']}"
        case "published":
            size = facts["size"]
            megabytes = size / 1e6 if isinstance(size, int) else 0.0
            counts = f"{_counted(facts['environments'], 'environment')}, {_counted(facts['tasks'], 'task')}"
            return f"Published {facts['db']}: {counts}, {megabytes:.1f} MB."
        case "done":
            told = f"Read {_figure(facts['read'])}, failed {_figure(facts['failed'])}, left {_figure(facts['left'])}"
            why = _STOPPED.get(str(facts["stopped"]))
            return f"{told}: {why}." if why else f"{told}."
        case _:
            return None


def _counted(value: object, noun: str) -> str:
    return f"{_figure(value)} {noun if value == 1 else f'{noun}s'}"


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
