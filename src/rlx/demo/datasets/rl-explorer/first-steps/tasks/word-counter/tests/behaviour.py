"""Runs the program as its manual describes it, in three groups; each group is a named score, `reward` is their mean.

What it should print is worked out here from the same words by a counter of our own.
"""

import json
import os
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

PROGRAM = "/app/topwords"


def words(text):
    found, word = [], ""
    for at, char in enumerate(text):
        after = text[at + 1 : at + 2]
        if char.isalpha() or (char == "'" and word and word[-1].isalpha() and after.isalpha()):
            word += char
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


def table(text, count=10, length=1, fold=False):
    counted = Counter(word for word in words(text.lower() if fold else text) if len(word) >= length)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:count]
    return "".join(f"{n}\t{word}\n" for word, n in ranked)


def run(*arguments, text=""):
    try:
        return subprocess.run(
            [PROGRAM, *arguments], input=text.encode(), capture_output=True, timeout=20, env={**os.environ, "LANG": "C.UTF-8"}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(PROGRAM, 255, b"", str(error).encode())


def prints(expected_output, *arguments, text="", code=0):
    done = run(*arguments, text=text)
    return done.returncode == code and done.stdout.decode("utf-8", "replace") == expected_output


def refused(*arguments):
    done = run(*arguments, text="some words")
    return done.returncode == 2 and not done.stdout


def sample(seed):
    rng = random.Random(seed)
    vocabulary = ["tree", "Tree", "don't", "Größe", "stone", "a", "it's", "river", "River", "über", "rock'n'roll"]
    return " ".join(rng.choice(vocabulary) + rng.choice(["", ",", ".", "\n", " --", "'"]) for _ in range(400))


def main():
    folder = Path(tempfile.mkdtemp())
    one, two, gone = folder / "one.txt", folder / "two words.txt", folder / "gone.txt"
    one.write_text(sample(1))
    two.write_text(sample(2))
    both = one.read_text() + "\n" + two.read_text()
    groups = {
        "basics": [
            prints(table(sample(3)), text=sample(3)),
            prints(table(one.read_text()), str(one)),
            prints(table(both), str(one), str(two)),
            prints(table(sample(4)), "-", text=sample(4)),
            prints("", text="123 -- !\n"),
        ],
        "options": [
            prints(table(sample(5), count=3), "-n", "3", text=sample(5)),
            prints(table(sample(6), length=5), "-m", "5", text=sample(6)),
            prints(table(sample(7), fold=True), "-i", text=sample(7)),
            prints(table(both, count=4, length=4, fold=True), "-i", "-m", "4", "-n", "4", str(one), str(two)),
        ],
        "errors": [
            refused("-n", "0"),
            refused("-n", "many"),
            refused("-m", "-1"),
            refused("--unknown"),
            prints(table(one.read_text()), str(gone), str(one), code=1) and str(gone) in run(str(gone)).stderr.decode(),
        ],
    }
    scores = {name: round(sum(checks) / len(checks), 4) for name, checks in groups.items()}
    for name, checks in groups.items():
        print(f"{name}: {sum(checks)} of {len(checks)}")
    scores["reward"] = round(sum(scores.values()) / len(groups), 4)
    Path("/logs/verifier/reward.json").write_text(json.dumps(scores))


main()
