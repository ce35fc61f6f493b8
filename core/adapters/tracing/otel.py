"""A tracer that sends spans to an OpenTelemetry collector, beside the work and never in its way."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
import structlog
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    ParentBased,
    Sampler,
    TraceIdRatioBased,
)
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers
from pydantic import JsonValue

from core import __version__
from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.http_origin import is_loopback
from core.domain.messages import Message
from core.domain.models import TraceContext
from core.domain.ports.tracing import Attributes, Value
from core.domain.text import compact

log = structlog.get_logger(__name__)

NAME = "skill-worker"
CLOSE_SECONDS = (
    2.0  # what is not sent by then is lost: a worker's end does not wait for a collector
)
LEAVE_SECONDS = 0.5
_LIBRARY = logging.getLogger("opentelemetry")
_PROPAGATOR = TraceContextTextMapPropagator()
_FULL = "Queue full"


@dataclass(frozen=True, kw_only=True)
class OtelOptions:
    """Where spans go, under which name, and which; `mask` takes secrets out of content."""

    endpoint: str
    headers: str = field(default="", repr=False)
    service_name: str | None = None
    sampler: str = "parentbased_always_on"
    ratio: float = 1.0
    keeps_content: bool = False
    mask: Callable[[JsonValue], JsonValue]


@asynccontextmanager
async def open_tracer(options: OtelOptions) -> AsyncIterator[OtelTracer]:
    """Yield a tracer; what is left is sent at the end. Raises ConfigurationError."""
    troubles = _Troubles()
    with troubles.heard():
        exporter = _Told(_exporter(options), troubles)
        processor = BatchSpanProcessor(exporter)
        # Not the global provider: other libraries' spans, with content of their own, stay out.
        provider = TracerProvider(
            sampler=_sampler(options), resource=_resource(options), shutdown_on_exit=False
        )
        provider.add_span_processor(processor)
        troubles.begins = False
        try:
            yield OtelTracer(provider.get_tracer(NAME, __version__), options)
        finally:
            await _close(processor, exporter, troubles)


async def _close(processor: BatchSpanProcessor, exporter: _Told, troubles: _Troubles) -> None:
    """Send what is left, for as long as there is time.

    In a thread that the end of the process does not wait for: the SDK tries for half a minute.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def send() -> None:
        processor.shutdown()  # type: ignore[no-untyped-call]
        with suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=send, name="last spans", daemon=True).start()
    if not await _comes(ended, CLOSE_SECONDS):
        troubles.tell("the collector took too long at the end")
        exporter.shutdown()  # which cuts the wait before its next try
        await _comes(ended, LEAVE_SECONDS)


async def _comes(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


class OtelTracer:
    """The port `Tracer` over the SDK; its spans are the current ones of OpenTelemetry's context."""

    def __init__(self, tracer: trace.Tracer, options: OtelOptions) -> None:
        self._tracer = tracer
        self._keeps_content = options.keeps_content
        self._mask = options.mask

    @contextmanager
    def span(self, name: str, attributes: Attributes, *, is_call: bool) -> Iterator[None]:
        kind = SpanKind.CLIENT if is_call else SpanKind.INTERNAL
        span = self._tracer.start_span(_plain(name), kind=kind, attributes=_given(attributes))
        token = otel_context.attach(trace.set_span_in_context(span))
        try:
            yield
        except BaseException as error:
            _fail(span, _type_of(error))
            raise
        finally:
            otel_context.detach(token)
            span.end()

    @contextmanager
    def under(self, context: TraceContext) -> Iterator[None]:
        token = otel_context.attach(_PROPAGATOR.extract(context.model_dump()))
        try:
            yield
        finally:
            otel_context.detach(token)

    def context(self) -> TraceContext | None:
        here = trace.get_current_span().get_span_context()
        if not here.is_valid:
            return None
        ids = f"{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"
        return TraceContext(traceparent=f"00-{ids}", tracestate=here.trace_state.to_header())

    def note(self, attributes: Attributes) -> None:
        trace.get_current_span().set_attributes(_given(attributes))

    def fail(self, error_type: str) -> None:
        _fail(trace.get_current_span(), error_type)

    def content(self, name: str, make: Callable[[], JsonValue]) -> None:
        span = trace.get_current_span()
        if not (self._keeps_content and span.is_recording()):
            return
        try:
            said = self._mask(make())
            span.set_attribute(name, _plain(said if isinstance(said, str) else compact(said)))
        except Exception:  # what cannot be shown in a trace must not end the work
            log.exception("tracing.broke", attribute=name)


def _fail(span: trace.Span, error_type: str) -> None:
    # No description, and no exception as an event: their words quote what was worked on.
    span.set_attribute("error.type", _plain(error_type))
    span.set_status(StatusCode.ERROR)


def _type_of(error: BaseException) -> str:
    if isinstance(error, SkillWorkerError):
        return error.kind
    return "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__qualname__


def _given(attributes: Attributes) -> dict[str, Value]:
    return {name: _clean(value) for name, value in attributes.items() if value is not None}


def _clean(value: Value) -> Value:
    if isinstance(value, str):
        return _plain(value)
    return value if isinstance(value, int | float) else [_plain(part) for part in value]


def _plain(text: str) -> str:
    """Return a text that can be sent: one lone surrogate would lose its whole batch."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _sampler(options: OtelOptions) -> Sampler:
    name = options.sampler.removeprefix("parentbased_")
    plain = {"always_on": ALWAYS_ON, "always_off": ALWAYS_OFF}.get(name)
    chosen = TraceIdRatioBased(options.ratio) if plain is None else plain
    return chosen if name == options.sampler else ParentBased(chosen)


def _resource(options: OtelOptions) -> Resource:
    found = Resource.create({SERVICE_VERSION: __version__})  # with OTEL_RESOURCE_ATTRIBUTES
    given = options.service_name
    if given is None and str(found.attributes[SERVICE_NAME]).startswith("unknown_service"):
        given = NAME
    return found.merge(Resource({SERVICE_NAME: given})) if given else found


def _exporter(options: OtelOptions) -> OTLPSpanExporter:
    """Build what sends, over no proxy on this machine. Raises ConfigurationError."""
    session = requests.Session()
    session.trust_env = not is_loopback(urlsplit(options.endpoint).hostname or "")
    try:
        headers: Mapping[str, str] = parse_env_headers(options.headers, liberal=True)
        return OTLPSpanExporter(options.endpoint, headers=headers, session=session)
    except (ValueError, OSError) as error:  # of a variable that the SDK reads itself
        raise ConfigurationError(
            Message("tracing.refused", why=error), hint=Message("tracing.hint_variables")
        ) from error


class _Told(SpanExporter):
    """Passes spans on, and tells how that went."""

    def __init__(self, inner: SpanExporter, troubles: _Troubles) -> None:
        self._inner, self._troubles = inner, troubles
        self._is_closed = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._is_closed:
            return SpanExportResult.FAILURE
        result = self._inner.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._troubles.over()
        return result

    def shutdown(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._inner.shutdown()


class _Troubles(logging.Handler):
    """Hears what the SDK logs, and says once that a collector takes no spans, and once it does.

    While it `begins` each line is about a variable that the SDK cannot read.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.begins = True
        self._failing = False
        self._was_full = False

    def emit(self, record: logging.LogRecord) -> None:
        if self.begins:
            log.warning("tracing.ignored", why=record.getMessage())
        elif record.getMessage().startswith(_FULL):
            if not self._was_full:
                log.warning("tracing.overrun")
            self._was_full = True
        else:
            self.tell(record.getMessage())

    def tell(self, why: str) -> None:
        """Say that spans are not taken, unless that is known."""
        if not self._failing:
            log.warning("tracing.failed", why=why)
        self._failing = True

    def over(self) -> None:
        """Note that spans were taken."""
        if self._failing:
            log.info("tracing.resumed")
        self._failing = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Take what the SDK logs, in place of the log, while the block runs."""
        before = _LIBRARY.propagate
        _LIBRARY.propagate = False
        _LIBRARY.addHandler(self)
        try:
            yield
        finally:
            _LIBRARY.removeHandler(self)
            _LIBRARY.propagate = before
