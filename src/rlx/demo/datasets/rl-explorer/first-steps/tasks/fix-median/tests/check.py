"""Runs the checks in three groups and writes one named score per group, and `reward`, their weighted mean."""

import importlib.util
import json
from pathlib import Path


def load():
    spec = importlib.util.spec_from_file_location("stats", "/app/stats.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def holds(check):
    try:
        return bool(check())
    except Exception as error:
        print(f"  {type(error).__name__}: {error}")
        return False


def refuses_empty(function):
    try:
        function([])
    except ValueError as error:
        return function.__name__ in str(error)
    return False


def untouched(stats):
    values = [3, 1, 2]
    stats.median(values)
    return values == [3, 1, 2]


def share(title, checks):
    passed = [holds(check) for check in checks]
    print(f"{title}: {sum(passed)} of {len(passed)}")
    return round(sum(passed) / len(passed), 4)


def main():
    stats = load()
    scores = {
        "correctness": share(
            "correctness",
            [
                lambda: stats.mean([1, 2, 6]) == 3,
                lambda: stats.median([5, 1, 3]) == 3,
                lambda: stats.median([4, 1, 3, 2]) == 2.5,
                lambda: stats.median([7]) == 7,
                lambda: stats.mode(["b", "a", "b", "a"]) == "b",
                lambda: stats.mode([3, 1, 1]) == 1,
                lambda: stats.mode(["a", "z", "z"]) == "z",
            ],
        ),
        "side_effects": share("side effects", [lambda: untouched(stats), lambda: stats.median((9, 1, 5)) == 5]),
        "errors": share(
            "errors", [lambda f=f: refuses_empty(f) for f in (stats.mean, stats.median, stats.mode)]
        ),
    }
    scores["reward"] = round(0.5 * scores["correctness"] + 0.25 * scores["side_effects"] + 0.25 * scores["errors"], 4)
    Path("/logs/verifier/reward.json").write_text(json.dumps(scores))


main()
