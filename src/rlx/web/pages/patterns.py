"""`/-/patterns`: every component, with the content it has to hold. What the others test, people look at here."""

from fastapi import Request, Response

from rlx.twins.blocks import block_markdown
from rlx.twins.jsonable import to_json
from rlx.web import samples
from rlx.web.blocks_html import Spot
from rlx.web.respond import View, answer


async def patterns(request: Request) -> Response:
    view = View(
        "patterns.html",
        "/-/patterns",
        {"samples": samples, "spot": Spot(samples.KEY, "regex-log", "p")},
        json=lambda language: {"blocks": to_json(samples.BLOCKS, language)},
        markdown=lambda language: "\n\n".join(block_markdown(block, language) for block in samples.BLOCKS) + "\n",
    )
    return await answer(request, view)
