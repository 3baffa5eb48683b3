"""An ordinary user has sandboxes too: the same promises, without root, set-uid helpers or control groups."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rlx.sandboxes.local.kind import Local

# Everything is imported before the change of user, who may not be able to read this interpreter's packages.
DRIVER = """
import asyncio, asyncio.unix_events, concurrent.futures.thread, dataclasses, encodings.idna, ipaddress
import json, os, shlex, sys
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.check import check
from rlx.sandboxes.local import sandbox
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from rlx.texts import say, words

words(say("sandbox.note.host"))
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)

async def main():
    kind = Local(Settings(cache_dir=sys.argv[1]))
    found = [dataclasses.asdict(verdict) async for verdict in check(kind)]
    here = kind.make(SandboxSpec())
    await here.start()
    told = {}
    for name, command in json.loads(sys.argv[2]).items():
        done = await here.exec(command, timeout=60)
        told[name] = (done.stdout + done.stderr).decode()
    notes = [note.key for note in here.notes]
    await here.stop()
    left = [name for name in os.listdir(os.path.join(sys.argv[1], "sandboxes", "boxes"))]
    print(json.dumps({"verdicts": found, "told": told, "notes": notes, "left": left}))

asyncio.run(main())
"""
COMMANDS = {
    "identity": "id -u; touch /tmp/own && chown 12:34 /tmp/own && su nobody -s /bin/sh -c 'echo pretended'",
    "new file in a folder of the host": "echo new > /usr/bin/new-file && cat /usr/bin/new-file",
    "file of the system": "echo line >> /etc/passwd && tail -1 /etc/passwd",
    "settings of the kernel": "echo x > /proc/sys/kernel/hostname",
    "secrets": "cat /etc/sudoers 2>/dev/null; cut -d: -f2 /etc/shadow | sort -u",
}


@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user as it is")
def test_every_promise_is_kept_for_an_ordinary_user(local: Local) -> None:
    with tempfile.TemporaryDirectory(prefix="rlx-ordinary-") as cache:  # pytest's own folders are closed to others
        Path(cache).chmod(0o777)
        command = [sys.executable, "-c", DRIVER, cache, json.dumps(COMMANDS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert {each["promise"]: each["detail"] for each in found["verdicts"] if each["state"] == "failed"} == {}
    assert sum(each["state"] == "ok" for each in found["verdicts"]) >= len(found["verdicts"]) - 1
    assert found["left"] == []
    assert "sandbox.note.one_user" in found["notes"]
    told = found["told"]
    assert told["identity"] == "0\npretended\n"
    assert told["new file in a folder of the host"] == "new\n"
    assert told["file of the system"] == "line\n"
    assert "Read-only" in told["settings of the kernel"]
    assert "*" in told["secrets"].splitlines()[-1]
