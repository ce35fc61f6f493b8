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
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

SHUTDOWN_SECONDS = 5
# For callers that open connections and never send a call: of these so many, for so long. Together
# with the calls under way they stay below the 1,024 open files that a process usually may have.
MOST_SILENT, SILENT_SECONDS = 128, 10.0
# So many are accepted at once, and so many more wait in the kernel: who finds no room there tries
# again only after a second.
AT_ONCE, BACKLOG = 64, 1024


@asynccontextmanager
async def run_server(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    websockets: bool = False,
    most_silent: int = MOST_SILENT,
    silent_seconds: float = SILENT_SECONDS,
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
            http=_careful_protocol(
                most_silent, silent_seconds
            ),  # h11 limits the size of a request's head, httptools does not
            backlog=AT_ONCE,
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
                listener.listen(BACKLOG)  # asyncio has set it to what it accepts at once
                yield _url(listener)
        finally:
            waiting.cancel()
            server.should_exit = True
            await serving


class _Silent:
    """The connections of a server that wait for a call, in the order in which they came to.

    The one that has waited longest makes room for a new one beyond `most`, and none waits for the
    whole head of its next call longer than `seconds`, however slowly it comes.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._timers: dict[asyncio.Transport, asyncio.TimerHandle] = {}

    def add(self, transport: asyncio.Transport) -> None:
        self.remove(transport)
        if len(self._timers) >= self._most:
            longest = next(iter(self._timers))
            self.remove(longest)
            longest.close()
        loop = asyncio.get_running_loop()
        self._timers[transport] = loop.call_later(self._seconds, transport.close)

    def remove(self, transport: asyncio.Transport) -> None:
        timer = self._timers.pop(transport, None)
        if timer is not None:
            timer.cancel()


def _careful_protocol(most: int, seconds: float) -> type[asyncio.Protocol]:
    """Return the protocol of one server's connections, which are watched by a `_Silent`.

    A call that was answered before its body was complete is over: the rest may not last.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent = _Silent(most, seconds)

    class Careful(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            silent.add(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_at_work() or self.transport.get_protocol() is not self:
                silent.remove(self.transport)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self._is_at_work():  # else the next call had been read already
                silent.add(self.transport)

        def connection_lost(self, exc: Exception | None) -> None:
            silent.remove(self.transport)
            super().connection_lost(exc)

        def _is_at_work(self) -> bool:
            cycle: RequestResponseCycle | None = self.cycle  # of the last call, if there was one
            return cycle is not None and not cycle.response_complete

    return Careful


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named explicitly, since asyncio sets TCP_NODELAY only then: without it a call takes 40 ms
    # (delayed ACK).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
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
