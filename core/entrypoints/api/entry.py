"""How a person signs in to the console and out of it: by a link, by a token, by a form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from core.domain.errors import DependencyDown
from core.entrypoints.api import entry_page
from core.entrypoints.api.guard import SESSION_COOKIE
from core.entrypoints.api.opened import Opened
from core.entrypoints.auth import SESSION_LIFE, Access, Made

LONGEST_FORM = 4096

Answer = Callable[[Access, Request], Awaitable[Response]]


class Entry:
    """The sign-in pages over one opened program. The guard has checked Host and Origin."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    async def enter(self, request: Request) -> Response:
        """Ask for a token, accept one, or redeem the key of a link."""
        if request.method == "POST":
            return await self._asking(request, _by_token)
        if request.method == "GET" and "key" in request.query_params:
            return await self._asking(request, _by_link)
        return entry_page.enter(_accepted(request), wanted=_wanted(request))

    async def leave(self, request: Request) -> Response:
        """Ask whether to sign out, or do it."""
        if request.method == "POST":
            return await self._asking(request, _sign_out)
        return entry_page.leave(_accepted(request))

    async def _asking(self, request: Request, answer: Answer) -> Response:
        try:
            return await answer(self._opened.access(), request)
        except DependencyDown:
            return entry_page.starting(_accepted(request))


async def _by_token(access: Access, request: Request) -> Response:
    form = await _form(request)
    made = await access.open_session(form.get("token", ""))
    wanted = form.get("next", "")
    return _let_in(request, made, wanted) if made else _refused(request, "bad_token", wanted)


async def _by_link(access: Access, request: Request) -> Response:
    made = await access.redeem(request.query_params["key"])
    wanted = _wanted(request)
    return _let_in(request, made, wanted) if made else _refused(request, "bad_link", wanted)


async def _sign_out(access: Access, request: Request) -> Response:
    await access.close_session(request.cookies.get(SESSION_COOKIE, ""))
    answer = entry_page.left(_accepted(request))
    answer.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
    return answer


def _let_in(request: Request, made: Made, wanted: str) -> Response:
    """Sign in, and go on to the page that was asked for."""
    to = entry_page.own_page(wanted)
    answer = RedirectResponse(to, 303, {"Cache-Control": "no-store"})
    answer.set_cookie(
        SESSION_COOKIE,
        made.secret.get_secret_value(),
        max_age=int(SESSION_LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        # A proxy's X-Forwarded-Proto is not trusted: any client can send one.
        secure=request.url.scheme == "https",
    )
    return answer


def _refused(request: Request, problem: str, wanted: str) -> HTMLResponse:
    return entry_page.enter(_accepted(request), problem, wanted)


def _wanted(request: Request) -> str:
    return request.query_params.get("next", "")


async def _form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form; a long body, or one that is not a form, has none."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            return {}
    return {name: given[0].strip() for name, given in parse_qs(body.decode("latin-1")).items()}


def _accepted(request: Request) -> str:
    return request.headers.get("accept-language", "")
