"""Compose files of tasks, which strangers wrote and the engine obeys: what they may say, and nothing besides."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

LARGEST: Final = 256 * 1024
_OF_SERVICE: Final = frozenset(
    (
        *("image", "build", "command", "entrypoint", "environment", "depends_on", "healthcheck", "expose", "networks"),
        *("working_dir", "user", "hostname", "restart", "stdin_open", "tty", "init", "shm_size", "mem_limit", "cpus"),
        *("deploy", "labels", "tmpfs", "ulimits", "stop_signal", "stop_grace_period", "profiles", "platform"),
        *("pull_policy", "volumes", "container_name", "logging", "mem_reservation", "read_only", "attach"),
    )
)
_OF_BUILD: Final = frozenset(("context", "dockerfile", "args", "target", "platforms", "no_cache", "labels"))
_OF_FILE: Final = frozenset(("services", "networks", "volumes", "version", "name"))
_OF_NETWORK: Final = frozenset(("internal", "labels", "name"))
_LOGS: Final = re.compile(r"\$\{HOST_(?:VERIFIER_LOGS|AGENT_LOGS|ARTIFACTS)_PATH\}")
"""Folders of the trial that Harbor itself names, before any file of the task could."""
_VOLUME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def danger(text: str) -> str | None:
    """The first thing that a compose file says and that could reach out of its containers, by its path in the file."""
    if len(text) > LARGEST:
        return "its size"
    try:
        read = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return "what is no YAML"
    if read is None:
        return None
    return next(_found(read), None) if isinstance(read, Mapping) else "what is no table"


def dangerous_file(task: Path) -> tuple[Path, str] | None:
    """Of all compose files of a task. Blocks."""
    for path in sorted((*task.rglob("*compose*.yml"), *task.rglob("*compose*.yaml"))):
        try:
            found = danger(path.read_text("utf-8")) if path.stat().st_size <= LARGEST else "its size"
        except (OSError, UnicodeDecodeError):
            found = "what is no text"
        if found is not None:
            return path.relative_to(task), found
    return None


def _found(read: Mapping[Any, Any]) -> Iterator[str]:
    for key, value in read.items():
        if key not in _OF_FILE and not str(key).startswith("x-"):
            yield str(key)[:60]
        elif key == "services" and isinstance(value, Mapping):
            for name, service in value.items():
                yield from (f"services.{name}.{what}"[:120] for what in _of_service(service))
        elif key == "services":
            yield "services"
        elif key == "networks":
            yield from _of_tables("networks", value, _OF_NETWORK)
        elif key == "volumes":
            yield from _of_tables("volumes", value, frozenset(("labels",)))


def _of_tables(place: str, value: Any, allowed: frozenset[str]) -> Iterator[str]:
    for name, told in value.items() if isinstance(value, Mapping) else ():
        if told is not None and not (isinstance(told, Mapping) and allowed.issuperset(told)):
            yield f"{place}.{name}"[:120]


def _of_service(service: Any) -> Iterator[str]:
    if not isinstance(service, Mapping):
        yield "its form"
        return
    for key, value in service.items():
        if key not in _OF_SERVICE:
            yield str(key)
        elif key == "build" and not _builds_inside(value):
            yield "build"
        elif key == "volumes" and not (isinstance(value, list) and all(map(_stays, value))):
            yield "volumes"
        elif key == "deploy" and not (isinstance(value, Mapping) and {"resources", "replicas"}.issuperset(value)):
            yield "deploy"
        elif key == "logging" and value != {"driver": "none"}:
            yield "logging"


def _builds_inside(build: Any) -> bool:
    if isinstance(build, str):
        return _inside(build)
    if not isinstance(build, Mapping) or not _OF_BUILD.issuperset(build):
        return False
    return _inside(str(build.get("context", "."))) and _inside(str(build.get("dockerfile", "Dockerfile")))


def _inside(path: str) -> bool:
    """Below the folder of the file: no address, nothing absolute, nothing filled in."""
    if path == "${CONTEXT_DIR}":
        return True  # Harbor's name for that folder
    plain = posixpath.normpath(path)
    return not (":" in path or "$" in path or path.startswith(("/", "~")) or plain == ".." or plain.startswith("../"))


def _stays(volume: Any) -> bool:
    """Whether it is a volume of the engine's own, or where Harbor keeps its logs."""
    if isinstance(volume, Mapping):
        kind = volume.get("type")
        is_own = {"type", "source", "target", "read_only", "tmpfs"}.issuperset(volume)
        return is_own and (kind == "tmpfs" or (kind == "volume" and _is_name(str(volume.get("source", "x")))))
    source, colon, _ = str(volume).partition(":")
    return (not colon and source.startswith("/") and "$" not in source) or bool(
        colon and (_is_name(source) or _LOGS.fullmatch(source))
    )


def _is_name(source: str) -> bool:
    return _VOLUME.fullmatch(source) is not None
