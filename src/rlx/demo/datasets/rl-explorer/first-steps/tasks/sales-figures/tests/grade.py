"""Compares the figures with the key beside this file. Money may differ by a cent; each figure is a quarter of the reward."""

import json
from pathlib import Path


def read(path):
    try:
        found = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        print(f"{path} cannot be read: {type(error).__name__}")
        return {}
    return found if isinstance(found, dict) else {}


def right(found, wanted):
    if isinstance(wanted, float):
        return isinstance(found, int | float) and abs(found - wanted) < 0.011
    return found == wanted


key = json.loads(Path("/tests/figures_key.json").read_text())
figures = read("/app/figures.json")
scores = {name: float(right(figures.get(name), wanted)) for name, wanted in key.items()}
for name, score in scores.items():
    print(f"{name}: {'right' if score else 'wrong or missing'}")
scores["reward"] = sum(scores.values()) / len(key)
Path("/logs/verifier/reward.json").write_text(json.dumps(scores))
