"""What of a trial's folder is kept with its rollout, and the checks that its verifier's output tells of."""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rlx.answers.logs import verifier_log
from rlx.runners.base import Run
from rlx.runners.scrub import Scrub

_LARGEST: Final = 4 * 1024 * 1024
_MOST: Final = 60
_MOST_CHECKS: Final = 500
_LOG_SHOWN: Final = 40_000
_PYTEST: Final = re.compile(r"^(PASSED|FAILED|ERROR) (\S+::\S+)|^(\S+::\S+) (PASSED|FAILED|ERROR)\b", re.MULTILINE)


def keep_all(run: Run, trial_dir: Path, scrub: Scrub) -> None:
    """Trajectory, verifier output and artifacts. Blocks."""
    for _, path in _files(trial_dir, ("agent/trajectory.json", "steps/*/agent/trajectory.json")):
        data = _json(path)
        if data is not None:
            run.keep("trajectory.json", json.dumps(scrub.value(data)).encode())
            break
    for name, path in _files(trial_dir, ("verifier/**/*", "steps/*/verifier/**/*")):
        text = _text(path)
        if text is not None:
            masked = str(verifier_log(text, path=name).text)
            run.keep(_place("verifier", name), scrub.text(masked).encode())
    for name, path in _files(trial_dir, ("artifacts/**/*", "steps/*/artifacts/**/*")):
        if path.name != "manifest.json":
            text = _text(path)
            run.keep(
                _place("artifacts", name), scrub.data(path.read_bytes()) if text is None else scrub.text(text).encode()
            )


def verifier_text(trial_dir: Path, scrub: Scrub) -> str:
    """What the verifier printed, masked, of every step."""
    parts = []
    for name, path in _files(trial_dir, ("verifier/test-stdout.txt", "steps/*/verifier/test-stdout.txt")):
        text = _text(path)
        if text:
            parts.append(scrub.text(str(verifier_log(text, path=name).text)))
    return "\n".join(parts)[:_LOG_SHOWN]


def checks_of(trial_dir: Path, *, named: bool) -> Mapping[str, Any] | None:
    """Which checks passed, by the reports that are usual; None where there is none. `named`: with their names."""
    items = []
    for _, path in _files(trial_dir, ("verifier/ctrf.json", "steps/*/verifier/ctrf.json")):
        items += _of_ctrf(_json(path))
    if not items:
        for _, path in _files(trial_dir, ("verifier/test-stdout.txt", "steps/*/verifier/test-stdout.txt")):
            items += _of_pytest(_text(path) or "")
    if not items:
        return None
    passed = sum(item["passed"] for item in items)
    told = items[:_MOST_CHECKS] if named else []
    return {"passed": passed, "failed": len(items) - passed, "items": told}


def _of_ctrf(data: Any) -> list[dict[str, Any]]:
    results = data.get("results") if isinstance(data, Mapping) else None
    tests = results.get("tests") if isinstance(results, Mapping) else None
    return [
        {"name": str(test["name"])[:200], "passed": test.get("status") == "passed"}
        for test in (tests if isinstance(tests, list) else ())
        if isinstance(test, Mapping) and test.get("name") and test.get("status") in ("passed", "failed")
    ]


def _of_pytest(text: str) -> list[dict[str, Any]]:
    found: dict[str, bool] = {}
    for match in _PYTEST.finditer(text[:_LARGEST]):
        name = match[2] or match[3]
        found[name] = (match[1] or match[4]) == "PASSED"
    return [{"name": name[:200], "passed": passed} for name, passed in found.items()]


def _files(folder: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Regular files below a folder that a sandbox's files came into, none through a link."""
    count = 0
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST or count >= _MOST:
                continue
            if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
                continue
            count += 1
            yield str(path.relative_to(folder)), path


def _place(kind: str, name: str) -> str:
    """`steps/count/verifier/x` as `verifier/count/x`."""
    parts = name.split("/")
    inner = [parts[1], *parts[3:]] if parts[0] == "steps" else parts[1:]
    return "/".join((kind, *inner))


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
