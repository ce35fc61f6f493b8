"""An OpenTelemetry collector on loopback: takes OTLP over HTTP and decodes it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from core.app.bootstrap.tracing import open_tracing
from core.app.settings import load_settings

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, CALLER = PARENT.split("-")[1:3]
Seen = str | int | float | bool | Sequence[object]


@dataclass(frozen=True)
class SpanSeen:
    """A span as the collector received it; ids are in hex, `parent` is "" for none."""

    name: str
    trace: str
    id: str
    parent: str
    has_failed: bool
    attributes: Mapping[str, Seen]
    service: Seen


@dataclass
class Collector:
    """What has come in; `status` is answered."""

    url: str = ""
    status: int = 200
    bodies: list[bytes] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def spans(self) -> list[SpanSeen]:
        """All spans so far, in the order in which they began."""
        found = []
        for body in self.bodies:
            told = ExportTraceServiceRequest.FromString(body)
            for resource in told.resource_spans:
                service = _attributes(resource.resource.attributes)["service.name"]
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        seen = SpanSeen(
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            span.status.code == 2,
                            _attributes(span.attributes),
                            service,
                        )
                        found.append((span.start_time_unix_nano, len(found), seen))
        return [seen for _, _, seen in sorted(found)]

    def named(self, name: str) -> SpanSeen:
        """Return the one span of that name in the caller's trace, or else of all."""
        found = [span for span in self.spans if span.name == name]
        (span,) = [span for span in found if span.trace == TRACE] or found
        return span

    def tree(self) -> list[tuple[str, str]]:
        """Return each span's name with that of its parent, "caller" for the one that called."""
        names = {CALLER: "caller", "": ""} | {span.id: span.name for span in self.spans}
        return [(span.name, names[span.parent]) for span in self.spans]


def _attributes(pairs: Sequence[object]) -> dict[str, Seen]:
    return {pair.key: _value(pair.value) for pair in pairs}  # type: ignore[attr-defined]


def _value(value: AnyValue) -> Seen:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    found: Seen = getattr(value, str(kind))
    return found


@contextmanager
def collecting() -> Iterator[Collector]:
    """Serve from a thread of its own until the context is left."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append(dict(self.headers))
            if collector.status == 200:
                collector.bodies.append(body)
            self.send_response(collector.status)
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


@asynccontextmanager
async def traced(collector: Collector, **given: object) -> AsyncIterator[None]:
    """Trace what the block does."""
    values = {"otel_exporter_otlp_endpoint": collector.url, **given}
    async with open_tracing(load_settings(values, env_file=None)):  # type: ignore[arg-type]
        yield
