"""What machines ask for: health, robots, the site map, and the pages' description for models."""

from xml.sax.saxutils import escape

from fastapi import Request, Response

from rlx.answers.shown import Json
from rlx.model import ANONYMOUS, EnvQuery
from rlx.texts import say, words
from rlx.web.catalog_status import status_json
from rlx.web.respond import cached, to_bytes
from rlx.web.site import base_of, language_of, site_of, viewer_of

_MAX_URLS = 50_000
_AT_ONCE = 1_000


async def ready(request: Request) -> Response:
    """200 once the catalog can be searched, 503 before; and which catalog that is."""
    status = site_of(request).services.catalog.status()
    is_ready = status.source != "none"
    told: dict[str, Json] = {"ready": is_ready, "catalog": status_json(status)}
    return Response(to_bytes(told), 200 if is_ready else 503, {"cache-control": "no-store"}, "application/json")


async def health(request: Request) -> Response:
    return Response(b'{"ok": true}', 200, {"cache-control": "no-store"}, "application/json")


async def robots(request: Request) -> Response:
    rules = "User-agent: *\nDisallow: /raw/\nDisallow: /api/\nDisallow: /login\nDisallow: /random\n"
    text = f"{rules}Allow: /\n\nSitemap: {base_of(request)}/sitemap.xml\n"
    return cached(request, Response(text, media_type="text/plain"), viewer_of(request))


async def sitemap(request: Request) -> Response:
    """Every environment anybody may see."""
    site = site_of(request)
    urls = [site.links.explore(), site.links.tasks()]
    ours = len(urls)
    while len(urls) < _MAX_URLS:
        query = EnvQuery(sort="name", offset=len(urls) - ours, limit=_AT_ONCE)
        page = await site.services.catalog.search(query, ANONYMOUS)
        urls += [site.links.env(card.key) for card in page.items]
        if not page.items:
            break
    base = base_of(request)
    lines = "".join(f"<url><loc>{escape(base + url)}</loc></url>\n" for url in urls[:_MAX_URLS])
    xml = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    return cached(request, Response(xml, media_type="application/xml"), viewer_of(request))


async def llms(request: Request) -> Response:
    text = words(say("web.llms", base=base_of(request)), language_of(request))
    return cached(request, Response(text, media_type="text/plain"), viewer_of(request))
