"""What a task will reach for while it runs, read from its files: places of the network, and servers it grades."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from rlx.sandboxes.dockerfile import Need, script_needs
from rlx.sandboxes.dockerfile.needs import Kind
from rlx.texts import Say, say

NETWORK: Final[tuple[Kind, ...]] = (
    *("apt", "apt-source", "packages", "pip", "uv", "npm", "cargo", "go", "gem", "conda", "url", "git", "hub"),
)
"""Needs that the network has to meet."""
_STORES: Final[Mapping[Kind, str]] = {
    "apt": "apt",
    "apt-source": "apt",
    "pip": "PyPI",
    "uv": "PyPI",
    "npm": "npm",
    "cargo": "Cargo",
    "go": "Go modules",
    "gem": "RubyGems",
    "conda": "conda",
    "hub": "Hugging Face",
}
_GRADER: Final = re.compile(r"(?:steps/[^/]+/)?tests/.+\.(?:sh|bash|py|js|mjs|ts)")
_SHELL: Final = (".sh", ".bash")
_HOME: Final = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])"
_CALLS_HOME: Final = re.compile(
    rf"https?://{_HOME}[:/]|\bhost\s*=\s*['\"]{_HOME}['\"]|\(\s*['\"]{_HOME}['\"]\s*,\s*\d"
    rf"|\b(?:ssh|nc|telnet|curl|wget|redis-cli|psql|mysql)\b[^\n#]*[\s@/]{_HOME}\b|['\"]\w+@{_HOME}['\"]"
)
_STARTS: Final = re.compile(r"\bPopen\(|create_subprocess_|[^&]&\s*$|\bnohup\b|\.serve_forever\(", re.MULTILINE)
"""A grader that starts programs may well start the server that it calls."""
_MOST: Final = 6
_LONGEST: Final = 100_000


def is_grader(path: str) -> bool:
    """Whether what it holds is read here."""
    return _GRADER.fullmatch(path) is not None


def places(found: Iterable[Need]) -> str:
    """Where needs are met, in order: the stores of packages by their names, else hosts. Empty for none."""
    told = dict.fromkeys(place for need in found if need.kind in NETWORK for place in _places(need))
    return ", ".join([*list(told)[:_MOST], *(["…"] if len(told) > _MOST else [])])


def grading(texts: Mapping[str, str]) -> Iterator[Say]:
    """What graders reach for, one sentence each. `texts` of the task by path."""
    graders = {path: text[:_LONGEST] for path, text in sorted(texts.items()) if is_grader(path)}
    for path, text in graders.items():
        found = places(script_needs(text)) if path.endswith(_SHELL) else ""
        if found:
            yield say("launch.grading_network", path=path, places=found)
    if any(_STARTS.search(text) for text in graders.values()):
        return
    for path, text in graders.items():
        call = _CALLS_HOME.search(text)
        if call is not None:
            yield say("launch.service", path=f"{path}:{text.count(chr(10), 0, call.start()) + 1}")
            return


def _places(need: Need) -> Iterator[str]:
    store = _STORES.get(need.kind)
    if store is not None:
        yield store
        return
    yield from (host for host in map(_host, need.names) if re.fullmatch(_HOME, host) is None)


def _host(name: str) -> str:
    """Of an address; a name that is none stands for itself."""
    if name.startswith("git@"):
        return name[4:].partition(":")[0]
    try:
        return urlsplit(name).hostname or name
    except ValueError:
        return name
