"""A small hub with a repository of every kind, and what is known to be in it."""

import json
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq

from rlx.localhub import LocalHub

type Write = Callable[[str, str | bytes], Path]

CARD = """---
license: mit
pretty_name: Tasks
language: [en, ko]
task_categories:
- text-generation
size_categories: n<1K
tags:
- rl-environment
- harbor
---

# Tasks

Twelve tasks and a table.
"""
SPACE_CARD = """---
title: Echo
sdk: docker
app_port: 8000
tags: [openenv, rl-environment]
datasets: [acme/tasks]
---

# Echo
"""
META = {
    "users": {
        "hf_alice": {"name": "alice", "orgs": ["acme"]},
        "hf_bob": "bob",
        "hf_carol": "carol",
        "hf_dan": {"name": "dan", "orgs": ["acme"], "role": "read"},
    },
    "datasets/acme/tasks": {
        "likes": 3,
        "downloads": 40,
        "trendingScore": 2,
        "createdAt": "2026-01-02T03:04:05.000Z",
        "lastModified": "2026-02-03T04:05:06.000Z",
    },
    "datasets/acme/rows": {"likes": 9, "downloads": 7},
    "datasets/acme/secret": {"private": True},
    "datasets/bob/own": {"private": True},
    "datasets/acme/gated": {"gated": "manual", "granted": ["carol"], "trendingScore": 5},
    "spaces/acme/echo": {"stage": "PAUSED", "hardware": "cpu-upgrade"},
}
ROWS = [{"id": number, "text": f"row {number}", "info": {"level": number % 3}} for number in range(250)]
BIG = b"".join(b"%07d\n" % number for number in range(100_000))


def writer(root: Path) -> Write:
    def write(path: str, data: str | bytes) -> Path:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    return write


def build(root: Path) -> None:
    write = writer(root)
    write("hub.json", json.dumps(META))
    write("datasets/acme/tasks/README.md", CARD)
    for number in range(12):
        write(f"datasets/acme/tasks/tasks/task-{number:03}/task.toml", f"number = {number}\n")
        write(f"datasets/acme/tasks/tasks/task-{number:03}/instruction.md", f"Do {number}.\n")
    write("datasets/acme/tasks/big.txt", BIG)
    write("datasets/acme/tasks/empty.txt", "")
    write("datasets/acme/tasks/odd names/50% #1?.txt", "odd")
    write("datasets/acme/tasks/odd names/한글.txt", "non-ASCII")
    pq.write_table(pa.Table.from_pylist(ROWS), root / "datasets/acme/tasks/rows.parquet", row_group_size=100)
    write("datasets/acme/rows/README.md", "---\nlicense: apache-2.0\ntags: [verifiers, rl-environment]\n---\nRows.\n")
    write("datasets/acme/rows/train.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    write("datasets/acme/secret/README.md", "---\ntags: [harbor]\n---\n")
    write("datasets/acme/gated/README.md", "---\ntags: [harbor]\n---\n")
    write("datasets/acme/gated/train.jsonl", '{"a": 1}\n')
    write("datasets/bob/own/README.md", "No front matter.\n")
    write("spaces/acme/echo/README.md", SPACE_CARD)
    write("models/acme/policy/config.json", "{}")


async def ask(hub: LocalHub, raw_path: str, query: bytes = b"") -> tuple[int, bytes]:
    """Status and body of a GET whose path is sent as it stands, where a client would tidy it up."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    raw = raw_path.encode("latin-1")
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": raw, "query_string": query, "headers": []}
    await hub.app(scope, receive, send)
    return sent[0]["status"], b"".join(message["body"] for message in sent[1:])


def client_of(hub: LocalHub, token: str | None = None) -> httpx2.AsyncClient:
    """A client of a hub in this process."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(hub.app), base_url="http://hub.test", headers=headers)
