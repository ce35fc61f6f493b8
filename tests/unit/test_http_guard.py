"""Access to an embedded server."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from core.adapters.embedded.http_guard import HttpGuard
from core.domain.errors import ConfigurationError

HERE = "http://127.0.0.1:8765"


async def _page(_: Request) -> PlainTextResponse:
    return PlainTextResponse("in")


def guarded(host: str = "127.0.0.1", token: str | None = None) -> HttpGuard:
    app = Starlette(routes=[Route("/", _page, methods=["GET", "POST"])])
    return HttpGuard(app, host=host, token=token, setting="SKILL_API_TOKEN")


async def status(app: ASGIApp, base: str = HERE, **headers: str) -> int:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=base) as client:
        return (await client.post("/", headers=headers)).status_code


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765", "127.0.0.1"]
)
async def test_names_of_loopback_are_let_in(host: str) -> None:
    assert await status(guarded(), host=host) == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "10.0.0.5"])
async def test_a_foreign_host_is_refused(host: str) -> None:
    assert await status(guarded(), host=host) == 403


async def test_the_address_that_is_served_on_is_a_name_of_its_own() -> None:
    assert await status(guarded("127.0.0.2"), host="127.0.0.2:1") == 200


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (HERE, 200),
        ("https://evil.example", 403),
        ("http://127.0.0.1:9999", 403),
        ("http://localhost:8765", 403),
        ("null", 403),
        ("", 403),
    ],
)
async def test_only_the_servers_own_origin_is_let_in(origin: str, expected: int) -> None:
    assert await status(guarded(), origin=origin) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [("Bearer s3cret-키", 200), ("Bearer s3cret", 401), ("s3cret-키", 401), ("Bearer ", 401)],
)
async def test_with_a_token_every_call_needs_it(given: str, expected: int) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(guarded(token="s3cret-키")), base_url=HERE
    ) as client:
        answer = await client.get("/", headers={b"authorization": given.encode()})
        missing = await client.get("/")
    assert answer.status_code == expected
    assert missing.status_code == 401
    assert missing.headers["www-authenticate"] == "Bearer"
    assert "Bearer" in missing.json()["detail"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "skills.example"])
async def test_beyond_loopback_a_token_is_demanded_and_any_host_name_goes(host: str) -> None:
    with pytest.raises(ConfigurationError, match="SKILL_API_TOKEN"):
        guarded(host)
    app = guarded(host, "s3cret")
    assert await status(app, "http://skills.example", authorization="Bearer s3cret") == 200
    assert await status(app, "http://skills.example") == 401


def test_websockets_are_guarded_too() -> None:
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    app = Starlette(routes=[WebSocketRoute("/", talk)])
    client = TestClient(HttpGuard(app, host="127.0.0.1", token=None, setting="X"), base_url=HERE)
    with client.websocket_connect("/", headers={"host": "localhost"}):
        pass
    refused = client.websocket_connect("/", headers={"host": "localhost", "origin": "http://x.y"})
    with pytest.raises(WebSocketDisconnect), refused:
        pass


async def test_the_servers_start_and_end_pass_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing() -> Message:
        return {}

    async def nowhere(_: Message) -> None:
        return None

    guard = HttpGuard(app, host="127.0.0.1", token="x", setting="X")
    await guard({"type": "lifespan"}, nothing, nowhere)
    assert seen == ["lifespan"]
