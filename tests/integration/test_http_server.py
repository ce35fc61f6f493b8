"""What the embedded server passes on to an app, and which headers it trusts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from core.adapters.embedded.http_server import run_server
from tests.support.waiting import SOON


async def _scheme(request: Request) -> PlainTextResponse:
    client = request.client.host if request.client else ""
    return PlainTextResponse(f"{request.url.scheme} {client}")


async def _accept(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


APP = Starlette(routes=[Route("/", _scheme), WebSocketRoute("/ws", _accept)])


async def upgraded(url: str) -> str:
    """Request a websocket; return the status line."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(
        f"GET /ws HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    line = await reader.readline()
    writer.close()
    return line.decode()


@pytest.mark.parametrize(("websockets", "expected"), [(True, "101"), (False, "404")])
async def test_websockets_are_let_in_where_they_are_asked_for(
    websockets: bool, expected: str
) -> None:
    async with run_server(APP, websockets=websockets) as url:
        assert expected in await upgraded(url)


async def test_what_a_caller_says_of_where_it_comes_from_is_not_believed() -> None:
    said = {"x-forwarded-proto": "https", "x-forwarded-for": "10.1.2.3"}
    async with run_server(APP) as url, httpx.AsyncClient() as client:
        assert (await client.get(url, headers=said)).text == "http 127.0.0.1"


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(url: str, said: bytes) -> AsyncIterator[Connection]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(said)
    try:
        yield reader, writer
    finally:
        writer.close()


HEAD = b"Host: localhost\r\nConnection: keep-alive\r\n"
SILENT = [
    b"",
    b"GET / HTTP/1.1\r\nHo",
    b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n",  # answered, and then nothing more
    b"POST / HTTP/1.1\r\n" + HEAD + b"Content-Length: 9\r\n\r\nbod",  # answered before its end
]


@pytest.mark.parametrize("said", SILENT, ids=["nothing", "half a head", "one call", "half a body"])
async def test_a_connection_without_a_call_makes_room_and_ends(said: bytes) -> None:
    async with (
        run_server(APP, most_silent=3, silent_seconds=0.5) as url,
        AsyncExitStack() as stack,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        made = [await stack.enter_async_context(connected(url, said)) for _ in range(5)]
        assert (await client.get(url)).status_code == 200
        for reader, _ in made[:2]:  # made room
            await _ended(reader)
        for reader, writer in made[2:]:  # ended, though something comes now and then
            writer.write(b"x")
            await _ended(reader)


async def _ended(reader: asyncio.StreamReader) -> None:
    """Wait until a connection has ended; what came too late to be read resets it."""
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), SOON)


async def test_a_call_that_takes_its_time_is_waited_for() -> None:
    async def slow(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    app = Starlette(routes=[Route("/", slow, methods=["POST"])])
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    call = head + b"Content-Length: 4\r\n\r\n"
    async with (
        run_server(app, most_silent=1, silent_seconds=0.05) as url,
        connected(url, call) as (reader, writer),
    ):
        for _ in range(4):
            async with connected(url, b"") as (other, _):
                await other.read()  # until it is ended, as this one would be were it silent
            writer.write(b"b")
        said = await asyncio.wait_for(reader.read(), SOON)
    assert said.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"4")
