"""OpenEnv's capture proxy, for a server of ours that answers on loopback alone."""

import secrets

from fastapi import FastAPI
from openenv.core.harness.capture.server import create_app


def create_capture() -> FastAPI:
    """Without a model of its own: each rollout names the line to its. Nobody knows the key of its control routes."""
    app: FastAPI = create_app(admin_key=secrets.token_urlsafe(24), capture_level="text")
    return app
