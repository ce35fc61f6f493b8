"""Serves an ASGI app on a loopback port from the running event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from core.domain.errors import ConfigurationError
from core.domain.messages import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 5


@asynccontextmanager
async def run_server(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, websockets: bool = False
) -> AsyncIterator[str]:
    """Serve `app` while the context is open; yields its base URL once it answers.

    Port 0 takes a free one. Websockets are refused unless requested. Signals are left to the
    caller. Raises ConfigurationError if the address is taken or the app does not start.
    """
    import uvicorn

    ready = asyncio.Event()

    class Server(uvicorn.Server):
        # uvicorn would handle SIGINT and SIGTERM itself, which are the worker's.
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            try:
                await super().startup(sockets)
            except SystemExit as error:
                # uvicorn exits the process; here it is one part of a larger one.
                raise ConfigurationError(Message("serve.not_started")) from error
            ready.set()

    with _listen(host, port) as listener:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            http="h11",  # h11 limits the size of a request's head; httptools does not
            ws="auto" if websockets else "none",
            headers=[("X-Content-Type-Options", "nosniff")],  # no content sniffing
            proxy_headers=False,  # X-Forwarded-* headers are the caller's claim
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        server = Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if ready.is_set():
                yield _url(listener)
        finally:
            waiting.cancel()
            server.should_exit = True
            await serving


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named explicitly, since asyncio sets TCP_NODELAY only then: without it a call takes 40 ms
    # (delayed ACK).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigurationError(
            Message("serve.no_port", host=host, port=port, why=error),
            hint=Message("serve.hint_port"),
        ) from error
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
