"""The shapes of what is told of models and endpoints."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rlx.web.api.shape import Shape


class ModelProviderAnswer(Shape):
    provider: str
    tools: bool | None
    context: int | None
    dollars_in: float | None
    dollars_out: float | None


class ModelAnswer(Shape):
    id: str
    tools: bool | None
    context: int | None
    inputs: list[str]
    providers: list[ModelProviderAnswer]
    cheapest: str | None


class ModelListAnswer(Shape):
    models: list[ModelAnswer]
    total: int
    offset: int
    page: int


class EndpointRequest(BaseModel):
    """An endpoint to try. The key is used for this once."""

    model_config = ConfigDict(extra="forbid")

    base_url: str = Field(max_length=500)
    model: str = Field(default="", max_length=200)
    api_key: str | None = Field(default=None, max_length=1000, repr=False)


class EndpointModelsAnswer(Shape):
    models: list[str]


class EndpointTestAnswer(Shape):
    verdict: str
    works: bool
    said: list[str]
    detail: str | None
    streams: bool | None
    usage: bool | None


class EstimateAnswer(Shape):
    """What a rollout will cost. What is not known is null."""

    tokens_in: int | None
    tokens_out: int | None
    dollars: float | None
    at_most: bool
    like: Literal["task", "environment", "agent"] | None
    rollouts: int
    said: str | None
