"""Runs a command's asynchronous part over services of its own, as this machine's viewer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio

from rlx.cli.output import progress
from rlx.errors import BadInput, Hidden, NotFound, NotReady, RlxError
from rlx.formats.base import Correctable, Environment, Filling
from rlx.hub.client import Token
from rlx.hub.token import machine_token
from rlx.ids import EnvKey
from rlx.model import ANONYMOUS, Viewer
from rlx.services import Services, create_services, local_folder
from rlx.settings import Settings
from rlx.store.instance import FILE as SETTINGS
from rlx.telemetry import configure_logging

_NO_ROLES: Mapping[str, str] = {}

type Work[T] = Callable[[Services, Viewer], Awaitable[T]]


def with_services[T](settings: Settings, work: Work[T], *, public_token: Token = False) -> T:
    """The result of `work`. What it raises comes out as it was raised."""

    async def main() -> T | RlxError:
        async with create_services(settings, public_token=public_token) as services:
            try:
                return await work(services, this_viewer(settings))
            except RlxError as error:  # carried out by hand: the services' task group would wrap it
                return error

    configure_logging()
    result = anyio.run(main)
    if isinstance(result, RlxError):
        raise result
    return result


def this_viewer(settings: Settings) -> Viewer:
    """Whoever runs the command: with the machine's own token towards a Hub, nobody towards a folder."""
    if not settings.trust_local or local_folder(settings.hub) is not None:
        return ANONYMOUS
    token = machine_token()
    return Viewer("local", token=token) if token else ANONYMOUS


async def open_environment(
    services: Services, key: EnvKey, viewer: Viewer, *, roles: Mapping[str, str] = _NO_ROLES, filled: bool = False
) -> Environment:
    """The environment; a bar shows how far its first reading is. `roles` tell what its columns are.

    `filled` waits for all that is read after it was opened too. Raises `BadInput` for roles where there are none.
    """
    opened = await _opened(services, key, viewer)
    if roles:
        if not isinstance(opened, Correctable):
            raise BadInput(f"{key} has no columns whose roles could be corrected.", hint="Leave --role out.")
        opened = await opened.corrected(roles)
    if filled and isinstance(opened, Filling):
        with progress(f"Looking at the rows of {key}"):
            await opened.filled()
    return opened


async def _opened(services: Services, key: EnvKey, viewer: Viewer) -> Environment:
    async with missing_told(services, key, viewer):
        with suppress(NotReady):
            opened = await services.library.open(key, viewer, wait=0.2)
            if await services.library.progress(key, viewer) is None:  # else its tasks are named, and still read
                return opened
        with progress(f"Reading {key}") as tell:
            async for step in services.library.follow(key, viewer):
                tell(step.done, step.total)
        return await services.library.open(key, viewer, wait=None)


@asynccontextmanager
async def missing_told(services: Services, key: EnvKey, viewer: Viewer) -> AsyncIterator[None]:
    """Says of an environment that is not there where it was looked for, and when one of the other kind has its name."""
    try:
        yield
    except Hidden as error:
        settings = services.settings.store / SETTINGS
        raise Hidden(f"{key} is hidden: {settings} says so.", hint="Take it off `hidden` there to read it.") from error
    except NotFound as error:
        folder = local_folder(services.settings.hub)
        other = replace(key, kind="dataset" if key.kind == "space" else "space")
        if await _is_there(services, other, viewer):
            hint: str | None = f"Did you mean {other}?"
        else:
            hint = error.hint if folder is None else "rlx env ls shows what there is."
        message = error.message if folder is None else f"No {key} in {folder}, or it is private there."
        raise NotFound(message, hint=hint) from error


async def _is_there(services: Services, key: EnvKey, viewer: Viewer) -> bool:
    try:
        await services.hub.info(key, token=viewer.token or False)
    except RlxError:
        return False
    return True
