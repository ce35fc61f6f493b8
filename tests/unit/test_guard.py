"""The guard of API and console: who is admitted, and how others are refused."""

from __future__ import annotations

import pytest
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from core.entrypoints.api.guard import Guard
from core.entrypoints.api.opened import Opened
from core.entrypoints.auth import Grant
from tests.support.guarded import HERE, PAGE, UNKNOWN, World, bearer, cookie


async def test_a_token_lets_its_principal_in() -> None:
    world = World()
    made = await world.token()
    async with world.client(authorization=bearer(made)) as client:
        answer = await client.get("/v1/x")
        shouted = await client.get("/v1/x", headers={"authorization": bearer(made).upper()[:6]})
    assert answer.json() == {
        "token_id": made.token.id,
        "name": "ci",
        "tenant_id": "acme",
        "agent_id": None,
        "roles": ["read"],
    }
    assert shouted.status_code == 401


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic Zm9vOmJhcg==",
        "Bearer swk_short",
        f"Bearer {UNKNOWN}",
        f"Bearer {UNKNOWN}; DROP TABLE",
        "Bearer " + "x" * 10_000,
    ],
)
async def test_without_a_token_that_is_known_every_call_is_refused(given: str) -> None:
    world = World()
    await world.token()
    async with world.client(**({"authorization": given} if given else {})) as client:
        for method in ("GET", "POST", "HEAD", "OPTIONS", "DELETE"):
            answer = await client.request(method, "/v1/x")
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"
            assert not [name for name in answer.headers if name.startswith("access-control")]
        told = await client.get("/v1/x")
        assert told.json()["kind"] == "unauthorized"
        assert len(given) < 20 or given[7:] not in told.text


async def test_a_token_in_the_query_is_no_token() -> None:
    world = World()
    made = await world.token()
    secret = made.secret.get_secret_value()
    async with world.client() as client:
        for name in ("key", "token", "access_token"):
            assert (await client.get("/v1/x", params={name: secret})).status_code == 401


async def test_secrets_of_other_kinds_are_no_tokens_and_no_sessions() -> None:
    world = World()
    token, link = await world.token(), await world.access.link(Grant(name="kim"))
    session = await world.access.open_session(token.secret.get_secret_value())
    assert session
    async with world.client() as client:
        for made in (link, session):
            answer = await client.get("/v1/x", headers={"authorization": bearer(made)})
            assert answer.status_code == 401
        for made in (link, token):
            answer = await client.get("/v1/x", headers={"cookie": cookie(made)})
            assert answer.status_code == 401
        assert (await client.get("/v1/x", headers={"cookie": cookie(session)})).status_code == 200


async def test_a_token_revoked_or_expired_ends_at_once_with_its_sessions() -> None:
    world = World()
    revoked = await world.token()
    session = await world.access.open_session(revoked.secret.get_secret_value())
    assert session
    async with world.client() as client:
        by_token = {"authorization": bearer(revoked)}
        by_session = {"cookie": cookie(session)}
        assert (await client.get("/v1/x", headers=by_token)).status_code == 200
        assert (await client.get("/v1/x", headers=by_session)).status_code == 200
        await world.access.revoke("ci")
        assert (await client.get("/v1/x", headers=by_token)).status_code == 401
        assert (await client.get("/v1/x", headers=by_session)).status_code == 401
        brief = await world.token(days=1)
        by_token = {"authorization": bearer(brief)}
        assert (await client.get("/v1/x", headers=by_token)).status_code == 200
        world.now = world.now.replace(day=2)
        assert (await client.get("/v1/x", headers=by_token)).status_code == 401


async def test_a_header_of_another_scheme_leaves_the_session_as_it_is() -> None:
    world = World()
    token = await world.token()
    session = await world.access.open_session(token.secret.get_secret_value())
    assert session
    async with world.client(cookie=f"a=b; {cookie(session)}; c=d") as client:
        by_proxy = await client.get("/v1/x", headers={"authorization": "Basic Zm9vOmJhcg=="})
        wrong = await client.get("/v1/x", headers={"authorization": f"Bearer {UNKNOWN}"})
    assert by_proxy.json()["name"] == "ci"
    assert wrong.status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/console/enter"])
async def test_what_is_open_needs_no_token_but_a_host_of_its_own(path: str) -> None:
    world = World()
    async with world.client() as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.get(path, headers={"host": "evil.example"})).status_code == 403
        assert (await client.get(path, headers={"origin": "http://x.y"})).status_code == 403
        assert (await client.get(f"{path}/x")).status_code == 401
    assert world.tokens.finds == 0


async def test_without_a_console_there_is_no_entry() -> None:
    async with World(console=False).client() as client:
        assert (await client.get("/console/enter", headers=PAGE)).status_code == 401


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "localhost:8720"}, 200),
        ({"host": "[::1]:1"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"origin": HERE}, 200),
        ({"origin": "http://localhost:8720"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_host_and_origin_are_looked_at_before_the_token(
    headers: dict[str, str], expected: int
) -> None:
    world = World()
    made = await world.token()
    async with world.client(authorization=bearer(made)) as client:
        answer = await client.get("/v1/x", headers=headers)
    assert answer.status_code == expected
    if expected == 403:
        assert answer.json()["kind"] == "forbidden"
        assert world.tokens.finds == 0


async def test_a_header_that_comes_twice_is_refused() -> None:
    world = World()
    made = await world.token()
    async with world.client(authorization=bearer(made)) as client:
        twice = [(b"origin", b"https://evil.example"), (b"origin", HERE.encode())]
        for headers in (twice, twice[::-1]):
            assert (await client.get("/v1/x", headers=headers)).status_code == 403


async def test_names_that_are_set_are_let_in_on_loopback_too() -> None:
    world = World(hosts=["Console.example"])
    async with world.client() as client:
        for host, expected in (("console.EXAMPLE", 200), ("localhost", 200), ("x.example", 403)):
            assert (await client.get("/healthz", headers={"host": host})).status_code == expected


async def test_beyond_loopback_any_name_is_let_in_or_those_that_are_set() -> None:
    for hosts, expected in (((), 401), (["console.example"], 403)):
        world = World(host="0.0.0.0", hosts=hosts)
        async with world.client() as client:
            foreign = {"host": "10.1.2.3:8720"}
            assert (await client.get("/v1/x", headers=foreign)).status_code == expected
            assert (await client.get("/healthz", headers=foreign)).status_code == 200
            known = {"host": "console.example"}
            assert (await client.get("/v1/x", headers=known)).status_code == 401


async def test_a_browser_is_led_to_the_entry_page_and_a_program_is_not() -> None:
    world = World()
    async with world.client() as client:
        asked = {
            "/": "",
            "/console": "",
            "/console/review?id=1": "?next=%2Fconsole%2Freview%3Fid%3D1",
        }
        for path, back in asked.items():
            led = await client.get(path, headers=PAGE)
            assert (led.status_code, led.headers["location"]) == (303, f"/console/enter{back}")
            assert (await client.get(path)).status_code == 401
            assert (await client.post(path, headers=PAGE)).status_code == 401
        assert (await client.get("/v1/x", headers=PAGE)).status_code == 401
        assert (await client.get("/consoles", headers=PAGE)).status_code == 401
        foreign = {**PAGE, "host": "evil.example"}
        assert (await client.get("/console/", headers=foreign)).status_code == 403


async def test_a_database_that_is_down_is_no_refusal() -> None:
    world = World()
    made = await world.token()
    world.tokens.down = True
    async with world.client(authorization=bearer(made)) as client:
        answer = await client.get("/v1/x")
        assert (answer.status_code, answer.json()["kind"]) == (503, "database")
        assert answer.headers["retry-after"] == "2"
        page = await client.get("/console/", headers=PAGE)
        assert (page.status_code, "refresh" in page.text) == (503, True)
        assert (await client.get("/healthz")).status_code == 200
        world.tokens.down = False
        world.opened.close()
        assert (await client.get("/v1/x")).status_code == 503


async def test_what_is_neither_a_call_nor_a_websocket_passes_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing() -> Message:
        return {}

    async def nowhere(_: Message) -> None:
        return None

    await Guard(app, Opened(), host="127.0.0.1", hosts=(), console=False)(
        {"type": "lifespan"}, nothing, nowhere
    )
    assert seen == ["lifespan"]


async def test_a_websocket_needs_what_a_call_needs() -> None:
    world = World()
    token = await world.token()
    session = await world.access.open_session(token.secret.get_secret_value())
    assert session
    for headers in ({"authorization": bearer(token)}, {"cookie": cookie(session)}):
        with world.sockets().websocket_connect(
            "/console/ws", headers={"host": "localhost", **headers}
        ) as socket:
            socket.send_text("안녕")
            assert socket.receive_text() == "ci: 안녕"
    good = {"host": "localhost", "authorization": bearer(token)}
    for bad in (
        {"host": "localhost"},
        {**good, "host": "evil.example"},
        {**good, "origin": "http://evil.example"},
        {**good, "authorization": f"Bearer {UNKNOWN}"},
        {"host": "localhost", "cookie": cookie(token)},
    ):
        for path in ("/console/ws", "/healthz", "/console/enter"):
            refused = world.sockets().websocket_connect(path, headers=bad)
            with pytest.raises(WebSocketDisconnect) as caught, refused:
                pass
            assert caught.value.code == 1008
    world.tokens.down = True
    with (
        pytest.raises(WebSocketDisconnect) as caught,
        world.sockets().websocket_connect("/", headers=good),
    ):
        pass
    assert caught.value.code == 1013


async def test_a_websocket_ends_as_soon_as_its_token_does() -> None:
    world = World()
    token = await world.token()
    headers = {"host": "localhost", "authorization": bearer(token)}
    with world.sockets().websocket_connect("/ws", headers=headers) as socket:
        socket.send_text("one")
        assert socket.receive_text() == "ci: one"
        await world.access.revoke("ci")
        socket.send_text("two")
        with pytest.raises(WebSocketDisconnect) as caught:
            socket.receive_text()
    assert caught.value.code == 1008
