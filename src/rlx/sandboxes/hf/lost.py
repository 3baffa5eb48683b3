"""Ends sandboxes of an account whose worker is gone. Nothing here but their labels tells of them."""

import logging
from typing import Final

import httpx2
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.sandboxes.hf.kind import Account

_log = logging.getLogger(__name__)

HOST: Final = "rlx-host"
WORKER: Final = "rlx-worker"
ROLLOUT: Final = "rlx-rollout"
SANDBOX: Final = "rlx-sandbox"


def end_lost(api: HfApi, namespace: str, account: Account) -> int:
    """End what workers of this host left that are gone, and earlier tries at the same rollout. How many. Blocks."""
    if not account.host:
        return 0
    living, ended = set(account.living()), 0
    try:
        for job in api.list_jobs(status="RUNNING", labels={HOST: account.host}, namespace=namespace):
            labels = job.labels or {}
            again = labels.get(ROLLOUT) == account.labels.get(ROLLOUT) and labels.get(WORKER) != account.labels[WORKER]
            if again or labels.get(WORKER) not in living:
                api.cancel_job(job_id=job.id, namespace=namespace)
                ended += 1
    except (HfHubHTTPError, httpx2.HTTPError) as error:
        _log.warning("Lost sandboxes could not be ended: %s", type(error).__name__)
    return ended
