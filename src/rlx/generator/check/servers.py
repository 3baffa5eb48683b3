"""A variant's own server, started on loopback and ended with all that it started."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from rlx.errors import Upstream
from rlx.generator.check.processes import started
from rlx.generator.targets.base import Target

PATIENCE = 240.0
"""Seconds until a server must answer: frameworks import for a minute on a busy machine."""


@asynccontextmanager
async def serving(target: Target, python: Path, folder: Path, variables: Mapping[str, str]) -> AsyncIterator[str]:
    """The address of a variant that is served. Empty for a framework that serves nothing. Raises `Upstream`."""
    if not target.served:
        yield ""
        return
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(python) if word == "python" else word for word in target.served]
    with tempfile.TemporaryFile() as log:
        told = {**variables, "HOST": "127.0.0.1", "PORT": str(port)}
        async with started(command, folder, told, output=log) as process:
            if not await _answers(process, url + target.ready):
                log.seek(0)
                said = log.read()[-2000:].decode(errors="replace")
                raise Upstream(f"The server for {target.title} did not start: {said}", hint="Run it by hand.")
            yield url


async def _answers(process: asyncio.subprocess.Process, url: str) -> bool:
    clock = asyncio.get_running_loop()
    end = clock.time() + PATIENCE
    async with httpx2.AsyncClient(timeout=10, trust_env=False) as client:
        while process.returncode is None and clock.time() < end:
            try:
                if (await client.get(url)).status_code == 200:
                    return True
            except httpx2.HTTPError:
                pass  # not listening yet
            await asyncio.sleep(0.2)
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port
