"""Files of PyPI and npm as they were pinned, from whichever registry this machine is set up for."""

import hashlib
import os
import re
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Final, Literal
from urllib.parse import quote, unquote, urljoin, urlsplit

from rlx.errors import Upstream

INDEX: Final = "https://pypi.org/simple"
NPM: Final = "https://registry.npmjs.org"
LARGEST: Final = 200 * 1024 * 1024
TIMEOUT: Final = 60.0
_LINK: Final = re.compile(r'<a\s[^>]*?href="([^"]+)"', re.I)
_NPM_SETTING: Final = re.compile(r"^\s*registry\s*=\s*(https?://\S+)\s*$", re.MULTILINE)

type Fetch = Callable[[str, int], bytes]
"""The bytes at an address, at most so many. Raises `OSError`."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """One file of a registry, and what it has to be."""

    registry: Literal["pypi", "npm"]
    project: str
    name: str
    """Of a wheel or a packed package, as the registry has it."""
    digest: str
    """`sha256:` or `sha512:` and the hexadecimal digest."""


def download(file: Pinned, *, index: str | None = None, fetch: Fetch | None = None) -> bytes:
    """The file, when it is the one that was pinned. Blocks. Raises `Upstream`."""
    fetch = fetch or fetch_address
    base = (index or _index_of(file)).rstrip("/")
    try:
        address = _of_pypi(file, base, fetch) if file.registry == "pypi" else _of_npm(file, base)
        if address is None:
            hint = "Ask another index with PIP_INDEX_URL."
            raise Upstream(f"{_host(base)} has no {file.name}.", hint=hint)
        data = fetch(address, LARGEST)
    except OSError as error:
        raise Upstream(f"{file.name} cannot be fetched from {_host(base)}: {error}.", retry_after=60) from error
    algorithm, _, digest = file.digest.partition(":")
    found = hashlib.new(algorithm, data).hexdigest()
    if found != digest:
        told = f"{algorithm.upper().replace('SHA', 'SHA-')} {found[:16]}…"
        raise Upstream(f"{file.name} of {_host(base)} is not the file that was pinned ({told}).")
    return data


def fetch_address(address: str, limit: int) -> bytes:
    if urlsplit(address).scheme not in ("https", "http"):
        raise OSError("not an address of the web")
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:  # noqa: S310  # checked above
        data: bytes = answer.read(limit + 1)
    if len(data) > limit:
        raise OSError(f"more than {limit:,} bytes")
    return data


def _index_of(file: Pinned) -> str:
    """As pip, uv and npm are told of theirs."""
    if file.registry == "pypi":
        return os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or INDEX
    told = os.environ.get("npm_config_registry") or os.environ.get("NPM_CONFIG_REGISTRY")  # noqa: SIM112  # npm's own name
    if told:
        return told
    try:
        found = _NPM_SETTING.search(Path.home().joinpath(".npmrc").read_text("utf-8", "replace"))
    except OSError:
        return NPM
    return found[1] if found else NPM


def _of_pypi(file: Pinned, base: str, fetch: Fetch) -> str | None:
    page = f"{base}/{file.project}/"
    links = [urljoin(page, unescape(link)) for link in _LINK.findall(fetch(page, LARGEST).decode("utf-8", "replace"))]
    found = next((link for link in links if _file_name(link) == file.name), None)
    return None if found is None else found.partition("#")[0]


def _of_npm(file: Pinned, base: str) -> str:
    return f"{base}/{quote(file.project, safe='@/')}/-/{quote(file.name)}"


def _host(address: str) -> str:
    """Without the credentials that an index's address may hold."""
    return urlsplit(address).hostname or "the index"


def _file_name(link: str) -> str:
    return PurePosixPath(unquote(urlsplit(link).path)).name
