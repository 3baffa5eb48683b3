"""The local hub on a port."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from rlx.errors import BadInput
from rlx.localhub import Fault, LocalHub, LocalHubServer, run, serve
from tests.localhub.small_hub import BIG

FIRST_CALL = """
from huggingface_hub import HfApi
print(sorted(one.id for one in HfApi().list_datasets()))
"""
GET_FILE = """
import sys
from huggingface_hub import HfFileSystem
HfFileSystem().get_file("datasets/acme/tasks/big.txt", sys.argv[1])
"""


def fresh(server: LocalHubServer, home: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A script in a process whose client has a home of its own, and knows the hub by `HF_ENDPOINT` alone."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    env |= {"HF_ENDPOINT": server.url, "HF_HOME": str(home), "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
    command = [sys.executable, "-c", script, str(home / "file")]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def paths(server: LocalHubServer) -> set[str]:
    return {path for _, path in server.hub.requests}


def test_the_first_call_of_a_fresh_client_works(own_server: LocalHubServer, tmp_path: Path) -> None:
    done = fresh(own_server, tmp_path, FIRST_CALL)
    assert done.stdout == "['acme/gated', 'acme/rows', 'acme/tasks']\n", done.stderr
    assert "/api/agent-harnesses" in paths(own_server)


def test_a_list_of_agent_harnesses_would_break_every_call(own_server: LocalHubServer, tmp_path: Path) -> None:
    own_server.hub.faults.add(Fault(path="/api/agent-harnesses", body="[]"))
    done = fresh(own_server, tmp_path, FIRST_CALL)
    assert done.returncode != 0
    assert "AttributeError" in done.stderr


def test_a_xet_hash_in_a_tree_would_send_the_file_system_astray(own_server: LocalHubServer, tmp_path: Path) -> None:
    assert fresh(own_server, tmp_path, GET_FILE).returncode == 0
    assert (tmp_path / "file").read_bytes() == BIG
    tree = [{"type": "file", "path": "big.txt", "size": len(BIG), "oid": "0" * 40, "xetHash": "0" * 64}]
    own_server.hub.faults.add(Fault(path="*/tree/*", body=json.dumps(tree)))
    assert fresh(own_server, tmp_path, GET_FILE).returncode != 0
    assert any("/xet-read-token/" in path for path in paths(own_server))


def test_names_of_other_machines_are_refused(server: LocalHubServer) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]:80"):
        answer = httpx2.get(f"{server.url}/api/datasets", headers={"host": host})
        assert answer.status_code == 421, host
    for host in ("localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:5", "[::1]"):
        assert httpx2.get(f"{server.url}/api/datasets", headers={"host": host}).status_code == 200, host


def test_other_pages_cannot_read_it(server: LocalHubServer) -> None:
    answer = httpx2.get(f"{server.url}/api/datasets", headers={"origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_person_who_opens_it_is_told_what_it_is(server: LocalHubServer) -> None:
    assert httpx2.get(f"{server.url}/").text.startswith("Local hub.")


def test_many_connections_are_served_at_once(server: LocalHubServer) -> None:
    url = f"{server.url}/datasets/acme/tasks/resolve/main/big.txt"
    with httpx2.Client() as client, ThreadPoolExecutor(12) as pool:
        parts = list(pool.map(lambda n: client.get(url, headers={"range": f"bytes={n * 8}-{n * 8 + 7}"}), range(200)))
    assert b"".join(part.content for part in parts) == BIG[:1600]


def test_servers_stop_and_free_their_port(root: Path) -> None:
    with serve(root) as server:
        assert httpx2.get(f"{server.url}/api/datasets").status_code == 200
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{server.url}/api/datasets")
    port = int(server.url.rpartition(":")[2])
    with serve(LocalHub(root), port=port) as again:
        assert again.url == server.url


def test_a_port_that_is_taken_is_told(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"Port {port} of 127.0.0.1 cannot be served"):
            run(root, port=port)


def test_running_tells_where_and_how_much(root: Path, tmp_path: Path) -> None:
    """As the command line runs it: in the main thread of a process, until it is interrupted."""
    script = (
        "import json, sys; from pathlib import Path; from rlx.localhub import run\n"
        "run(Path(sys.argv[1]), port=0, cache_dir=Path(sys.argv[2]),"
        " on_ready=lambda url, counts: print(json.dumps([url, counts]), flush=True))"
    )
    command = [sys.executable, "-c", script, str(root), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url, counts = json.loads(process.stdout.readline())
        assert counts == {"datasets": 5, "spaces": 1, "models": 1}
        assert httpx2.get(f"{url}/api/spaces").json()[0]["id"] == "acme/echo"
        process.terminate()
        process.wait(20)
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{url}/api/spaces")
