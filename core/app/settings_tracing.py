"""The settings of tracing, under the standard names of OpenTelemetry, as the SDK reads them too."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from core.app.settings_groups import OFF, ON, Text, Url, flag
from core.domain.messages import Message

TRACES = "/v1/traces"
# As instrumentations for generative AI take it: `true` of the older ones, the others of the later.
_KEPT = ON | {"span_only", "span_and_event"}
_NOT_KEPT = OFF | {"no_content", "event_only"}


def keeps_content(value: object) -> bool:
    """Whether spans have what was said. Raises ValueError for a word that nobody knows."""
    word = str(value).strip().lower()
    if word not in _KEPT | _NOT_KEPT:
        raise ValueError(Message("settings.no_capture"))
    return word in _KEPT


def sampler_name(value: object) -> object:
    """Return the name of a sampler in lower case."""
    return value.strip().lower() if isinstance(value, str) else value


def base_url(value: str) -> str:
    """Return the base address of a collector; a user may have written the path of traces."""
    return value.removesuffix(TRACES)


class TracingSettings(BaseSettings):
    """Whether spans are sent, where to and which. What else OTEL_* says the SDK reads itself."""

    otel_exporter_otlp_endpoint: Annotated[Url, AfterValidator(base_url)] | None = Field(
        default=None,
        description="Base address of an OpenTelemetry collector (OTLP over HTTP) that spans are"
        " sent to, with the extra `otel`. Unset: nothing is traced.",
        examples=["http://localhost:4318"],
    )
    otel_exporter_otlp_traces_endpoint: Url | None = Field(
        default=None,
        description="Whole address for spans, in place of OTEL_EXPORTER_OTLP_ENDPOINT with"
        " `/v1/traces`.",
        examples=["http://localhost:4318/v1/traces"],
    )
    otel_exporter_otlp_headers: SecretStr | None = Field(
        default=None,
        description="Headers of each call to the collector: `name=value`, with commas between.",
        examples=["authorization=Bearer%20s3cret"],
    )
    otel_exporter_otlp_protocol: Literal["http/protobuf"] = Field(
        default="http/protobuf",
        description="Protocol of the collector. There is one; collectors that take another take it"
        " too, on port 4318.",
        examples=["http/protobuf"],
    )
    otel_service_name: Text | None = Field(
        default=None,
        description="Name of this service in traces. Unset: that of OTEL_RESOURCE_ATTRIBUTES, else"
        " skill-worker.",
        examples=["skill-worker"],
    )
    otel_traces_sampler: Annotated[
        Literal[
            "always_on",
            "always_off",
            "traceidratio",
            "parentbased_always_on",
            "parentbased_always_off",
            "parentbased_traceidratio",
        ],
        BeforeValidator(sampler_name),
    ] = Field(
        default="parentbased_always_on",
        description="Which traces are kept. With `parentbased_` a caller that sends a trace context"
        " decides for its own.",
        examples=["parentbased_traceidratio"],
    )
    otel_traces_sampler_arg: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        default=1,
        description="Share of the traces that `traceidratio` keeps.",
        examples=[0.1],
    )
    otel_sdk_disabled: Annotated[bool, BeforeValidator(flag)] = Field(
        default=False,
        description="Switch tracing off, whatever else is set.",
        examples=["true"],
    )
    otel_instrumentation_genai_capture_message_content: Annotated[
        bool, BeforeValidator(keeps_content)
    ] = Field(
        default=False,
        description="Put what people and models said into spans, without secrets: `true` or"
        " `span_only`.",
        examples=["true"],
    )

    @property
    def traces_endpoint(self) -> str | None:
        """Where spans are sent, None where nothing is traced."""
        if self.otel_sdk_disabled:
            return None
        base = self.otel_exporter_otlp_endpoint
        return self.otel_exporter_otlp_traces_endpoint or (f"{base}{TRACES}" if base else None)
