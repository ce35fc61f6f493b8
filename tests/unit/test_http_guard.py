"""Access to an embedded server."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from structlog.testing import capture_logs

from core.adapters.embedded.http_guard import TENANT, HttpGuard
from core.domain.errors import ConfigurationError
from core.domain.hashing import tenant_token
from tests.support.metrics import samples

HERE = "http://127.0.0.1:8765"


async def _page(_: Request) -> PlainTextResponse:
    return PlainTextResponse("in")


async def no_wait(_: float) -> None:
    return None


def guarded(
    host: str = "127.0.0.1", token: str | None = None, *, needs_token: bool = False
) -> HttpGuard:
    app = Starlette(routes=[Route("/", _page, methods=["GET", "POST"])])
    setting = "SKILL_API_TOKEN" if needs_token else None
    return HttpGuard(app, host=host, token=token, setting=setting, sleep=no_wait)


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


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::", "skills.example"])
def test_what_is_private_is_not_served_without_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="SKILL_API_TOKEN"):
        guarded(host, needs_token=True)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "skills.example"])
async def test_beyond_loopback_any_host_name_goes(host: str) -> None:
    app = guarded(host, "s3cret")
    assert await status(app, "http://skills.example", authorization="Bearer s3cret") == 200
    assert await status(app, "http://skills.example") == 401


def test_websockets_are_guarded_too() -> None:
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    app = Starlette(routes=[WebSocketRoute("/", talk)])
    client = TestClient(HttpGuard(app, host="127.0.0.1", token=None, setting=None), base_url=HERE)
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


async def test_a_token_of_a_tenant_says_which_and_nobody_can_make_one() -> None:
    bound: list[str | None] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        bound.append(scope["state"][TENANT])
        await PlainTextResponse("in")(scope, receive, send)

    guard = HttpGuard(app, host="127.0.0.1", token="s3cret", setting="X", sleep=no_wait)
    of_acme, of_none = (tenant_token("s3cret", name) for name in ("acme 한글", ""))
    forged = tenant_token("other", "acme 한글")
    mixed = f"{tenant_token('s3cret', 'b').partition('.')[0]}.{of_acme.partition('.')[2]}"
    for given in (of_acme, of_none, "s3cret"):
        assert await status(guard, authorization=f"Bearer {given}") == 200
    assert bound == ["acme 한글", "", None]
    for given in (forged, mixed, of_acme[:-1], "swt_", "swt_.", "swt_%", "_", ""):
        assert await status(guard, authorization=f"Bearer {given}") == 401


async def test_wrong_tokens_are_counted_and_slow_down_but_hold_nobody_else_up() -> None:
    now, waited = 0.0, list[float]()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    app = Starlette(routes=[Route("/", _page, methods=["POST"])])
    guard = HttpGuard(
        app, host="127.0.0.1", token="s3cret", setting="X", clock=lambda: now, sleep=sleep
    )
    with capture_logs() as logs:
        for _ in range(13):
            assert await status(guard, authorization="Bearer guess") == 401
    assert waited == [0.5, 1.0, 2.0]
    told = [entry["count"] for entry in logs if entry["event"] == "token.refused"]
    assert told == [1, 2, 4, 8]
    assert "guess" not in str(logs)
    assert await status(guard, authorization="Bearer s3cret") == 200
    assert await status(guard) == 401  # no token is no guess
    assert len(waited) == 3
    now = 120.0
    assert await status(guard, authorization="Bearer guess") == 401
    assert len(waited) == 3


async def test_who_has_the_token_for_all_is_told_how_many_were_wrong() -> None:
    guard = guarded(token="s3cret")
    for given in ("guess", "s3cret", "guess"):
        await status(guard, authorization=f"Bearer {given}")
    transport = httpx.ASGITransport(guard)
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        answers = [
            await client.get("/metrics", headers={"authorization": f"Bearer {token}"})
            for token in ("s3cret", tenant_token("s3cret", "acme"), "guess")
        ]
    assert samples(answers[0].content) == {'access_refused_total{credential="token"}': 2.0}
    assert [answer.status_code for answer in answers] == [200, 404, 401]


async def test_a_flood_of_wrong_tokens_holds_few_connections() -> None:
    waiting, release = 0, asyncio.Event()

    async def sleep(_: float) -> None:
        nonlocal waiting
        waiting += 1
        await release.wait()

    app = Starlette(routes=[Route("/", _page, methods=["POST"])])
    guard = HttpGuard(app, host="127.0.0.1", token="s3cret", setting="X", sleep=sleep)
    calls = [asyncio.create_task(status(guard, authorization="Bearer x")) for _ in range(100)]
    done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    while waiting + len(done) < 100:
        done, _ = await asyncio.wait(calls, timeout=0.01)
    assert waiting < 50
    release.set()
    assert {*await asyncio.gather(*calls)} == {401, 429}
