"""The databases that rollouts are indexed in: SQLite, and Debian's PostgreSQL on a socket in a folder of its own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
import sqlalchemy as sa

from rlx.store.rollouts.schema import sqlite_url

OWNERS = ("postgres", "nobody")
"""Users that the server may run as; it refuses to run as root."""


MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where bringing things to the disk takes no time; the death of a process leaves the same there."""


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder that is quick to write."""
    with tempfile.TemporaryDirectory(prefix="rlx-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server's own database. It dies with the tests."""
    server = _server_program()
    folder = Path(tempfile.mkdtemp(prefix="rlx-pg-", dir=MEMORY))
    data = folder / "data"
    as_user: list[str] = []
    owner = pwd.getpwuid(os.getuid())
    if os.getuid() == 0:
        owner = next(found for found in pwd.getpwall() if found.pw_name in OWNERS)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_user = [f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
    run = ["setpriv", *as_user, "--pdeathsig=INT"]
    settings = ["fsync=off", "listen_addresses=", f"unix_socket_directories={folder}", "max_connections=80"]
    process = drain = None
    try:
        options = ["-D", str(data), "-U", owner.pw_name, "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
        subprocess.run([*run, str(server.with_name("initdb")), *options], check=True, capture_output=True, cwd=folder)
        flags = [part for setting in settings for part in ("-c", setting)]
        command = [*run, str(server), "-D", str(data), *flags]
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert process.stderr is not None
        told = []
        for line in process.stderr:
            told.append(line)
            if "ready to accept connections" in line:
                break
        else:
            pytest.fail(f"PostgreSQL does not start: {''.join(told)[-2000:]}")
        drain = threading.Thread(target=_drain, args=(process.stderr,), daemon=True)
        drain.start()
        yield f"postgresql://{owner.pw_name}@/postgres?host={folder}"
    finally:
        if process is not None:
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            process.wait()
            if drain is not None:
                drain.join()
            if process.stderr is not None:
                process.stderr.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, memory_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield sqlite_url(memory_path / "index.db")
        return
    yield from _database(request.getfixturevalue("postgres"))


@pytest.fixture
def new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Makes empty databases of a kind, as many as a test wants."""

    def make(kind: str) -> str:
        if kind == "sqlite":
            return sqlite_url(tmp_path_factory.mktemp("db") / "index.db")
        return next(_database(request.getfixturevalue("postgres")))

    return make


def _drain(stream: IO[str]) -> None:
    """A server that nobody listens to stands still."""
    for _ in stream:
        pass


def _database(server: str) -> Iterator[str]:
    url = sa.make_url(server)
    name = f"rlx_{uuid.uuid4().hex[:12]}"
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    yield url.set(database=name).render_as_string(hide_password=False)


def _server_program() -> Path:
    """PostgreSQL's server; Debian keeps it off PATH. Skips the test without one, and fails it in CI."""
    found = shutil.which("postgres")
    places = [Path(found)] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not places:
        if os.environ.get("RLX_REQUIRE_TOOLS") == "1":
            pytest.fail("PostgreSQL is not installed, and RLX_REQUIRE_TOOLS=1 asks for it.", pytrace=False)
        pytest.skip("PostgreSQL is not installed")
    return places[-1]
