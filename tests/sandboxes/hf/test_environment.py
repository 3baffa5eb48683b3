"""Harbor's own environment for Hugging Face sandboxes, unmodified, at a local hub that runs their jobs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.sandboxes.local.kind import Local
from tests.localhub.jobs_hub import TOKEN, jobs_hub

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300)]


def test_harbors_environment_runs_and_carries_files(local: Local, tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "in.txt").write_text("sent")
    with jobs_hub(tmp_path, local) as hub:
        env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "home")}
        env.pop("HF_HUB_DISABLE_IMPLICIT_TOKEN", None)
        command = [sys.executable, "-c", _HARBOR, str(tmp_path)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {"code": 3, "out": "/work told\n", "folder": True, "back": "SENT\n"}


_HARBOR = """
import asyncio, json, sys
from pathlib import Path
from harbor.environments.hf_sandbox import HFSandboxEnvironment
from harbor.models.task.config import EnvironmentConfig
from harbor.models.trial.paths import TrialPaths

async def main(folder):
    paths = TrialPaths(folder / "trial")
    paths.mkdir()
    config = EnvironmentConfig(docker_image="python:3.12-slim", workdir="/work")
    made = HFSandboxEnvironment(folder / "task", "task", "session", paths, config)
    await made.start(False)
    try:
        ran = await made.exec("echo $PWD $TOLD; exit 3", env={"TOLD": "told"})
        await made.upload_dir(folder / "up", "/work/up")
        folder_there = await made.is_dir("/work/up")
        await made.exec("tr a-z A-Z < up/in.txt > up/out.txt; echo >> up/out.txt")
        await made.download_dir("/work/up", folder / "back")
    finally:
        await made.stop(True)
    back = (folder / "back" / "out.txt").read_text()
    print(json.dumps({"code": ran.return_code, "out": ran.stdout, "folder": folder_there, "back": back}))

asyncio.run(main(Path(sys.argv[1])))
"""
