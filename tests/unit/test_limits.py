"""What one caller may ask of a server, and the headers of all that it answers."""

from __future__ import annotations

import asyncio

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Scope
from starlette.websockets import WebSocketDisconnect
from structlog.testing import capture_logs

from core.domain.models import RunEvent, Usage
from core.domain.models.access import Limits
from core.entrypoints.api.guard import Lasting
from tests.support.guarded import UNKNOWN, World, bearer, cookie
from tests.support.waiting import SOON

STREAM: Scope = {"type": "http", "asgi": {"spec_version": "2.3"}}


async def test_a_token_that_calls_too_often_is_told_when_to_come_again() -> None:
    world = World(limits=Limits(calls_per_minute=60))
    async with world.client(authorization=bearer(await world.token())) as client:
        codes = [(await client.get("/v1/x")).status_code for _ in range(61)]
        assert codes == [200] * 60 + [429]
        refused = await client.get("/v1/x")
        assert (refused.json()["kind"], refused.headers["retry-after"]) == ("limit", "1")
        assert "skill-worker.yaml" in refused.json()["hint"]
        world.now = world.now.replace(second=2)
        codes = [(await client.get("/v1/x")).status_code for _ in range(3)]
        assert codes == [200, 200, 429]


async def test_wrong_tokens_are_logged_counted_and_answered_later_and_later() -> None:
    world, counted = World(), list[RunEvent]()

    def count(event: RunEvent, _: Usage) -> None:
        counted.append(event)

    world.ports.observe = count
    right = bearer(await world.token())
    with capture_logs() as logged:
        async with world.client(authorization=f"Bearer {UNKNOWN}") as client:
            for _ in range(13):
                assert (await client.get("/v1/x")).status_code == 401
            assert world.delays == [0.5, 1.0, 2.0]
            answer = await client.get("/v1/x", headers={"authorization": right})
        async with world.client() as client:
            form = {"token": UNKNOWN}
            assert (await client.post("/console/enter", data=form)).status_code == 403
    assert (answer.status_code, len(world.delays)) == (200, 4), "what is right is not delayed"
    refused = [line for line in logged if line["event"] == "access.refused"]
    assert len(refused) == len(counted) == 14
    assert refused[0]["address"] == "127.0.0.1"
    assert UNKNOWN not in str(logged)


async def test_only_so_many_pages_and_streams_are_open_for_one_token() -> None:
    world = World(limits=Limits(streams_per_token=1))
    session = await world.access.open_session((await world.token()).secret.get_secret_value())
    assert session
    with world.sockets(cookie=cookie(session), host="localhost") as client:
        with client.websocket_connect("/console/ws") as first:
            first.send_text("a")
            assert first.receive_text() == "ci: a"
            with pytest.raises(WebSocketDisconnect), client.websocket_connect("/console/ws"):
                pass
            assert client.get("/v1/events").status_code == 429
            assert client.get("/v1/x").status_code == 200
        assert client.get("/v1/events").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "lasts"),
    [
        ("GET", "/v1/events", True),
        ("POST", "/v1/events", False),
        ("GET", "/v1/feedback/f1/events", True),
        ("POST", "/v1/feedback/f1/events", False),
        ("GET", "/v1/feedback/f1", False),
        ("GET", "/v1/changes/c1/events", False),
    ],
)
async def test_of_calls_only_event_streams_count_as_open_for_long(
    method: str, path: str, lasts: bool
) -> None:
    world = World(limits=Limits(streams_per_token=1))
    token = bearer(await world.token())
    with (
        world.sockets(authorization=token, host="localhost") as client,
        client.websocket_connect("/console/ws"),
    ):
        assert client.request(method, path).status_code == (429 if lasts else 200)


async def test_a_body_that_never_ends_is_refused() -> None:
    parts = asyncio.Queue[Message]()
    parts.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    call = Lasting(
        STREAM, parts.get, _nothing, still_in=_yes, over=asyncio.Event(), limits=_limits()
    )
    assert (await call.receive())["body"] == b"{"
    with pytest.raises(HTTPException) as refused:
        await call.receive()
    assert (refused.value.status_code, "0.01 seconds" in str(refused.value.detail)) == (408, True)


async def test_a_reader_who_takes_nothing_is_taken_for_gone() -> None:
    stuck, over = asyncio.Event(), asyncio.Event()

    async def send(_: Message) -> None:
        await stuck.wait()

    call = Lasting(STREAM, _never, send, still_in=_yes, over=over, limits=_limits())
    await call.send({"type": "http.response.body", "body": b"x", "more_body": True})
    assert over.is_set()


async def test_a_session_that_ends_closes_a_page_on_which_nobody_does_anything() -> None:
    sent = list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    call = Lasting(
        {"type": "websocket"}, _never, send, still_in=_no, over=asyncio.Event(), idle=0.01
    )
    async with asyncio.timeout(SOON):
        assert (await call.receive())["type"] == "websocket.disconnect"
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    "path", ["/v1/x", "/console/x", "/console/enter", "/healthz", "/v1/nobody"]
)
async def test_no_answer_can_be_framed_or_kept_and_its_scripts_have_a_nonce(path: str) -> None:
    world = World()
    known = {} if path == "/v1/nobody" else {"authorization": bearer(await world.token())}
    async with world.client(**known) as client:
        first, second = [(await client.get(path)).headers for _ in range(2)]
    assert "frame-ancestors 'none'" in first["content-security-policy"]
    assert (first["x-frame-options"], first["cache-control"]) == ("DENY", "no-store")
    assert first["referrer-policy"] == "same-origin"
    assert first["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in first["permissions-policy"]
    policies = {headers["content-security-policy"] for headers in (first, second)}
    assert ("nonce" in policies.pop(), len(policies)) == (
        path == "/console/x",
        int(path == "/console/x"),
    )


def _limits() -> Limits:
    return Limits(body_seconds=0.01, send_seconds=0.01)


async def _nothing(_: Message) -> None:
    pass


async def _never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def _yes() -> bool:
    return True


async def _no() -> bool:
    return False
