"""Asks Harbor itself whether it would load a task. A process of its own, `python -m rlx.formats.harbor.verdict_worker`.

One JSON line a task on stdin, one on stdout, in order. Harbor reads folders, so each task is laid out as a skeleton:
the real `task.toml`, empty files where the others are. Nothing of a task is executed. Only here is harbor imported.
"""

import importlib
import json
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

_MEMORY = 2 * 1024**3
"""Bytes of address space."""
_CPU_SECONDS = 900


def main() -> None:
    os.environ.update(HARBOR_TELEMETRY="0", LITELLM_LOCAL_MODEL_COST_MAP="True")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    warnings.simplefilter("ignore")
    task_type: Any = importlib.import_module("harbor.models.task.task").Task
    version = importlib.import_module("importlib.metadata").version("harbor")
    for line in sys.stdin:
        task = json.loads(line)
        why = verdict(task_type, task)
        answer = {"ref": task["ref"], "harbor": version, "loads": why is None, "why": why}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def verdict(task_type: Any, task: Mapping[str, Any]) -> str | None:
    """Harbor's objection to a task, or None. Never quotes a value of the file: it could be an answer."""
    with tempfile.TemporaryDirectory(prefix="harbor-verdict-") as folder:
        root = Path(folder) / "task"
        lay_out(root, task)
        try:
            task_type(root)
            loads = task_type.is_valid_dir(root)
        except RecursionError:
            return "RecursionError: the settings are nested too deeply"
        except MemoryError:
            return "MemoryError: the settings are too large"
        except Exception as error:  # whatever Harbor raises is the answer that was asked for
            return _words(error, str(root))
        return None if loads else "It is not a valid task folder: nothing says what it runs in"


def lay_out(root: Path, task: Mapping[str, Any]) -> None:
    """Write the skeleton. Paths that would leave it, or that no disk takes, are left out."""
    root.mkdir()
    for path, text in task["files"].items():
        target = root / path
        if ".." in PurePosixPath(path).parts or not target.is_relative_to(root):
            continue
        with suppress(OSError, ValueError):  # too long, not encodable, a file where a folder is wanted
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode("utf-8", "surrogateescape"))


def _words(error: Exception, root: str) -> str:
    """The error in one line, without the values it was made of and without the skeleton's path."""
    details = getattr(error, "errors", None)
    if callable(details):
        found = details(include_input=False, include_url=False, include_context=False)
        parts = [f"{'.'.join(str(part) for part in item['loc']) or 'task.toml'}: {item['msg']}" for item in found[:5]]
        return f"{type(error).__name__}: {'; '.join(parts)}"[:1000]
    message = (
        str(error).replace(f"Task directory {root}", "The task folder").replace(f"{root}/", "").replace(root, "it")
    )
    return f"{type(error).__name__}: {' '.join(message.split())}"[:1000]


if __name__ == "__main__":
    main()
