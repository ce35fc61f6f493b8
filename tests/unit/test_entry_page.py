"""Signing in to the console and out of it."""

from __future__ import annotations

from html.parser import HTMLParser

import httpx
import pytest
import yaml

from core.domain.models.access import Role
from core.entrypoints.api import entry_page
from core.entrypoints.api.guard import SESSION_COOKIE
from core.entrypoints.auth import Grant
from tests.support.guarded import HERE, PAGE, UNKNOWN, World, cookie

KOREAN = {"accept-language": "ko-KR,ko;q=0.9,en;q=0.8"}


async def link(world: World) -> str:
    grant = Grant(name="kim", tenant_id="acme", roles=(Role.REVIEW,))
    return (await world.access.link(grant)).secret.get_secret_value()


async def press(client: httpx.AsyncClient, key: str, wanted: str = "") -> httpx.Response:
    """Press the button of the page that a link leads to."""
    return await client.post("/console/enter", data={"key": key, "next": wanted})


async def who(client: httpx.AsyncClient) -> dict[str, object] | int:
    answer = await client.get("/console/x")
    found: dict[str, object] | int = answer.json() if answer.is_success else answer.status_code
    return found


async def test_a_link_opens_a_session_once_with_its_tenant_and_roles() -> None:
    world = World()
    key = await link(world)
    async with world.client() as client:
        page = await client.get("/console/enter", params={"key": key}, headers=PAGE)
        assert (page.status_code, key in page.text, "set-cookie" in page.headers) == (
            200,
            True,
            False,
        )
        entered = await press(client, key)
        assert (entered.status_code, entered.headers["location"]) == (303, "/console/")
        (given,) = entered.headers.get_list("set-cookie")
        assert "no-store" in entered.headers["cache-control"]
        for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"):
            assert part in given
        assert "Secure" not in given
        found = await who(client)
        assert isinstance(found, dict)
        assert (found["name"], found["tenant_id"], found["roles"]) == ("kim", "acme", ["review"])
    async with world.client() as other:
        again = await press(other, key)
        assert again.status_code == 403
        assert "does not work any more" in again.text
        assert "tokens link" in again.text
        assert await who(other) == 401


async def test_the_cookie_is_for_https_alone_where_the_call_came_over_it() -> None:
    world = World()
    secure = "https://127.0.0.1:8720"
    async with world.client(secure) as client:
        entered = await press(client, await link(world))
        assert "Secure" in entered.headers["set-cookie"]
    async with world.client(**{"x-forwarded-proto": "https"}) as client:
        entered = await press(client, await link(world))
        assert "Secure" not in entered.headers["set-cookie"]


async def test_looking_whether_a_link_is_there_does_not_use_it_up() -> None:
    world = World()
    key = await link(world)
    async with world.client() as client:
        assert (await client.head("/console/enter", params={"key": key})).status_code == 200
        for _ in range(2):  # a messenger that looks at what a link leads to, and then a person
            assert (await client.get("/console/enter", params={"key": key})).status_code == 200
        assert (await press(client, key)).status_code == 303


@pytest.mark.parametrize("key", ["", "x", "swk_short", UNKNOWN, "<script>alert(1)</script>"])
async def test_a_link_that_is_wrong_says_so(key: str) -> None:
    async with World().client() as client:
        assert "set-cookie" not in (await client.get("/console/enter", params={"key": key})).headers
        answer = await press(client, key)
    assert answer.status_code == 403
    assert "does not work any more" in answer.text
    assert "set-cookie" not in answer.headers
    assert len(key) < 9 or key not in answer.text


async def test_a_link_that_has_expired_opens_nothing() -> None:
    world = World()
    key = await link(world)
    world.now = world.now.replace(minute=10)
    async with world.client() as client:
        assert (await press(client, key)).status_code == 403


async def test_a_session_lasts_twelve_hours() -> None:
    world = World()
    async with world.client() as client:
        await press(client, await link(world))
        world.now = world.now.replace(hour=11, minute=59)
        assert isinstance(await who(client), dict)
        world.now = world.now.replace(hour=12, minute=0)
        assert await who(client) == 401


async def test_a_token_that_is_pasted_opens_a_session_that_ends_with_it() -> None:
    world = World()
    made = await world.token()
    async with world.client(origin=HERE) as client:
        pasted = {"token": f"  {made.secret.get_secret_value()}\n"}
        entered = await client.post("/console/enter", data=pasted)
        assert (entered.status_code, entered.headers["location"]) == (303, "/console/")
        found = await who(client)
        assert isinstance(found, dict)
        assert (found["name"], found["roles"]) == ("ci", ["read"])
        assert found["token_id"] != made.token.id
        await world.access.revoke("ci")
        assert await who(client) == 401


@pytest.mark.parametrize(
    "form",
    [{}, {"token": ""}, {"token": "nonsense"}, {"token": UNKNOWN}, {"token": "x" * 100_000}],
)
async def test_a_token_that_is_wrong_is_told_and_not_repeated(form: dict[str, str]) -> None:
    async with World().client() as client:
        answer = await client.post("/console/enter", data=form)
    assert (answer.status_code, "unknown, revoked or has expired" in answer.text) == (403, True)
    assert (form.get("token") or "not given") not in answer.text


@pytest.mark.parametrize(
    ("wanted", "led"),
    [
        ("/console/review?id=c1", "/console/review?id=c1"),
        ("https://elsewhere.example/", "/console/"),
        ("//elsewhere.example", "/console/"),
        ("/console/..//elsewhere.example", "/console/"),
        ("/console/leave", "/console/"),
        ("/v1/changes", "/console/"),
        ("/console/x\r\nSet-Cookie: a=b", "/console/"),
    ],
)
async def test_signing_in_leads_to_the_page_that_was_asked_for(wanted: str, led: str) -> None:
    world = World()
    key = await link(world)
    async with world.client() as client:
        entered = await press(client, key, wanted)
        assert (entered.status_code, entered.headers["location"]) == (303, led)
        form = await client.get("/console/enter", params={"next": wanted}, headers=PAGE)
        assert f'name="next" value="{led}"' in form.text


async def test_a_link_is_no_token_and_a_token_is_no_link() -> None:
    world = World()
    token = (await world.token()).secret.get_secret_value()
    async with world.client() as client:
        assert (await press(client, token)).status_code == 403
        posted = await client.post("/console/enter", data={"token": await link(world)})
        assert posted.status_code == 403


async def test_another_site_signs_nobody_in() -> None:
    world = World()
    form = {"token": (await world.token()).secret.get_secret_value()}
    async with world.client(origin="https://evil.example") as client:
        assert (await client.post("/console/enter", data=form)).status_code == 403
        assert (await client.post("/console/leave")).status_code == 403


async def test_signing_out_ends_the_session_itself() -> None:
    world = World()
    session = await world.access.open_session((await world.token()).secret.get_secret_value())
    assert session
    async with world.client(cookie=cookie(session)) as client:
        assert isinstance(await who(client), dict)
        assert (await client.get("/console/leave")).status_code == 200
        assert isinstance(await who(client), dict)
        left = await client.post("/console/leave")
        assert (left.status_code, "You are signed out" in left.text) == (200, True)
        assert f'{SESSION_COOKIE}=""' in left.headers["set-cookie"]
        assert "Max-Age=0" in left.headers["set-cookie"]
        assert await who(client) == 401
        assert (await client.post("/console/leave")).status_code == 200
    assert len(await world.tokens.list()) == 1


async def test_while_the_database_is_down_the_page_says_so_and_looks_again() -> None:
    world = World()
    form = {"token": (await world.token()).secret.get_secret_value()}
    world.tokens.down = True
    async with world.client() as client:
        assert (await client.get("/console/enter")).status_code == 200
        answer = await client.post("/console/enter", data=form)
        assert (answer.status_code, "does not answer yet" in answer.text) == (503, True)


class _Marks(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


async def test_the_page_is_in_the_readers_language_and_needs_no_script() -> None:
    async with World().client() as client:
        english = await client.get("/console/enter")
        korean = await client.get("/console/enter", headers=KOREAN)
        other = await client.get("/console/enter", headers={"accept-language": "de, *;q=0.1"})
    assert ('lang="en"' in english.text, "Sign in" in english.text) == (True, True)
    assert ('lang="ko"' in korean.text, "콘솔에 로그인" in korean.text) == (True, True)
    assert 'lang="en"' in other.text
    assert "script" not in _Marks(korean.text).tags
    policy = korean.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "prefers-color-scheme: dark" in korean.text
    assert "width=device-width" in korean.text


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [("", "en"), ("ko", "ko"), ("en-US,ko;q=0.5", "en"), ("fr,ko-KR", "ko"), (",,;", "en")],
)
def test_the_language_is_the_first_that_both_know(accepted: str, expected: str) -> None:
    assert entry_page.language_of(accepted) == expected


def test_every_word_is_there_in_both_languages() -> None:
    from importlib import resources

    text = (resources.files("core.entrypoints.api") / "entry.yaml").read_text("utf-8")
    assert all(set(entry) == {"en", "ko"} for entry in yaml.safe_load(text).values())
