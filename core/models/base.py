"""The base of all models: frozen, and closed to unknown fields."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value; unknown fields are an error, so that a typing error is never data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
