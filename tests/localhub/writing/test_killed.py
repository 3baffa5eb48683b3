"""A hub that is killed while it writes."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest

from rlx.errors import BadInput
from rlx.localhub import LocalHub
from rlx.localhub.writing.ledger import MAIN, Ledger
from tests.localhub.writing.test_hostile import lines, put

pytestmark = pytest.mark.timeout(120)

KEY = "datasets/acme/tasks"
SERVE = """
import sys
from pathlib import Path
from rlx.localhub import run
run(Path(sys.argv[1]), port=0, writable=Path(sys.argv[2]), on_ready=lambda url, counts: print(url, flush=True))
"""


def check(state: Path) -> tuple[int, int]:
    """How many commits and pull requests there are. Everything that is named is there, whole."""
    ledger = Ledger(state)
    try:
        assert ledger.rows("PRAGMA quick_check") == [("ok",)]
        assert not list((state / "incoming").iterdir())
        refs = ledger.refs(KEY)
        for id in refs.values():
            files = ledger.files(KEY, id)
            assert files
            for entry in files.values():
                data = Path(ledger.objects.place(entry.object.sha256)).read_bytes()
                assert hashlib.sha256(data).hexdigest() == entry.object.sha256
        numbers = {int(str(num)) for (num,) in ledger.rows("SELECT num FROM discussions WHERE repo = ?", KEY)}
        assert numbers == {int(name.removeprefix("refs/pr/")) for name in refs if name.startswith("refs/pr/")}
        events = ledger.rows("SELECT DISTINCT num FROM events WHERE repo = ?", KEY)
        assert {int(str(num)) for (num,) in events} == numbers
        return len(ledger.log(KEY, refs[MAIN])), len(numbers)
    finally:
        ledger.close()


def write(url: str, answered: list[str]) -> None:
    """Commits and pull requests until the hub is gone; those it said were made are noted."""
    headers = {"authorization": "Bearer hf_alice"}
    with contextlib.suppress(httpx2.HTTPError), httpx2.Client(base_url=url, headers=headers, timeout=20) as client:
        for number in range(10_000):
            name = f"{threading.get_ident()}-{number}"
            query = "?create_pr=1" if number % 3 == 0 else ""
            body = lines(*(put(f"new/{name}-{part}.txt", os.urandom(500)) for part in range(5)))
            made = client.post(f"/api/{KEY}/commit/main{query}", content=body)
            assert made.status_code == 200, made.text
            answered.append(made.json()["commitOid"])


def test_whatever_was_answered_is_kept_and_nothing_is_half_done(own_root: Path, state: Path) -> None:
    answered: list[str] = []
    for more in (3, 12, 1, 7):
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(own_root), str(state)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process, process.stdout:
            url = process.stdout.readline().strip()
            writers = [threading.Thread(target=write, args=(url, answered)) for _ in range(2)]
            wanted = len(answered) + more
            for writer in writers:
                writer.start()
            while len(answered) < wanted:
                assert process.poll() is None
                writers[0].join(0.002)
            process.send_signal(signal.SIGKILL)
            for writer in writers:
                writer.join()
        check(state)
    ledger = Ledger(state)
    known = {str(id) for (id,) in ledger.rows("SELECT id FROM commits WHERE repo = ?", KEY)}
    ledger.close()
    assert set(answered) <= known


def test_two_hubs_never_write_to_one_state(own_root: Path, state: Path) -> None:
    first = LocalHub(own_root, writable=state)
    with pytest.raises(BadInput, match="Another local hub writes"):
        LocalHub(own_root, writable=state)
    first.close()
    LocalHub(own_root, writable=state).close()
    assert json.loads((own_root / "hub.json").read_text())["users"]
