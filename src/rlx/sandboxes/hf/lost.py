"""Ends sandboxes of an account whose worker is gone. Nothing here but their labels tells of them."""

import logging
from typing import Final

import httpx2
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.sandboxes.hf.kind import Account

_log = logging.getLogger(__name__)

HOST: Final = "rlx-host"
"""Names a machine and its store, among all whose sandboxes run on an account."""
WORKER: Final = "rlx-worker"
ROLLOUT: Final = "rlx-rollout"
SANDBOX: Final = "rlx-sandbox"


def end_lost(api: HfApi, namespace: str, account: Account) -> int:
    """End what workers of this host left that are gone. How many. Blocks."""
    host, ended = account.labels.get(HOST), 0
    if host is None:
        return 0
    try:
        for job in api.list_jobs(status="RUNNING", labels={HOST: host}, namespace=namespace):
            if not account.is_alive((job.labels or {}).get(WORKER, "")):
                api.cancel_job(job_id=job.id, namespace=namespace)
                ended += 1
    except (HfHubHTTPError, httpx2.HTTPError) as error:
        _log.warning("Lost sandboxes could not be ended: %s", type(error).__name__)
    return ended
