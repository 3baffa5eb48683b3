"""The API of how an environment is used."""

from fastapi import Request, Response

from rlx.ids import check_ref
from rlx.publish.snippets.base import Choices
from rlx.publish.snippets.told import use_json
from rlx.texts import DEFAULT
from rlx.web.api.envs import Key
from rlx.web.pages.use import SANDBOXES, Config, ForTask, Framework, Model, Sandbox, uses_of
from rlx.web.respond import reply
from rlx.web.site import open_asked, revision_of, site_of, viewer_of


async def snippets(
    request: Request,
    key: Key,
    framework: Framework = "",
    config: Config = "",
    task: ForTask = "",
    model: Model = "",
    sandbox: Sandbox = SANDBOXES[0],
) -> Response:
    """The frameworks that its files support, with evidence, and the commands that use it, pinned to the revision."""
    ref = await (await open_asked(request, key)).canonical(check_ref(task)) if task else None
    repo = await site_of(request).services.library.repo(key, viewer_of(request), revision_of(request))
    choices = Choices(framework or None, config or None, ref, model or None, sandbox)
    found, made = await uses_of(request).of(repo, choices)
    return reply(request, use_json(key, repo.info, found, made, DEFAULT))
