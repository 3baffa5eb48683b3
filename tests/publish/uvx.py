"""Stands in for `uvx`: checks that what is asked for is installed at that version, and runs it from there.

What would be fetched and installed anew for every command is there already, so that commands run as they are printed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["--python"]:
        words = words[2:]
    if words[:1] != ["--from"]:
        return _refuse(f"no --from: {words}")
    found = re.fullmatch(r"([A-Za-z0-9_-]+)(?:\[[a-z]+\])?==([0-9.]+)", words[1])
    if found is None:
        return _refuse(f"no pinned package: {words[1]}")
    for python in os.environ["RLX_PYTHONS"].split(os.pathsep):
        told = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        asked = subprocess.run([python, "-c", told, found[1]], capture_output=True, text=True, check=False)
        if asked.stdout.strip() == found[2]:
            program = [str(Path(python).with_name(words[2]))]
            here = Path(__file__).with_name("openenv_here.py")
            return subprocess.run(
                [*([python, str(here)] if words[2] == "openenv" else program), *words[3:]], check=False
            ).returncode
    return _refuse(f"{words[1]} is not installed")


def _refuse(why: str) -> int:
    sys.stderr.write(f"uvx: {why}\n")
    return 3


if __name__ == "__main__":
    sys.exit(main())
