"""The app over the toy services, and visitors of it."""

from collections.abc import AsyncIterator, Callable

import httpx2
import pytest
from fastapi import FastAPI

from rlx.settings import Settings
from rlx.web.app import create_app
from tests.toy import ToyServices

BASE = "http://localhost:7860"

type Visit = Callable[..., httpx2.AsyncClient]


@pytest.fixture
def settings() -> Settings:
    return Settings(hub="https://hub.example", public_url="https://explorer.example", allowed_hosts=("other.example",))


@pytest.fixture
def services(settings: Settings) -> ToyServices:
    return ToyServices(settings)


@pytest.fixture
def app(services: ToyServices) -> FastAPI:
    return create_app(services, token=lambda settings: None)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """An anonymous visitor from elsewhere."""
    async with visitor(app) as found:
        yield found


def visitor(app: FastAPI, *, peer: str = "203.0.113.9", base: str = BASE) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app, client=(peer, 5000))
    return httpx2.AsyncClient(transport=transport, base_url=base)
