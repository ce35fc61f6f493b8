"""The guard around everything that a worker serves: no call passes unauthenticated."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from core.domain import tracing
from core.domain.errors import (
    DependencyDown,
    Forbidden,
    SkillWorkerError,
    TooManyCalls,
    Unauthorized,
)
from core.domain.http_origin import is_loopback, names_of, refusal
from core.domain.messages import Message
from core.domain.models.access import AccessToken, Limits, TokenKind
from core.domain.models.trace_context import TraceContext, read_context
from core.domain.tasks import as_far_as, end_tasks
from core.entrypoints.api import entry_page
from core.entrypoints.api.entry_page import CONSOLE, ENTER, LEAVE, SIGN_IN, SIGNED_IN
from core.entrypoints.api.mcp import MCP
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.problems import answer_error
from core.entrypoints.api.sessions import PRINCIPAL

LOOK_SECONDS = 1.0  # between two checks before something is sent
IDLE_SECONDS = 5.0  # between two checks while nothing is said
POLICY, TRY_LATER = 1008, 1013  # close codes of RFC 6455 and of IANA's registry
_LAST: AsgiMessage = {"type": "http.response.body", "body": b"", "more_body": False}


class Lasting:
    """Stands between an app and one caller.

    `still_in` is asked before a websocket message is received, before anything is sent, but then at
    most once a second, and every `idle` seconds while nothing is said. If the caller's access has
    ended, they take nothing any more, or `over` is set, the app is told that they have
    disconnected, and nothing more is sent. A body that does not end in time is refused.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        still_in: Callable[[], Awaitable[bool]],
        over: asyncio.Event,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        idle: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_socket = scope["type"] == "websocket"
        self._receive, self._send = receive, send
        self._still_in, self._clock = still_in, clock
        self._over, self._checked_at = over, clock()
        self._limits, self._idle = limits, idle
        self._body_ends_at = self._checked_at + limits.body_seconds
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
            await self._sent(message)

    async def _sent(self, message: AsgiMessage) -> None:
        """Send a message; a caller who takes nothing of a stream is taken for gone."""
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await self._send(message)
        except TimeoutError:
            self._ended = True
            self._over.set()

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
            return await self._part_of_body()
        hearing = asyncio.ensure_future(self._receive())
        over = asyncio.ensure_future(self._over.wait())
        try:
            while not self._over.is_set():
                done, _ = await asyncio.wait(
                    {hearing, over}, timeout=self._idle, return_when=asyncio.FIRST_COMPLETED
                )
                if done:
                    break
                await self._check()
            return hearing.result() if hearing.done() else None
        finally:
            await end_tasks([hearing, over])

    async def _part_of_body(self) -> AsgiMessage:
        """Return the next part of the body. Raises HTTPException once it takes too long."""
        try:
            async with asyncio.timeout(max(0.0, self._body_ends_at - self._clock())):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                HTTPStatus.REQUEST_TIMEOUT,
                Message("body.slow", seconds=self._limits.body_seconds),
                {"Connection": "close"},
            ) from None
        self._has_body = message.get("more_body", False)
        return message


SESSION_COOKIE = "skill_worker_session"
HEALTH = frozenset({"/healthz", "/readyz", "/metrics"})
_HINT = Message("access.hint_token")

NONCE = "csp_nonce"  # where in `scope["state"]` the pages find theirs
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# What NiceGUI needs beyond 'self': it evaluates the templates and handlers of its elements, and
# Vue and Quasar write styles. Its inline scripts have a nonce (console/app.py), so that markup
# which got into a page would run nothing.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval' 'nonce-{nonce}'; script-src-attr 'none';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# With the referrer policy `no-referrer` browsers would send forms with `Origin: null`.
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

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
        self._open = HEALTH | {ENTER, LEAVE, SIGN_IN, SIGNED_IN} if console else HEALTH

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the call here, or pass it on with its principal."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http":
            scope["state"] = {**scope.get("state", {}), NONCE: secrets.token_urlsafe(16)}
            send = _with_headers(scope, send)
        limiter = self._opened.limiter
        with ExitStack() as stack:
            try:
                known, token = await self._authenticated(scope)
                if token is not None:
                    _see_way(token, scope)
                    limiter.call(token.id)
                if token is not None and _lasts(scope):
                    stack.enter_context(limiter.stream(token.id))
            except SkillWorkerError as error:
                await self._refuse(error, scope, receive, send)
                return
            if token is not None:
                scope["state"] = {**scope.get("state", {}), PRINCIPAL: token.principal}
                stack.enter_context(as_far_as(token.principal.tenant_id))
                stack.enter_context(tracing.under(_context_of(scope)))
            still_in = partial(self._still_in, known)
            over = stack.enter_context(self._opened.lasting())
            call = Lasting(
                scope, receive, send, still_in=still_in, over=over, limits=limiter.limits
            )
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
            await self._opened.refused(known[1], address_of(scope), scope["path"])
            raise Unauthorized(Message("access.unknown", what=known[1]), hint=_HINT)
        return known, token

    async def _found(self, known: Known) -> AccessToken | None:
        return await self._opened.access().find(*known)

    async def _still_in(self, known: Known | None) -> bool:
        return known is None or await self._found(known) is not None

    async def _refuse(
        self, error: SkillWorkerError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            code = TRY_LATER if isinstance(error, DependencyDown | TooManyCalls) else POLICY
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


def _see_way(token: AccessToken, scope: Scope) -> None:
    """Raise Forbidden where an agent asks for what is made for people."""
    path = scope["path"]
    if token.agent_id is not None and path != MCP and not path.startswith("/v1/"):
        raise Forbidden(
            Message("access.agent_only", name=token.name), hint=Message("access.agent_hint")
        )


def _context_of(scope: Scope) -> TraceContext | None:
    headers = Headers(scope=scope)
    return read_context(headers.getlist("traceparent"), headers.getlist("tracestate"))


def address_of(scope: Scope) -> str:
    """Return the address of a caller; that of a proxy where one stands before the worker."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _lasts(scope: Scope) -> bool:
    """Whether a call lasts for as long as its caller likes: a websocket, a stream of events."""
    if scope["type"] == "websocket":
        return True
    path = scope["path"]
    if path == MCP:
        return bool(scope["method"] == "GET")
    is_stream: bool = path.startswith("/v1/feedback/") and path.endswith("/events")
    return scope["method"] == "GET" and (path == "/v1/events" or is_stream)


def _with_headers(scope: Scope, send: Send) -> Send:
    """Return a `send` that adds the headers by which browsers protect what is answered."""
    nonce = scope["state"][NONCE]
    policy = _PAGE_POLICY.format(nonce=nonce) if _is_page(scope["path"]) else _POLICY

    async def sending(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**_HEADERS, "Content-Security-Policy": policy}.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _secret(headers: Headers) -> Known | None:
    """Return the credentials of a call: a token in its header, else a session in its cookie."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip(), TokenKind.TOKEN
    session = cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE)
    return (session, TokenKind.SESSION) if session else None


def _is_page(path: str) -> bool:
    return path in {"/", CONSOLE} or path.startswith(f"{CONSOLE}/")
