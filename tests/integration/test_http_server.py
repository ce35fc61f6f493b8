"""What the embedded server passes on to an app, and which headers it trusts."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from core.adapters.embedded.http_server import run_server


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
