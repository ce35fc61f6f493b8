"""Tracing as it is set up: a tracer for the process, or none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from core.app.settings import Settings
from core.domain.tracing import traced_by
from core.safety.masking import masked_call

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_tracing(settings: Settings) -> AsyncIterator[None]:
    """Trace what this process does meanwhile, if an address for spans is set and the extra is here.

    Without either nothing of OpenTelemetry's SDK is imported. Raises ConfigurationError.
    """
    endpoint = settings.traces_endpoint
    if endpoint is None:
        yield
        return
    try:
        from core.adapters.tracing.otel import OtelOptions, open_tracer
    except ImportError as error:
        log.warning("tracing.missing", why=str(error), install="skill-worker[otel]")
        yield
        return
    headers = settings.otel_exporter_otlp_headers
    options = OtelOptions(
        endpoint=endpoint,
        headers=headers.get_secret_value() if headers else "",
        service_name=settings.otel_service_name,
        sampler=settings.otel_traces_sampler,
        ratio=settings.otel_traces_sampler_arg,
        keeps_content=settings.otel_instrumentation_genai_capture_message_content,
        mask=masked_call,
    )
    async with open_tracer(options) as tracer:
        with traced_by(tracer):
            yield
