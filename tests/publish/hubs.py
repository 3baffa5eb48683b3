"""A local hub to publish to, and an environment to publish."""

from pathlib import Path

from rlx.hub.writing import HubWriter
from rlx.localhub import LocalHub, LocalHubServer
from tests.jobs.machine import write_task

USERS = {"hf_alice": "alice", "hf_bob": "bob"}


def serving(root: Path) -> LocalHubServer:
    """An empty hub that takes what alice and bob write."""
    (root / "hub" / "datasets").mkdir(parents=True)
    return LocalHubServer(LocalHub(root / "hub", users=USERS, rescan=0, writable=root / "state"))


def environment(root: Path, *names: str) -> Path:
    """A folder of Harbor tasks without a card."""
    for name in names or ("first", "second"):
        write_task(root, name, {})
    return root / "datasets" / "acme" / "tasks"


def alice(server: LocalHubServer) -> HubWriter:
    return HubWriter(server.url, "hf_alice")
