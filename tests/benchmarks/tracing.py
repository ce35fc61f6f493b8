"""CPU time of a piece of feedback that is traced, against one that is not."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from core.app.bootstrap.tracing import open_tracing
from core.app.program import App
from core.app.settings import Settings
from core.domain import tracing
from tests.benchmarks.table import Figure
from tests.benchmarks.world import TwoTurnModel, drain, opened, pieces, settings

BATCH = 100
ROUNDS = 5
SPANS = 100_000
# In a process of its own: what a collector does is not the worker's.
_COLLECTOR = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args): pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


async def measure() -> list[Figure]:
    """Measure batches without and with tracing in turn, in one process; medians of milliseconds."""
    with _collector() as url:
        async with opened(TwoTurnModel()) as app:
            plain, traced, told = [], [], []
            for number in range(ROUNDS + 1):
                plain.append(await _batch(app, 3 * number))
                for times, content in ((traced, False), (told, True)):
                    at = 3 * number + 1 + content
                    async with open_tracing(_traced(url, content=content)):
                        times.append(await _batch(app, at))
    off, on, full = (median(times[1:]) for times in (plain, traced, told))
    return [
        Figure(
            "CPU per feedback, traced",
            f"{on * 1000:.1f} ms",
            f"not traced: {off * 1000:.1f} ms, with content: {full * 1000:.1f} ms",
            on / off,
            at_most=1.1,
        ),
        Figure("a span where nothing is traced", f"{_idle() * 1e6:.1f} µs", ""),
    ]


def _traced(url: str, *, content: bool) -> Settings:
    return settings(
        Path(tempfile.gettempdir()),
        otel_exporter_otlp_endpoint=url,
        otel_instrumentation_genai_capture_message_content=content,
    )


async def _batch(app: App, number: int) -> float:
    await app.stores.inbox.add("bench", pieces(BATCH, number * BATCH))
    begun = time.process_time()
    await drain(app, 1)
    return (time.process_time() - begun) / BATCH


def _idle() -> float:
    begun = time.process_time()
    for _ in range(SPANS):
        with tracing.tool("commit_to_memory", "call-1"):
            tracing.note({"skill_worker.receipt.status": "applied"})
    return (time.process_time() - begun) / SPANS


@contextmanager
def _collector() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", _COLLECTOR], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()
