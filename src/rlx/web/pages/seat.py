"""`/run/<id>/seat`: a terminal in the sandbox of a task, for the person who works there in an agent's place."""

from fastapi import Request, Response

from rlx.agents.registry import HUMAN
from rlx.errors import NotFound
from rlx.ids import parse_key
from rlx.twins.run import masked, run_record
from rlx.web.respond import View, answer
from rlx.web.rollouts import blocking, known_id, named_viewer, rollouts_of
from rlx.web.site import links_of


async def seat(request: Request, id: str) -> Response:
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    rollout = masked(await blocking(lambda: rollouts.views.own(known_id(id), viewer)))
    if rollout.agent != HUMAN:
        raise NotFound("Nobody sits at this rollout: an agent works there.", hint=f"/run/{id} shows it.")
    links, command = links_of(request), f"rlx run shell {rollout.id}"
    view = View(
        "seat.html",
        links.seat(id),
        {"run": rollout, "key": parse_key(rollout.env), "command": command},
        json=lambda language: {**run_record(rollout, url=links.run(id)), "command": command},
        markdown=lambda language: f"# {rollout.title}\n\n    {command}\n",
        private=True,
    )
    return await answer(request, view)
