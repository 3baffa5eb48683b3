"""The routes of jobs and of what runs in them. Each needs a token of whoever owns the job."""

import asyncio
import hmac
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ValidationError

from rlx.localhub.access import Visitor
from rlx.localhub.jobs import files
from rlx.localhub.jobs.book import Jobs, owns
from rlx.localhub.jobs.commands import Command, background, execute, stop_process
from rlx.localhub.jobs.job import PORT, Job, JobSpec
from rlx.localhub.wire import Answer, Refusal, Request, decode_segment, json_answer
from rlx.sandboxes.base import Sandbox

PROTOCOL: Final = 3
"""Of the Sandbox API, as its client asks for it."""
_EXPOSED: Final = re.compile(rf"([0-9a-f]{{24}})--{PORT}\.local")
_HARDWARE: Final = (("cpu-basic", "2 vCPU", "16 GB"), ("cpu-upgrade", "8 vCPU", "32 GB"))


@dataclass(frozen=True, slots=True)
class JobRoutes:
    jobs: Jobs

    @staticmethod
    def takes(parts: list[str]) -> bool:
        """Whether a path, by its segments, is one of these."""
        return parts[:2] == ["api", "jobs"] or parts[0] == "sandboxes"

    async def answer(self, request: Request, visitor: Visitor, parts: list[str]) -> Answer:
        """Raises `Refusal`."""
        return await _answer(self.jobs, request, visitor, parts)


async def _answer(jobs: Jobs, request: Request, visitor: Visitor, parts: list[str]) -> Answer:
    if visitor.user is None:
        raise Refusal(401, "", "Invalid username or password.")
    match request.method, [decode_segment(part) for part in parts]:
        case "GET", ["api", "jobs", "hardware"]:
            return json_answer([_hardware(*each) for each in _HARDWARE])
        case "GET" | "POST" as method, ["api", "jobs", name]:
            if not owns(visitor, name):
                raise Refusal(403, "", f"You may not run jobs as {name[:100]}.")
            if method == "POST":
                job = jobs.start(name, _asked(await request.body()))
                return json_answer(job.view(request.base_url))
            return json_answer([job.view(request.base_url) for job in jobs.of(name) if _wanted(job, request)])
        case "GET", ["api", "jobs", _, id]:
            return json_answer(jobs.find(id, visitor).view(request.base_url))
        case "POST", ["api", "jobs", _, id, "cancel"]:
            job = jobs.find(id, visitor)
            await jobs.cancel(job)
            return json_answer(job.view(request.base_url))
        case "GET", ["api", "jobs", _, id, "logs"]:
            return _events(_logs(jobs.find(id, visitor), request.number("tail", 10_000, most=10_000)))
        case method, ["sandboxes", host, *path]:
            exposed = _EXPOSED.fullmatch(host)
            if exposed is not None:
                return await _sandbox(jobs.find(exposed[1], visitor), request, method, path)
    raise Refusal(404, "", "This local hub has no such route of jobs.")


async def _sandbox(job: Job, request: Request, method: str, path: list[str]) -> Answer:
    """The Sandbox API of one job."""
    wanted = str(job.spec.secrets.get("SBX_TOKEN", ""))
    if not wanted or not hmac.compare_digest((request.header(b"x-sandbox-token") or "").encode(), wanted.encode()):
        raise Refusal(401, "", "The token of this sandbox is needed.")
    if job.stage != "RUNNING" or job.sandbox is None:
        raise Refusal(503, "", f"The sandbox is {job.stage}.")
    if path == ["health"]:
        return json_answer({"protocol": PROTOCOL})
    job.touched = asyncio.get_running_loop().time()
    match method, path:
        case "POST", ["v1", "exec"]:
            command = _read(Command, await request.body())
            return Answer(200, [(b"content-type", b"application/x-ndjson")], execute(job.sandbox, command))
        case "POST", ["v1", "processes"]:
            return json_answer(await background(job, job.sandbox, _read(Command, await request.body())))
        case "GET", ["v1", "processes"]:
            return json_answer([_process(job, id) for id in job.processes])
        case "DELETE", ["v1", "processes", id]:
            return json_answer({"killed": await stop_process(job, id)})
        case _, ["v1", "files", action]:
            return await _files(job.sandbox, request, method, action)
    raise Refusal(404, "", "The Sandbox API of this local hub has no such route.")


async def _files(sandbox: Sandbox, request: Request, method: str, action: str) -> Answer:
    path = request.param("path") or ""
    if not path.startswith("/") or "\0" in path or len(path) > 4096:
        raise Refusal(400, "", "The path of a file in a sandbox is absolute.")
    match method, action:
        case "GET", "read":
            offset, length = request.param("offset"), request.param("length")
            body = await files.read(sandbox, path, _count(offset or "0"), None if length is None else _count(length))
            return Answer(200, [(b"content-type", b"application/octet-stream")], body)
        case "PUT", "write":
            offset, size = request.param("offset"), request.param("truncate_to")
            where = files.Place(
                path,
                None if offset is None else _count(offset),
                None if size is None else _count(size),
                request.param("mode"),
            )
            await files.write(sandbox, where, await request.body())
            return json_answer({})
        case "GET", "stat":
            return json_answer(await files.stat(sandbox, path))
        case "GET", "list":
            return json_answer(await files.listing(sandbox, path, request.param("after") or ""))
        case "DELETE", "delete":
            await files.delete(sandbox, path, recursive=request.flag("recursive") or request.param("recursive") == "1")
            return json_answer({})
        case "POST", "mkdir":
            await files.make_folder(sandbox, path)
            return json_answer({})
    raise Refusal(404, "", "The Sandbox API of this local hub has no such route.")


def _asked(body: bytes) -> JobSpec:
    spec = _read(JobSpec, body)
    if spec.mounts:
        raise Refusal(400, "", f"This local hub mounts nothing: {', '.join(spec.mounts)[:200]}.")
    if spec.expose.portsPublic:
        raise Refusal(400, "", "This local hub shows no port to everybody.")
    return spec


def _read[T: BaseModel](kind: type[T], body: bytes) -> T:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the top"
        raise Refusal(400, "", f"The body is not what this local hub takes, at {where}: {first['msg']}.") from None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Refusal(400, "", "An offset or a length is a count of bytes.")
    return int(text)


def _wanted(job: Job, request: Request) -> bool:
    stages = request.params("stage")
    labels = [label.partition("=") for label in request.params("label")]
    return (not stages or job.stage in stages) and all(job.spec.labels.get(key) == value for key, _, value in labels)


def _process(job: Job, id: str) -> dict[str, object]:
    process = job.processes[id]
    done = process.task.done()
    return {
        "id": process.id,
        "pid": process.pid,
        "cmd": process.command,
        "started_at_ms": round(process.began.timestamp() * 1000),
        "running": not done,
        "exit_code": process.task.result() if done and not process.task.cancelled() else None,
    }


def _hardware(name: str, cpu: str, ram: str) -> dict[str, object]:
    return {
        "name": name,
        "prettyName": name,
        "cpu": cpu,
        "ram": ram,
        "ephemeralStorage": "10 GB",
        "accelerator": None,
        "unitCostMicroUSD": 0,
        "unitCostUSD": 0,
        "unitLabel": "minute",
    }


def _events(pieces: AsyncGenerator[bytes]) -> Answer:
    return Answer(200, [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")], pieces)


async def _logs(job: Job, tail: int) -> AsyncGenerator[bytes]:
    """What a job writes, from the last `tail` lines on, until it ends."""
    count = max(0, job.count - tail)
    while True:
        written, fresh = job.written, job.count - count
        lines, count = list(job.logs)[-fresh:] if fresh else [], job.count
        for moment, line in lines:
            event = json.dumps({"timestamp": moment.isoformat().replace("+00:00", "Z"), "data": line})
            yield f"data: {event}\n\n".encode()
        if job.ended and count == job.count:
            return
        await written.wait()
