"""One Hugging Face sandbox, as whoever uses it sees it. The Hub's client blocks, and so is called in threads."""

import asyncio
import logging
import secrets
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
from huggingface_hub import HfApi, constants
from huggingface_hub import Sandbox as HubBox
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.errors import SandboxError as HubSandboxError

from rlx.errors import SandboxError
from rlx.sandboxes.base import ExecResult, OnOutput, SandboxSpec
from rlx.sandboxes.dockerfile import ImageFacts
from rlx.sandboxes.hf import scripts
from rlx.sandboxes.hf.ends import Ends
from rlx.sandboxes.hf.kind import Account
from rlx.sandboxes.hf.lost import SANDBOX, end_lost
from rlx.sandboxes.hf.transfer import MOST, pack, unpack
from rlx.texts import Say, say

_log = logging.getLogger(__name__)

START: Final = 180.0
"""Seconds that a sandbox may take to start: images of gigabytes are pulled first."""
IDLE: Final = 600
"""Seconds after which a sandbox that nobody calls ends itself, so also one whose worker was killed."""
STAY: Final = 60.0
"""Seconds between two calls of ours, since a command that runs is none."""
SOON: Final = 20.0
_TRIES: Final = 3
_THREADS: Final = 24
_ENDED: Final = ("COMPLETED", "CANCELED", "ERROR", "DELETED")
_FAILED: Final = (HubSandboxError, HfHubHTTPError, httpx2.HTTPError, OSError)


class HubSandbox:
    """Made by `HF.make`. See `rlx.sandboxes.base.Sandbox`."""

    name = "hf"

    def __init__(self, hub: str, account: Account, spec: SandboxSpec, image: str, flavor: str) -> None:
        self.spec = spec
        self.image = image
        self.facts = ImageFacts({})
        self.notes: Sequence[Say] = (say("sandbox.hf.flavor", flavor=flavor),)
        self._hub = hub
        self._account = account
        self._flavor = flavor
        self._id = secrets.token_hex(12)
        self._api = HfApi(endpoint=hub, token=account.token)
        self._namespace = ""
        self._box: HubBox | None = None
        self._creating: asyncio.Future[HubBox] | None = None
        self._staying: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "rlx-hf")
        self._stopped = False
        self._left: list[str] = []

    async def start(self) -> None:
        if self._creating is not None or self._stopped:
            raise SandboxError("The sandbox was started before.")
        if constants.ENDPOINT.rstrip("/") != self._hub:
            raise SandboxError(f"This process speaks with the Hub {constants.ENDPOINT}, not with {self._hub}.")
        self._creating = asyncio.get_running_loop().run_in_executor(self._threads, self._create)
        try:
            self._box = await asyncio.shield(self._creating)
            self._staying = asyncio.create_task(self._stay())
            told = await self._must(["/bin/sh", "-c", scripts.FACTS], "/")
            self.facts = _facts(told)
            await self.make_folder(self.spec.workdir)
        except _FAILED as error:
            await self.stop()
            raise SandboxError(f"The sandbox did not start: {self._reason(error)}") from error
        except BaseException:
            await self._surely(self.stop)
            raise

    async def make_folder(self, path: str) -> None:
        await self._must(["mkdir", "-p", "--", path], "/")

    def settle(self, spec: SandboxSpec) -> None:
        """What its commands find from now on, once its image is made."""
        self.spec = spec

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # as the contract has it
        on_output: OnOutput | None = None,
    ) -> ExecResult:
        argv = ["/bin/bash", "-c", command] if isinstance(command, str) else list(command)
        whom = user or self.spec.user
        before = [scripts.PLAIN, "sh"] if whom is None else [scripts.AS_USER, "sh", whom]
        mark = secrets.token_hex(8)
        told = {**self.spec.env, **(env or {}), scripts.MARK: mark}
        ends = {"stdout": Ends(), "stderr": Ends()}
        loop = asyncio.get_running_loop()

        def hear(stream: Literal["stdout", "stderr"], text: str) -> None:
            data = text.encode("utf-8", "replace")
            ends[stream].add(data)
            if on_output is not None:
                with suppress(RuntimeError):  # the loop of whoever listened is closed
                    loop.call_soon_threadsafe(on_output, stream, data)

        def run() -> tuple[int | None, int | None]:
            done = self._started().run(
                ["/bin/sh", "-c", *before, *argv],
                shell=False,
                cwd=cwd or self.spec.workdir,
                env=told,
                check=False,
                capture_output=False,
                on_stdout=lambda text: hear("stdout", text),
                on_stderr=lambda text: hear("stderr", text),
            )
            return done.exit_code, done.signal

        working = loop.run_in_executor(self._threads, run)
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                code, signal = await asyncio.shield(working)
        except TimeoutError:
            timed_out = True
            code, signal = await self._end_run(mark, working)
        except asyncio.CancelledError:
            with suppress(SandboxError):
                await self._surely(lambda: self._end_run(mark, working))
            raise
        except _FAILED as error:
            raise SandboxError(f"A command could not be run in the sandbox: {self._reason(error)}") from error
        if code is None:
            code = 128 + (signal or 9)
        out, err = ends["stdout"].both(), ends["stderr"].both()
        return ExecResult(code, out, err, timed_out, sum(each.left_out for each in ends.values()))

    async def upload(self, source: Path, target: str) -> None:
        folder, _, name = target.rpartition("/")
        is_folder = await asyncio.to_thread(source.is_dir)
        staged = f"/tmp/.sbx-up-{secrets.token_hex(8)}"  # noqa: S108  # inside

        def send() -> None:
            with tempfile.NamedTemporaryFile(prefix="rlx-up-") as archive:
                pack(source, name, archive)
                archive.flush()
                self._started().files.upload(archive.name, staged)

        await self._thread(send, f"{source.name} cannot be sent")
        await self._must(["/bin/sh", "-c", scripts.UNPACK, "sh", staged, target if is_folder else folder or "/"], "/")

    async def download(self, source: str, target: Path) -> None:
        staged = f"/tmp/.sbx-down-{secrets.token_hex(8)}"  # noqa: S108  # inside
        try:
            done = await self.exec(["/bin/sh", "-c", scripts.PACK, "sh", source, staged], cwd="/", user="root")
            if not done.ok:
                why = "is not there" if done.code == scripts.NOT_THERE else "cannot be packed"
                raise SandboxError(f"{source} {why}.")

            def fetch() -> None:
                files = self._started().files
                if files.stat(staged).size > MOST:
                    raise SandboxError(f"{source} is larger than the {MOST >> 20} MiB that are fetched at once.")
                unpack(files.read(staged), target, is_folder=done.stdout.strip() == b"folder")

            await self._thread(fetch, f"{source} cannot be fetched")
        finally:
            with suppress(SandboxError):
                await self.exec(["rm", "-f", "--", staged], cwd="/", user="root", timeout=SOON)

    async def is_file(self, path: str) -> bool:
        return (await self.exec(["test", "-f", path], cwd="/", user="root")).ok

    async def is_dir(self, path: str) -> bool:
        return (await self.exec(["test", "-d", path], cwd="/", user="root")).ok

    async def kill_all(self, user: str | None = None) -> None:
        end = [scripts.END_ALL] if user is None else [scripts.END_USER, "sh", user]
        await self._must(["/bin/sh", "-c", *end], "/")

    async def stop(self) -> None:
        if self._staying is not None:
            self._staying.cancel()
        if self._creating is None or self._stopped:
            self._stopped = True
            return
        self._stopped = True
        loop = asyncio.get_running_loop()
        if not self._creating.done():
            await asyncio.to_thread(self._end_by_label)
            await asyncio.wait([self._creating])
        box = None if self._creating.cancelled() or self._creating.exception() else self._creating.result()
        try:
            if box is not None:
                await loop.run_in_executor(None, self._end, box)
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def remains(self) -> Sequence[str]:
        return self._left

    # In threads

    def _create(self) -> HubBox:
        self._namespace = str(self._api.whoami()["name"])
        end_lost(self._api, self._namespace, self._account)
        return HubBox.create(
            self.image,
            flavor=self._flavor,
            idle_timeout=IDLE,
            env=dict(self.spec.env) or None,
            namespace=self._namespace,
            labels={**self._account.labels, SANDBOX: self._id},
            start_timeout=START,
            token=self._account.token,
        )

    def _end_by_label(self) -> None:
        """Of one that still starts, whose number nobody was told."""
        if not self._namespace:
            return
        with suppress(*_FAILED):
            for job in self._api.list_jobs(labels={SANDBOX: self._id}, namespace=self._namespace):
                self._api.cancel_job(job_id=job.id, namespace=self._namespace)

    def _end(self, box: HubBox) -> None:
        last: Exception | None = None
        for _ in range(_TRIES):
            try:
                self._api.cancel_job(job_id=box.id, namespace=self._namespace)
                stage = self._api.inspect_job(job_id=box.id, namespace=self._namespace).status.stage
                self._left = [] if stage in _ENDED else [f"job {box.id}, which is {stage}"]
                box.close()
                return
            except _FAILED as error:
                last = error
        self._left = [f"job {box.id}"]
        box.close()
        raise SandboxError(
            f"The sandbox {box.id} could not be ended: {self._reason(last)}",
            hint=f"It ends by itself after {IDLE // 60} minutes in which nobody calls it.",
        )

    # The rest

    def _started(self) -> HubBox:
        if self._box is None or self._stopped:
            raise SandboxError("The sandbox is not running.")
        return self._box

    async def _stay(self) -> None:
        """Keep it from ending itself while it is wanted."""
        while True:
            await asyncio.sleep(STAY)
            try:
                await self._thread(lambda: self._started().processes(), "It does not answer")
            except SandboxError as error:
                _log.info("A sandbox was called in vain: %s", error.message)

    async def _end_run(
        self, mark: str, working: "asyncio.Future[tuple[int | None, int | None]]"
    ) -> tuple[int | None, int | None]:
        await self._must(["/bin/sh", "-c", scripts.END_RUN, "sh", mark], "/")
        try:
            async with asyncio.timeout(SOON):
                return await asyncio.shield(working)
        except TimeoutError as error:
            raise SandboxError("A command of the sandbox does not end.", hint="Stop the sandbox.") from error
        except _FAILED as error:
            raise SandboxError(f"The sandbox does not answer: {self._reason(error)}") from error

    async def _must(self, argv: Sequence[str], cwd: str) -> str:
        done = await self.exec(argv, cwd=cwd, user="root", timeout=600.0)
        if not done.ok:
            said = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise SandboxError(f"The sandbox could not do {argv[0]}: {said or f'exit code {done.code}'}")
        return done.stdout.decode("utf-8", "replace")

    async def _thread[T](self, work: Callable[[], T], what: str) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except _FAILED as error:
            raise SandboxError(f"{what}: {self._reason(error)}") from error

    def _reason(self, error: BaseException | None) -> str:
        told = str(error) or type(error).__name__
        return told.replace(self._account.token, "[token]")[:500]

    async def _surely[T](self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """To its end, also where whoever waits is cancelled again."""
        running = asyncio.ensure_future(work())
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        return running.result()


def _facts(told: str) -> ImageFacts:
    """Of the image: without what this sandbox's own program and command were told."""
    workdir, _, *lines = told.splitlines()
    env: dict[str, str] = {}
    for line in lines:
        name, is_one, value = line.partition("=")
        if is_one and not name.startswith("SBX_") and name not in ("HOME", "PWD", "OLDPWD", "SHLVL", "_"):
            env[name] = value
    return ImageFacts(env, workdir or "/")
