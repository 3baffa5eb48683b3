"""Scheduled Jobs of the Hub, where the installed `huggingface_hub` can make them."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from rlx.errors import BadInput, Forbidden, Upstream


class SchedulingApi(Protocol):
    """The call of `huggingface_hub.HfApi` that is used, with its own names."""

    def create_scheduled_job(
        self,
        *,
        image: str,
        command: list[str],
        schedule: str,
        secrets: dict[str, object] | None = None,
        flavor: str | None = None,
        timeout: str | None = None,
        namespace: str | None = None,
    ) -> object: ...


def create_job(
    command: Sequence[str],
    *,
    image: str,
    schedule: str,
    timeout: str,
    secrets: Mapping[str, str],
    namespace: str | None,
    api: SchedulingApi | None = None,
) -> str:
    """Make a Job that runs `command` by `schedule`; returns its id.

    Raises `BadInput` where the installed client has no scheduled Jobs, `Forbidden` and `Upstream`.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    made = api or HfApi()
    if not hasattr(made, "create_scheduled_job"):
        raise BadInput("The installed huggingface_hub has no scheduled Jobs.", hint="Use the cron line instead.")
    try:
        job = made.create_scheduled_job(
            image=image,
            command=list(command),
            schedule=schedule,
            secrets=dict(secrets),
            flavor="cpu-basic",
            timeout=timeout,
            namespace=namespace,
        )
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else None
        if status in (401, 402, 403):
            raise Forbidden(
                f"The Hub refused to make the Job ({status}).",
                hint="It takes a token that may write Jobs, and an account with credit.",
            ) from error
        raise Upstream(f"The Hub answered {status or 'nothing'} for the Job.", hint="Try again in a minute.") from error
    except (HTTPError, ValueError, TypeError) as error:
        raise Upstream(f"The Job could not be made: {type(error).__name__}.", hint="Try again in a minute.") from error
    return str(getattr(job, "id", "made"))
