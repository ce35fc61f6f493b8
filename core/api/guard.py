"""The guard around all that a worker serves: nobody is let in whom it has not looked at."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.api import entry_page
from core.api.entry_page import CONSOLE, ENTER, LEAVE
from core.api.lasting import POLICY, TRY_LATER, Lasting
from core.api.opened import Opened
from core.api.problems import answer_error
from core.api.seats import PRINCIPAL
from core.errors import DependencyDown, Forbidden, SkillWorkerError, Unauthorized
from core.http_origin import is_loopback, names_of, refusal
from core.models.access import AccessToken, TokenKind

SESSION_COOKIE = "skill_worker_session"
HEALTH = frozenset({"/healthz", "/readyz", "/metrics"})
_HINT = "send Authorization: Bearer <token>; `skill-worker tokens add` makes one"

Known = tuple[str, TokenKind]  # a secret, and what it claims to be


class Guard:
    """An ASGI app before another: it lets through what may be let through, and says who it is.

    Of every call Host and Origin are looked at, then its token or the cookie of its session, each
    time anew in the database, so that one that is revoked ends at once. It is served on `host`,
    and called by its names and those of `hosts`. With a `console`, browsers are led to its entry.
    """

    def __init__(
        self, app: ASGIApp, opened: Opened, *, host: str, hosts: Collection[str], console: bool
    ) -> None:
        self._app, self._opened, self._console = app, opened, console
        self._names = names_of(host, hosts)
        # Who probes from beyond calls by an address that nobody knows beforehand.
        self._health_names = self._names if is_loopback(host) else None
        self._open = HEALTH | {ENTER, LEAVE} if console else HEALTH

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the call here, or hand it on with its principal."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        try:
            known, token = await self._looked_at(scope)
        except SkillWorkerError as error:
            await self._refuse(error, scope, receive, send)
            return
        if known is None or token is None:
            await self._app(scope, receive, send)
            return
        scope["state"] = {**scope.get("state", {}), PRINCIPAL: token.principal}
        with self._opened.lasting() as over:
            still_in = partial(self._still_in, known)
            call = Lasting(scope, receive, send, still_in=still_in, over=over)
            await self._app(scope, call.receive, call.send)
            await call.close()

    async def _looked_at(self, scope: Scope) -> tuple[Known | None, AccessToken | None]:
        """Give with what a call comes, nothing where it needs none.

        Raises Forbidden, Unauthorized, DependencyDown.
        """
        is_health = scope["path"] in HEALTH
        names = self._health_names if is_health else self._names
        refused = refusal(scope["headers"], names)
        if refused is not None:
            raise Forbidden(refused)
        if scope["type"] == "http" and scope["path"] in self._open:
            return None, None
        known = _secret(Headers(scope=scope))
        if known is None:
            raise Unauthorized("the call comes without a token", hint=_HINT)
        token = await self._found(known)
        if token is None:
            raise Unauthorized(f"the {known[1]} is unknown, revoked or has expired", hint=_HINT)
        return known, token

    async def _found(self, known: Known) -> AccessToken | None:
        return await self._opened.access().find(*known)

    async def _still_in(self, known: Known) -> bool:
        return await self._found(known) is not None

    async def _refuse(
        self, error: SkillWorkerError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            code = TRY_LATER if isinstance(error, DependencyDown) else POLICY
            closed: Message = {"type": "websocket.close", "code": code, "reason": ""}
            await send(closed)
            return
        answer = self._page(error, scope) or answer_error(error)
        await answer(scope, receive, send)

    def _page(self, error: SkillWorkerError, scope: Scope) -> Response | None:
        """Give what a browser that asks for a page is answered; None: what all are answered."""
        headers = Headers(scope=scope)
        asks = scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", "")
        if not (self._console and asks and _is_page(scope["path"])):
            return None
        if isinstance(error, Unauthorized):
            return RedirectResponse(ENTER, 303)
        if isinstance(error, DependencyDown):
            return entry_page.starting(headers.get("accept-language", ""))
        return None


def _secret(headers: Headers) -> Known | None:
    """Give the secret of a call: a token in its header, else a session in its cookie."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip(), TokenKind.TOKEN
    session = cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE)
    return (session, TokenKind.SESSION) if session else None


def _is_page(path: str) -> bool:
    return path in {"/", CONSOLE} or path.startswith(f"{CONSOLE}/")
