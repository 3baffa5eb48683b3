"""Settings of a process: one typed class, read from the environment with the prefix `RLX_`."""

import os
from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_HUB = "https://huggingface.co"
DEFAULT_VIEWER = "https://datasets-server.huggingface.co"
DEFAULT_ROUTER = "https://router.huggingface.co/v1"


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "rl-explorer"


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rl-explorer"


class Settings(BaseSettings):
    """Every field is an environment variable `RLX_<NAME>`; the CLI's flags override them."""

    model_config = SettingsConfigDict(env_prefix="RLX_", frozen=True, extra="ignore", populate_by_name=True)

    hub: str = Field(default_factory=lambda: os.environ.get("HF_ENDPOINT") or DEFAULT_HUB)
    """A Hub URL, or a folder laid out as a local hub."""
    viewer_url: str | None = None
    """Base of the dataset viewer. Without one it is the Hub's own, or `/viewer` below another Hub's address."""
    router_url: str | None = None
    """Base of the router of Inference Providers. Without one it is Hugging Face's, or `/v1` below another Hub's."""
    store: Path = Field(default_factory=_data_home, validation_alias=AliasChoices("RLX_STORE", "STORAGE_DIR", "store"))
    """Where indexes, packs, rollouts and settings are kept: a directory or a bucket mount."""
    cache_dir: Path = Field(default_factory=_cache_home)
    """Local disk for databases and files that can be fetched again."""
    database_url: str | None = Field(default=None, repr=False)
    """PostgreSQL for the index and queue of rollouts, for several machines on one store. Else SQLite on local disk."""
    public_url: str | None = None
    """Address people reach the app at, when it stands behind a proxy. Its host is trusted."""
    allowed_hosts: tuple[str, ...] = ()
    """More Host names to answer to, beside loopback and the public URL."""
    frame_ancestors: tuple[str, ...] = ()
    """Origins that may show the app in a frame, such as https://huggingface.co. None by default."""
    trust_local: bool = True
    """Let direct loopback visitors use this machine's own Hub token."""
    session_secret: str | None = Field(
        default=None,
        repr=False,
        validation_alias=AliasChoices("RLX_SESSION_SECRET", "SESSION_SECRET", "session_secret"),
    )
    """Key of the session cookie. Without one a random key is made, and sessions end with the process."""
    hub_connections: int = 48
    """Parallel requests to the Hub."""
    hub_timeout: float = 20.0
    """Seconds to wait for the Hub's next bytes."""
    listing_ttl: float = 900.0
    """Seconds a listing of the Hub is used before it is fetched again."""
    listing_from_store: bool = False
    """Use the listing that `rlx index build` left in the store while it is under three hours old."""
    snapshot_check: float = 60.0
    """Seconds between two looks at the store for a new snapshot of the catalog."""
    info_ttl: float = 60.0
    """Seconds the revision and visibility of a public repository are trusted. Private ones are checked every time."""
    max_listing_files: int = 400_000
    """Entries of one repository that are listed before it is walked instead."""
    listing_deadline: float = 25.0
    """Seconds that listing one repository may take before it is walked instead."""
    max_body: int = 1_048_576
    """Bytes of a request body."""
    index_jobs: int = 3
    """Environments indexed at once."""
    pack_budget: int = 512 * 1024 * 1024
    """Bytes of task texts kept for one environment; past it only the core files are."""
    sandboxes: tuple[str, ...] = ()
    """Harbor's other environments that rollouts may use here, by name. A worker keeps the variables that they need."""
    sandbox_network: bool = True
    """Let local sandboxes that ask for a network reach HTTP and HTTPS servers, through a proxy of ours."""
    sandbox_layers: int = 20 * 1024**3
    """Bytes of layers kept for local sandboxes, the latest used first."""
