"""What every answer of the API is."""

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Objects may hold more than is promised here."""

    model_config = ConfigDict(extra="allow")
