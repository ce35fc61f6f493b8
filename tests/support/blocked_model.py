"""A model over HTTP, in a thread of this process, that answers only once allowed to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_NOTHING = json.dumps({"reason": "thanks", "category": "noise"})
_CALL = {"id": "c1", "type": "function", "function": {"name": "no_action", "arguments": _NOTHING}}
_ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "held",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            }
        ],
        "usage": {"prompt_tokens": 70, "completion_tokens": 5, "total_tokens": 75},
    }
).encode()


class BlockedModel(ThreadingHTTPServer):
    """Set `goes_on` to let it answer, always that there is nothing to learn."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.goes_on = threading.Event()
        self.asked = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: BlockedModel

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.set()
        self.server.goes_on.wait(60)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base
        """Log nothing."""


@contextmanager
def blocked_model() -> Iterator[BlockedModel]:
    """Serve a blocked model meanwhile."""
    with BlockedModel() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.goes_on.set()
            server.shutdown()
            thread.join()
