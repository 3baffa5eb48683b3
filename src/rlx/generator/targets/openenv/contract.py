"""OpenEnv's runtime contract, tried on a running server in the Python of the framework: `contract.py URL LOW HIGH`.

After a reset the state has the episode's id, it counts steps, each step has a finite reward within the range and an end
that is true or false, and observations are what `/schema` says. Exits 1 with what does not hold.
"""

import json
import math
import sys
import urllib.request
from typing import Any

from jsonschema import Draft202012Validator
from websockets.sync.client import connect

_EPISODE = "contract-1"
_STEPS = 3


def broken(url: str, low: float, high: float) -> list[str]:
    """What does not hold, as sentences."""
    with urllib.request.urlopen(f"{url}/schema") as answer:
        schemas = json.load(answer)
    with connect(f"ws{url.removeprefix('http')}/ws") as socket:

        def ask(kind: str, **data: Any) -> dict[str, Any]:
            socket.send(json.dumps({"type": kind, **({"data": data} if data else {})}))
            answer: dict[str, Any] = json.loads(socket.recv())
            if answer["type"] == "error":
                raise SystemExit(f"{kind}: {answer['data']}")
            found: dict[str, Any] = answer["data"]
            return found

        found = _fits(ask("reset", episode_id=_EPISODE), schemas["reset_observation"], "reset")
        if ask("state").get("episode_id") != _EPISODE:
            found.append("The state does not have the id of the episode.")
        tools = ask("step", type="list_tools")["observation"]["tools"]
        tool = next((each for each in tools if not each["input_schema"].get("required")), tools[0])
        before = ask("state")["step_count"]
        for number in range(_STEPS):
            step = ask("step", type="call_tool", tool_name=tool["name"], arguments={})
            found += _fits(step, schemas["observation"], f"step {number}")
            reward = step["reward"]
            if not isinstance(reward, int | float) or not math.isfinite(reward) or not low <= reward <= high:
                found.append(f"Step {number} has the reward {reward!r}, which is not between {low} and {high}.")
        if ask("state")["step_count"] != before + _STEPS:
            found.append("The state does not count the steps.")
    return found


def _fits(answer: dict[str, Any], schema: dict[str, Any], place: str) -> list[str]:
    found = [] if isinstance(answer["done"], bool) else [f"The end of {place} is neither true nor false."]
    whole = {**answer["observation"], "reward": answer["reward"], "done": answer["done"]}
    errors = Draft202012Validator(schema).iter_errors(whole)
    return found + [f"The observation of {place} is not as /schema says: {error.message}" for error in errors]


def main() -> None:
    url, low, high = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    if found := broken(url, low, high):
        raise SystemExit("\n".join(found))
    sys.stdout.write("The runtime contract holds.\n")


if __name__ == "__main__":
    main()
