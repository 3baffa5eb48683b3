"""The Hugging Face Hub's HTTP API over a folder: for offline use, for the demo and for tests."""

from rlx.localhub.faults import Fault, Faults
from rlx.localhub.hub import LocalHub
from rlx.localhub.server import LocalHubServer, run, serve

__all__ = ["Fault", "Faults", "LocalHub", "LocalHubServer", "run", "serve"]
