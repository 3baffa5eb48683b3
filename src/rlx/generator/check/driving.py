"""Plays a plan through one variant, in the Python of its framework: `driving.py DRIVE FOLDER URL < plan > seen`.

Run as a program, never imported: nothing of this package is there. `DRIVE` is a file that defines `World(folder, url)`:

- `tools()`: what is published of tools, as `{name, description, parameters}`
- `published(split)`: what is published of the tasks of a split
- `start(split, index)`: a session with `prompt`, `call(tool, arguments)` and `end()`

`call` answers `{kind, text, reward, done}`; kind is `step`, `refused` (by the framework, in its own words) or `over`
(the framework says itself that the episode has ended). A reward or an end that the framework does not tell is None.
`end` closes the session and answers with the reward of the whole episode.
"""

import importlib.util
import json
import sys
import time
from typing import Any


def play(world: Any, plan: dict[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {"tools": world.tools(), "splits": {}, "rounds": []}
    for split in plan["splits"]:
        seen["splits"][split] = world.published(split)
    for planned in plan["rounds"]:
        sessions = [world.start(task["split"], task["index"]) for task in planned["tasks"]]
        steps = [sessions[number].call(tool, arguments) for number, tool, arguments in planned["calls"]]
        prompts = [session.prompt for session in sessions]
        seen["rounds"].append({"prompts": prompts, "steps": steps, "totals": [each.end() for each in sessions]})
    return seen


def main() -> None:
    drive, folder, url = sys.argv[1:4]
    answers = sys.stdout
    sys.stdout = sys.stderr  # what frameworks print is no answer
    begun = time.monotonic()
    found = importlib.util.spec_from_file_location("drive", drive)
    if found is None or found.loader is None:
        raise SystemExit(f"{drive} cannot be loaded")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    world = module.World(folder, url)
    loaded = time.monotonic()
    seen = play(world, json.load(sys.stdin))
    seen["seconds"] = {"load": loaded - begun, "play": time.monotonic() - loaded}
    json.dump(seen, answers)


if __name__ == "__main__":
    main()
