"""What every handler of one app stands on, and how it reaches it."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request

from rlx.errors import BadInput
from rlx.formats.base import Correctable, Environment
from rlx.ids import EnvKey, check_revision
from rlx.model import Viewer
from rlx.settings import Settings
from rlx.telemetry import span
from rlx.texts import DEFAULT, LANGUAGES
from rlx.twins.parts import Addresses
from rlx.web.facets import parse_filters
from rlx.web.links import Links
from rlx.web.ports import Services
from rlx.web.render import Renderer
from rlx.web.viewer import Doorman

MAX_COLUMN = 500
"""Characters of a column's name."""


@dataclass(frozen=True, slots=True)
class Site:
    services: Services
    renderer: Renderer
    links: Links
    doorman: Doorman

    @property
    def settings(self) -> Settings:
        return self.services.settings

    async def open(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> Environment:
        with span("open"):
            return await self.services.library.open(key, viewer, revision=revision)


def site_of(connection: HTTPConnection) -> Site:
    site: Site = connection.app.state.site
    return site


def viewer_of(request: HTTPConnection) -> Viewer:
    return site_of(request).doorman.viewer(request)


def revision_of(request: HTTPConnection) -> str | None:
    """The revision asked for by `?revision=`; None for the newest. Raises `BadInput`."""
    told = request.query_params.get("revision")
    return check_revision(told) if told else None


def roles_of(request: HTTPConnection) -> Mapping[str, str]:
    """What columns are taken for, by `?roles=role:column;role:column` or `?role.<role>=column`, which a form sends.

    Raises `BadInput`.
    """
    hint = "Roles look like task:prompt;id:uid."
    try:
        told = parse_filters(request.query_params.getlist("roles"))
    except BadInput as error:
        raise BadInput("The roles of columns cannot be read.", hint=hint) from error
    if any(len(columns) > 1 for columns in told.values()):
        raise BadInput("A role is played by one column.", hint=hint)
    chosen = {role: columns[0] for role, columns in told.items()}
    for name, column in request.query_params.items():
        if name.startswith("role."):
            chosen.pop(name.removeprefix("role."), None)
            chosen |= {name.removeprefix("role."): column[:MAX_COLUMN]} if column else {}
    return chosen


async def open_asked(request: Request, key: EnvKey) -> Environment:
    """The environment at the revision asked for, as this visitor may see it, its columns in the roles asked for."""
    opened = await site_of(request).open(key, viewer_of(request), revision_of(request))
    roles = roles_of(request)
    if not roles:
        return opened
    if not isinstance(opened, Correctable):
        raise BadInput(f"{key} has no columns whose roles could be corrected.", hint="Leave `roles` out.")
    return await opened.corrected(roles)


def links_of(request: HTTPConnection) -> Links:
    """Links that stay at the revision asked for, and keep the roles of columns."""
    try:
        return site_of(request).links.at(revision_of(request)).taking(roles_of(request))
    except BadInput:
        return site_of(request).links  # the page that says so leads back to the newest


def base_of(request: Request) -> str:
    """The address that pages of this site begin with, without a slash at its end."""
    return (site_of(request).settings.public_url or str(request.base_url)).rstrip("/")


def addresses_of(request: Request) -> Addresses:
    """Where links of Markdown twins lead: this site, at the revision asked for."""
    return Addresses(base_of(request), links_of(request).revision)


def language_of(request: HTTPConnection) -> str:
    """The language asked for in the URL, else the one chosen before, else the first of the browser's that is ours."""
    for told in (request.query_params.get("lang"), request.cookies.get("lang")):
        if told in LANGUAGES:
            return told
    return _preferred(request.headers.get("accept-language", ""))


def theme_of(request: HTTPConnection) -> str | None:
    """The theme chosen before; None follows the reader's system."""
    told = request.cookies.get("theme")
    return told if told in {"light", "dark"} else None


def _preferred(header: str) -> str:
    """The language of ours that an Accept-Language header weighs most; English when it names none."""
    weights: dict[str, float] = {}
    for part in header[:500].split(","):
        tag, _, weight = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        if language in LANGUAGES:
            weights.setdefault(language, _weight(weight))
    best = max(weights, key=lambda language: weights[language], default=DEFAULT)
    return best if weights.get(best) else DEFAULT


def _weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
