"""Every route of the API. Adding one is a function and a line in `API_ROUTES`."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from rlx.web import seats
from rlx.web.api import envs, models, runs, schemas, search, site, uses
from rlx.web.api.schemas_use import SnippetsAnswer

type Handler = Callable[..., Coroutine[Any, Any, Response]]


@dataclass(frozen=True, slots=True)
class ApiRoute:
    path: str
    handler: Handler
    answer: type[schemas.Shape] | None
    """The shape of a 200; None where it is no JSON."""
    methods: tuple[str, ...] = ("GET",)
    status: int = 200
    """Of an answer to a request that was met."""


_ENV = (
    ApiRoute("", envs.env, schemas.EnvAnswer),
    ApiRoute("/tasks", envs.tasks, schemas.TaskListAnswer),
    ApiRoute("/task", envs.task, schemas.TaskAnswer),
    ApiRoute("/file", envs.file, schemas.FileAnswer),
    ApiRoute("/folder", envs.folder, schemas.FolderAnswer),
    ApiRoute("/raw", envs.raw, None),
    ApiRoute("/health", envs.health, schemas.HealthAnswer),
    ApiRoute("/snippets", uses.snippets, SnippetsAnswer),
    ApiRoute("/random", envs.random, schemas.RandomAnswer),
    ApiRoute("/revisions", envs.revisions, schemas.RevisionsAnswer),
    ApiRoute("/progress", envs.progress, None),
)

_RUN = (
    ApiRoute("", runs.run, schemas.RunPageAnswer),
    ApiRoute("/events", runs.events, schemas.EventsAnswer),
    ApiRoute("/cancel", runs.cancel, schemas.RunAnswer, ("POST",)),
    ApiRoute("/grade", seats.grade, schemas.RunAnswer, ("POST",)),
    ApiRoute("/visibility", runs.visibility, schemas.RunAnswer, ("POST",)),
    ApiRoute("/artifacts/{name:path}", runs.artifact, None),
    ApiRoute("/export", runs.export_one, None),
)

API_ROUTES = (
    ApiRoute("/api/runs", runs.runs, schemas.RunListAnswer),
    ApiRoute("/api/runs", runs.start, schemas.RunAnswer, ("POST",), 201),
    ApiRoute("/api/runs/export", runs.export, None),
    ApiRoute("/api/runs/estimate", models.estimate, schemas.EstimateAnswer),
    *(ApiRoute(f"/api/runs/{{id}}{route.path}", route.handler, route.answer, route.methods) for route in _RUN),
    ApiRoute("/api/models", models.models, schemas.ModelListAnswer),
    ApiRoute("/api/endpoints/models", models.endpoint_models, schemas.EndpointModelsAnswer, ("POST",)),
    ApiRoute("/api/endpoints/test", models.endpoint_test, schemas.EndpointTestAnswer, ("POST",)),
    ApiRoute("/api/search", search.environments, schemas.EnvListAnswer),
    ApiRoute("/api/search/tasks", search.tasks, schemas.TaskHitListAnswer),
    ApiRoute("/api/search/rank", search.rank, schemas.RankAnswer),
    ApiRoute("/api/search/status", search.status, schemas.CatalogStatusAnswer),
    ApiRoute("/api/random", site.random, schemas.RandomAnswer),
    ApiRoute("/api/me", site.me, schemas.MeAnswer),
    *(
        ApiRoute(f"/api/{kind}/{{org}}/{{name}}{route.path}", route.handler, route.answer)
        for kind in ("env", "space")
        for route in _ENV
    ),
)
