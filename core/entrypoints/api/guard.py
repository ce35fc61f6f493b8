"""The guard around everything that a worker serves: no call passes unauthenticated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from functools import partial

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from core.domain.errors import DependencyDown, Forbidden, SkillWorkerError, Unauthorized
from core.domain.http_origin import is_loopback, names_of, refusal
from core.domain.messages import Message
from core.domain.models.access import AccessToken, TokenKind
from core.domain.tasks import end_tasks
from core.entrypoints.api import entry_page
from core.entrypoints.api.entry_page import CONSOLE, ENTER, LEAVE
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.problems import answer_error
from core.entrypoints.api.sessions import PRINCIPAL

LOOK_SECONDS = 1.0  # between two checks before something is sent
POLICY, TRY_LATER = 1008, 1013  # close codes of RFC 6455 and of IANA's registry
_LAST: AsgiMessage = {"type": "http.response.body", "body": b"", "more_body": False}


class Lasting:
    """Stands between an app and one caller.

    `still_in` is asked before a websocket message is received, and before anything is sent, but
    then at most once a second. If the caller's access has ended, or `over` is set, the app is told
    that they have disconnected, and nothing more is sent.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        still_in: Callable[[], Awaitable[bool]],
        over: asyncio.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_socket = scope["type"] == "websocket"
        self._receive, self._send = receive, send
        self._still_in, self._clock = still_in, clock
        self._over, self._checked_at = over, clock()
        self._ended = False
        self._is_open = False  # an answer has begun and is not complete
        # A body ends by itself: nothing else need be watched meanwhile.
        self._has_body = not self._is_socket

    async def receive(self) -> AsgiMessage:
        """Return the caller's message, or that they have disconnected."""
        message = await self._unless_over()
        if message is not None and message["type"] == "websocket.receive":
            await self._check()
        if self._over.is_set() or message is None:
            gone = "websocket.disconnect" if self._is_socket else "http.disconnect"
            return {"type": gone, "code": POLICY}
        return message

    async def send(self, message: AsgiMessage) -> None:
        """Send a message, unless the caller's access has ended."""
        lasts = message["type"] == "websocket.send" or message.get("more_body", False)
        if lasts and self._clock() - self._checked_at >= LOOK_SECONDS:
            await self._check()
        if message["type"].startswith("http.response."):
            self._is_open = message["type"] == "http.response.start" or lasts
        if not self._ended:
            await self._send(message)

    async def close(self) -> None:
        """Complete an answer that the app abandoned because it was told that the call is over."""
        if self._over.is_set() and self._is_open and not self._ended:
            self._ended = True
            await self._send(_LAST)

    async def _check(self) -> None:
        """Check whether the caller still has access; else end the call."""
        self._checked_at = self._clock()
        code = POLICY
        try:
            if self._ended or await self._still_in():
                return
        except DependencyDown:
            code = TRY_LATER
        if self._ended:
            return
        self._ended = True
        self._over.set()
        if self._is_socket:
            await self._send({"type": "websocket.close", "code": code})
        else:
            await self._send(_LAST)

    async def _unless_over(self) -> AsgiMessage | None:
        if self._has_body and not self._over.is_set():
            message = await self._receive()
            self._has_body = message.get("more_body", False)
            return message
        hearing = asyncio.ensure_future(self._receive())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({hearing, over}, return_when=asyncio.FIRST_COMPLETED)
            return hearing.result() if hearing.done() else None
        finally:
            await end_tasks([hearing, over])


SESSION_COOKIE = "skill_worker_session"
HEALTH = frozenset({"/healthz", "/readyz", "/metrics"})
_HINT = Message("access.hint_token")

Known = tuple[str, TokenKind]  # a secret, and what it claims to be


class Guard:
    """An ASGI app around another: it authenticates each call and records its principal.

    Host and Origin are checked first, then the token or the session cookie, against the database on
    every call, so that revoking one takes effect at once. It is served on `host`, and called by its
    names and those of `hosts`. With a `console`, browsers are redirected to its sign-in page.
    """

    def __init__(
        self, app: ASGIApp, opened: Opened, *, host: str, hosts: Collection[str], console: bool
    ) -> None:
        self._app, self._opened, self._console = app, opened, console
        self._names = names_of(host, hosts)
        # Probes from other machines call by an address that is not known beforehand.
        self._health_names = self._names if is_loopback(host) else None
        self._open = HEALTH | {ENTER, LEAVE} if console else HEALTH

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the call here, or pass it on with its principal."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        try:
            known, token = await self._authenticated(scope)
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

    async def _authenticated(self, scope: Scope) -> tuple[Known | None, AccessToken | None]:
        """Return the credentials of a call and their token, nothing if it needs none.

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
            raise Unauthorized(Message("access.no_token"), hint=_HINT)
        token = await self._found(known)
        if token is None:
            raise Unauthorized(Message("access.unknown", what=known[1]), hint=_HINT)
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
            closed: AsgiMessage = {"type": "websocket.close", "code": code, "reason": ""}
            await send(closed)
            return
        answer = self._page(error, scope) or answer_error(error)
        await answer(scope, receive, send)

    def _page(self, error: SkillWorkerError, scope: Scope) -> Response | None:
        """Return the answer to a browser that asks for a page; None for the common answer."""
        headers = Headers(scope=scope)
        asks = scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", "")
        if not (self._console and asks and _is_page(scope["path"])):
            return None
        if isinstance(error, Unauthorized):
            return RedirectResponse(entry_page.enter_address(scope), 303)
        if isinstance(error, DependencyDown):
            return entry_page.starting(headers.get("accept-language", ""))
        return None


def _secret(headers: Headers) -> Known | None:
    """Return the credentials of a call: a token in its header, else a session in its cookie."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip(), TokenKind.TOKEN
    session = cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE)
    return (session, TokenKind.SESSION) if session else None


def _is_page(path: str) -> bool:
    return path in {"/", CONSOLE} or path.startswith(f"{CONSOLE}/")
