"""Every page of the site. Adding one is a module, a template and a line in `PAGES`."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from rlx.web.assets import static
from rlx.web.pages import (
    account,
    comparison,
    environment,
    explore,
    files,
    images,
    machinery,
    models,
    pair,
    patterns,
    preferences,
    publish,
    raw,
    reading,
    revisions,
    run,
    runs,
    seat,
    task,
    tasks,
    use,
    worklist,
)

type Handler = Callable[..., Coroutine[Any, Any, Response]]

_READ = ("GET", "HEAD")
_WRITE = ("POST",)


@dataclass(frozen=True, slots=True)
class PageRoute:
    path: str
    handler: Handler
    methods: tuple[str, ...] = _READ


PAGES = (
    PageRoute("/", explore.explore),
    PageRoute("/tasks", tasks.tasks),
    PageRoute("/runs", runs.runs),
    PageRoute("/run/{id}", run.run),
    PageRoute("/run/{id}/seat", seat.seat),
    PageRoute("/models", models.models),
    PageRoute("/models", models.try_endpoint, _WRITE),
    PageRoute("/worklist", worklist.worklist),
    PageRoute("/random", explore.random_task),
    PageRoute("/envs", comparison.comparison),
    PageRoute("/d/{org}/{name}", environment.environment),
    PageRoute("/d/{org}/{name}/card", environment.card),
    PageRoute("/d/{org}/{name}/random", environment.random_of),
    PageRoute("/d/{org}/{name}/pair", pair.pair),
    PageRoute("/d/{org}/{name}/progress", reading.progress),
    PageRoute("/d/{org}/{name}/revisions", revisions.revisions),
    PageRoute("/d/{org}/{name}/use", use.use),
    PageRoute("/d/{org}/{name}/tags", publish.tags),
    PageRoute("/d/{org}/{name}/tags", publish.send_tags, _WRITE),
    PageRoute("/d/{org}/{name}/report", publish.report),
    PageRoute("/d/{org}/{name}/report", publish.send_report, _WRITE),
    PageRoute("/d/{org}/{name}/files", files.repository_file),
    PageRoute("/d/{org}/{name}/files/{path:path}", files.repository_file),
    PageRoute("/s/{org}/{name}", environment.environment),
    PageRoute("/s/{org}/{name}/card", environment.card),
    PageRoute("/s/{org}/{name}/random", environment.random_of),
    PageRoute("/s/{org}/{name}/pair", pair.pair),
    PageRoute("/s/{org}/{name}/progress", reading.progress),
    PageRoute("/s/{org}/{name}/revisions", revisions.revisions),
    PageRoute("/s/{org}/{name}/use", use.use),
    PageRoute("/s/{org}/{name}/tags", publish.tags),
    PageRoute("/s/{org}/{name}/tags", publish.send_tags, _WRITE),
    PageRoute("/s/{org}/{name}/report", publish.report),
    PageRoute("/s/{org}/{name}/report", publish.send_report, _WRITE),
    PageRoute("/s/{org}/{name}/files", files.repository_file),
    PageRoute("/s/{org}/{name}/files/{path:path}", files.repository_file),
    PageRoute("/t/{org}/{name}", task.task),
    PageRoute("/t/{org}/{name}/{ref:path}", task.task),
    PageRoute("/s/{org}/{name}/t", task.task),
    PageRoute("/s/{org}/{name}/t/{ref:path}", task.task),
    PageRoute("/raw/d/{org}/{name}/files/{path:path}", raw.raw_file),
    PageRoute("/raw/s/{org}/{name}/files/{path:path}", raw.raw_file),
    PageRoute("/raw/t/{org}/{name}", raw.raw_task_file),
    PageRoute("/raw/t/{org}/{name}/{ref:path}", raw.raw_task_file),
    PageRoute("/raw/s/{org}/{name}/t", raw.raw_task_file),
    PageRoute("/raw/s/{org}/{name}/t/{ref:path}", raw.raw_task_file),
    PageRoute("/login", account.login_page),
    PageRoute("/login", account.login, _WRITE),
    PageRoute("/logout", account.logout, _WRITE),
    PageRoute("/readyz", machinery.ready),
    PageRoute("/-/healthz", machinery.health),
    PageRoute("/-/patterns", patterns.patterns),
    PageRoute("/-/image", images.image),
    PageRoute("/-/banner", explore.close_banner, _WRITE),
    PageRoute("/-/theme", preferences.theme, _WRITE),
    PageRoute("/robots.txt", machinery.robots),
    PageRoute("/sitemap.xml", machinery.sitemap),
    PageRoute("/llms.txt", machinery.llms),
    PageRoute("/static/{build}/{name}", static),
)
