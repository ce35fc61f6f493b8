"""Failures between the worker and PostgREST are reported once, with the fix."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from core.adapters.sources.postgrest import open_platform
from core.domain.errors import ConfigurationError, SkillWorkerError, SourceDown
from tests.support.openai_server import drops
from tests.support.postgrest_server import KEY, PostgrestServer, postgrest_server


@pytest.fixture
async def server() -> AsyncIterator[PostgrestServer]:
    async with postgrest_server() as opened:
        yield opened


async def _claim(server: PostgrestServer, key: str = KEY) -> SkillWorkerError:
    """Claim, and return the error that raises."""
    async with open_platform(server.url, key) as platform:
        with pytest.raises(SkillWorkerError) as caught:
            await platform.claim(1)
    return caught.value


async def test_a_missing_function_is_named_with_the_place_of_its_sql(
    server: PostgrestServer,
) -> None:
    server.has_function = False
    error = await _claim(server)
    assert isinstance(error, ConfigurationError)
    assert "agent_feedback_task(p_limit integer)" in error.hint
    assert "connect-supabase.md" in error.hint


async def test_a_wrong_key_is_a_matter_of_the_setting(server: PostgrestServer) -> None:
    error = await _claim(server, "wrong")
    assert isinstance(error, ConfigurationError)
    assert "Invalid API key" in error.message
    assert "SUPABASE_KEY" in error.hint
    assert "wrong" not in error.message + error.hint


@pytest.mark.parametrize("key", ["", "two\nlines", "열쇠"])
async def test_a_key_that_no_header_can_carry_is_refused_before_any_call(
    server: PostgrestServer, key: str
) -> None:
    with pytest.raises(ConfigurationError, match="SUPABASE_KEY"):
        async with open_platform(server.url, key):
            pass


def _problem(status: int, code: str, **headers: str) -> Response:
    body = {"code": code, "message": "원인", "details": None, "hint": None}
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return JSONResponse(body, status, headers=named)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (lambda: _problem(403, "42501"), ConfigurationError, "원인 (42501)"),
        (lambda: _problem(404, "PGRST205"), ConfigurationError, "PGRST205"),
        (lambda: _problem(300, "PGRST203"), ConfigurationError, "PGRST203"),
        (lambda: _problem(400, "42703"), ConfigurationError, "42703"),
        (lambda: _problem(503, "PGRST000"), SourceDown, "PGRST000"),
        (lambda: _problem(500, "XX000"), SourceDown, "XX000"),
        (lambda: _problem(429, "x"), SourceDown, "429"),
        (lambda: _problem(408, "x"), SourceDown, "408"),
        (lambda: HTMLResponse("<h1>Not found</h1>", 404), ConfigurationError, "Not found"),
        (lambda: HTMLResponse("<h1>Sign in</h1>"), SourceDown, "text/html"),
        (lambda: Response('[{"id": "half', 200), SourceDown, "no list of rows"),
        (lambda: JSONResponse({"id": 1}), SourceDown, "no list of rows"),
        (lambda: RedirectResponse("https://elsewhere/"), ConfigurationError, "elsewhere"),
    ],
)
async def test_each_answer_that_is_none_is_sorted_and_quoted(
    server: PostgrestServer,
    answer: Callable[[], Response],
    kind: type[SkillWorkerError],
    said: str,
) -> None:
    server.answers.append(answer())
    error = await _claim(server)
    assert isinstance(error, kind)
    assert said in error.message


async def test_the_time_that_the_server_asks_for_is_kept(server: PostgrestServer) -> None:
    server.answers.append(_problem(429, "x", retry_after="17"))
    error = await _claim(server)
    assert isinstance(error, SourceDown)
    assert error.retry_after == 17


async def test_an_answer_that_breaks_off_may_pass(server: PostgrestServer) -> None:
    server.answers.append(drops({}))
    assert isinstance(await _claim(server), SourceDown)


async def test_a_server_that_is_not_there_may_come_back() -> None:
    async with open_platform("http://127.0.0.1:9", KEY) as platform:
        with pytest.raises(SourceDown, match="failed"):
            await platform.ping()


async def test_an_address_that_names_the_api_itself_is_fine(server: PostgrestServer) -> None:
    async with open_platform(f"{server.url}/rest/v1/", KEY) as platform:
        await platform.ping()
    assert server.calls == ["GET todolist?select=id&limit=1"]
