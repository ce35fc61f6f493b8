"""How a person signs in to the console and out of it: at a provider, by a link, by a token."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from secrets import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import structlog
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from core.domain.errors import DependencyDown, Refused, SkillWorkerError, TooManyCalls
from core.domain.models.access import TokenKind
from core.entrypoints.api import entry_page
from core.entrypoints.api.entry_page import SIGNED_IN
from core.entrypoints.api.guard import SESSION_COOKIE, address_of
from core.entrypoints.api.opened import Opened
from core.entrypoints.auth import Access, Made

if TYPE_CHECKING:  # its packages are an extra
    from core.entrypoints.api.oidc import Begun, Provider

log = structlog.get_logger(__name__)

LONGEST_FORM = 4096
LONGEST_SIGN_IN = 600  # seconds at the provider
SIGN_IN_COOKIE = "skill_worker_sign_in"

Answer = Callable[[Access, Request], Awaitable[Response]]


class Entry:
    """The sign-in pages over one opened program. The guard has checked Host and Origin.

    `provider` is the identity provider, if there is one.
    """

    def __init__(self, opened: Opened, provider: Provider | None = None) -> None:
        self._opened, self._provider = opened, provider
        self._label = provider.config.label if provider else ""

    async def enter(self, request: Request) -> Response:
        """Ask for a token or to press a button, or accept a token or the key of a link."""
        if request.method == "POST":
            return await self._asking(request, self._by_secret)
        if request.method == "GET" and "key" in request.query_params:
            key = request.query_params["key"]
            return entry_page.press(_accepted(request), key, _wanted(request))
        return entry_page.enter(_accepted(request), wanted=_wanted(request), label=self._label)

    async def leave(self, request: Request) -> Response:
        """Ask whether to sign out, or do it."""
        if request.method == "POST":
            return await self._asking(request, self._sign_out)
        return entry_page.leave(_accepted(request))

    async def sign_in(self, request: Request) -> Response:
        """Send a person to the provider; the browser keeps what it has to bring back."""
        if self._provider is None:
            return RedirectResponse(entry_page.ENTER, 303)
        wanted = entry_page.own_page(_wanted(request))
        try:
            url, begun = await self._provider.begin(self._address(request), wanted)
        except SkillWorkerError as error:
            return self._failed(request, error)
        answer = RedirectResponse(url, 303)
        self._keep(request, answer, begun)
        return answer

    async def signed_in(self, request: Request) -> Response:
        """Open the session of a person who comes back, or let them choose one of their tenants."""
        return await self._asking(request, self._come_back)

    async def _come_back(self, access: Access, request: Request) -> Response:
        query, begun = request.query_params, self._begun(request) if self._provider else None
        if self._provider is None or begun is None:
            return self._told(request, "sign_in_expired")
        if not compare_digest(query.get("state", "").encode(), begun.state.encode()):
            return self._told(request, "sign_in_expired")
        if "code" not in query:
            log.warning("sign_in.failed", error="access_denied" if "error" in query else "no code")
            return self._told(request, "sign_in_refused")
        try:
            persons = await self._provider.finish(query["code"], begun, self._address(request))
        except SkillWorkerError as error:
            return self._failed(request, error)
        if not persons:
            log.warning("sign_in.failed", error="no role")
            return self._told(request, "sign_in_no_role")
        if len(persons) > 1:
            # One-time links: whoever presses a button redeems the one of that tenant.
            made = [(one.tenant_id, await access.link(one)) for one in persons]
            keys = [(tenant, link.secret.get_secret_value()) for tenant, link in made]
            return self._done(request, entry_page.choose(_accepted(request), keys, begun.wanted))
        (person,) = persons
        # The session's cookie is not sent with what follows from another site's page by itself.
        answer = entry_page.entered(_accepted(request), begun.wanted)
        self._admit(request, answer, await access.admit(person))
        return self._done(request, answer)

    async def _by_secret(self, access: Access, request: Request) -> Response:
        form = await _form(request)
        wanted = form.get("next", "")
        if "key" in form:
            kind, problem, made = TokenKind.LINK, "bad_link", await access.redeem(form["key"])
        else:
            token = form.get("token", "")
            kind, problem, made = TokenKind.TOKEN, "bad_token", await access.open_session(token)
        if made is None:
            await self._opened.refused(kind, address_of(request.scope), request.url.path)
            return self._told(request, problem, wanted)
        answer = RedirectResponse(entry_page.own_page(wanted), 303)
        self._admit(request, answer, made)
        return answer

    async def _sign_out(self, access: Access, request: Request) -> Response:
        form = await _form(request)
        secret = request.cookies.get(SESSION_COOKIE, "")
        session = await access.close_session(secret, everywhere="everywhere" in form)
        at_provider = None
        if session is not None and session.subject and self._provider is not None:
            at_provider = await self._logout_url(request)
        answer = entry_page.left(_accepted(request), at_provider, self._label)
        answer.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
        return answer

    async def _logout_url(self, request: Request) -> str | None:
        assert self._provider is not None
        try:
            return await self._provider.logout_url(f"{self._base(request)}{entry_page.ENTER}")
        except SkillWorkerError:  # one signs out here all the same
            return None

    async def _asking(self, request: Request, answer: Answer) -> Response:
        try:
            return await answer(self._opened.access(), request)
        except TooManyCalls as error:
            page = self._told(request, "too_many")
            page.status_code = 429
            page.headers["Retry-After"] = str(max(1, round(error.retry_after)))
            return page
        except DependencyDown:
            return entry_page.starting(_accepted(request))

    def _admit(self, request: Request, answer: Response, made: Made) -> None:
        """Give the browser its session."""
        answer.set_cookie(
            SESSION_COOKIE,
            made.secret.get_secret_value(),
            max_age=made.lasts,
            path="/",
            httponly=True,
            samesite="strict",
            secure=self._is_secure(request),
        )

    def _keep(self, request: Request, answer: Response, begun: Begun) -> None:
        """Let the browser keep a sign-in that has begun; it must come back from another site."""
        value = base64.urlsafe_b64encode(begun.model_dump_json().encode()).decode()
        answer.set_cookie(
            self._cookie_name(request),
            value,
            max_age=LONGEST_SIGN_IN,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self._is_secure(request),
        )

    def _begun(self, request: Request) -> Begun | None:
        from core.entrypoints.api.oidc import Begun

        value = request.cookies.get(self._cookie_name(request), "")
        try:
            return Begun.model_validate_json(base64.urlsafe_b64decode(value))
        except (ValueError, ValidationError):
            return None

    def _done(self, request: Request, answer: Response) -> Response:
        answer.delete_cookie(
            self._cookie_name(request),
            secure=self._is_secure(request),
            httponly=True,
            samesite="lax",
        )
        return answer

    def _cookie_name(self, request: Request) -> str:
        """Return the cookie's name: with the prefix no other host of the domain can set it."""
        return f"__Host-{SIGN_IN_COOKIE}" if self._is_secure(request) else SIGN_IN_COOKIE

    def _is_secure(self, request: Request) -> bool:
        # A proxy's X-Forwarded-Proto is not trusted: any client can send one.
        return self._base(request).startswith("https:")

    def _base(self, request: Request) -> str:
        """Return the worker's own address as browsers see it."""
        given = self._provider.config.base_url if self._provider else None
        return (given or f"{request.url.scheme}://{request.url.netloc}").rstrip("/")

    def _address(self, request: Request) -> str:
        return f"{self._base(request)}{SIGNED_IN}"

    def _told(self, request: Request, problem: str, wanted: str = "") -> Response:
        return entry_page.enter(_accepted(request), problem, wanted, self._label)

    def _failed(self, request: Request, error: SkillWorkerError) -> Response:
        log.warning("sign_in.failed", error=error.message)
        if isinstance(error, Refused):
            return self._told(request, "sign_in_invalid")
        page = self._told(request, "sign_in_down")
        page.status_code = 503
        return page


def _wanted(request: Request) -> str:
    return request.query_params.get("next", "")


async def _form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form; a long body, or one that is not a form, has none."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            return {}
    found = parse_qs(body.decode("latin-1"), keep_blank_values=True)
    return {name: given[0].strip() for name, given in found.items()}


def _accepted(request: Request) -> str:
    return request.headers.get("accept-language", "")
