"""The settings of what a worker serves to people, programs and probes."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from core.settings_types import host_names


class ServingSettings(BaseSettings):
    """Where a worker answers, and by which names."""

    health_host: Annotated[str, Field(min_length=1)] = Field(
        default="127.0.0.1",
        description="Address on which `run` answers /healthz, /readyz and /metrics, and with --api"
        " or --console the API.",
        examples=["127.0.0.1"],
    )
    health_port: Annotated[int, Field(ge=0, le=65_535)] | None = Field(
        default=None,
        description="Port for the same; 0 takes a free one. Unset: 8720, or a free one if taken.",
        examples=[8720],
    )
    api_hosts: Annotated[str, AfterValidator(host_names)] | None = Field(
        default=None,
        description="Names, with commas between, that API and console may be called by beside those"
        " of HEALTH_HOST. Unset: none on loopback, any beyond it.",
        examples=["console.example.com"],
    )
