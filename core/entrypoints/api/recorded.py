"""Puts calls on record: those that change something, and those that are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from core.domain.models.access import Principal
from core.domain.models.audit import Call, Via
from core.entrypoints.api.entry_page import ENTER, LEAVE
from core.entrypoints.api.mcp import MCP
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.sessions import PRINCIPAL
from core.entrypoints.service.session import TENANT

READING = frozenset({"GET", "HEAD", "OPTIONS"})
LONGEST_ID = 200
# What agents use is on record as uses and outcomes: these calls change nothing that is known.
USING = ("/v1/memories/", "/v1/decisions/", "/v1/skills/", "/v1/outcomes", "/v1/context")
_OUTCOMES = {
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.TOO_MANY_REQUESTS: "limited",
}
_PLACE = re.compile(r"\{(\w+)\}")


class Recorded:
    """An ASGI app around the guard, so that what that refuses is on record too.

    `templates` are the routes of the API. Of an address only its template and ids are recorded, and
    of a caller without a token no ids either: anybody may write anything there.
    """

    def __init__(self, app: ASGIApp, opened: Opened, templates: Iterable[str]) -> None:
        self._app, self._opened = app, opened
        self._routes = [(one, _pattern(one)) for one in sorted(templates, key=_literal)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, and record it once it is answered."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        status = HTTPStatus.INTERNAL_SERVER_ERROR.value
        is_open = False

        async def noting(message: AsgiMessage) -> None:
            nonlocal status, is_open
            if message["type"] == "http.response.start":
                status = message["status"]
            is_open = is_open or message["type"] == "websocket.accept"
            if message["type"] == "websocket.close" and not is_open:
                status = HTTPStatus.FORBIDDEN
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            if not is_open and self._counts(scope, status):
                self._note(scope, status)

    def _counts(self, scope: Scope, status: int) -> bool:
        if status in _OUTCOMES:
            return True
        if scope["type"] != "http" or scope["method"] in READING:
            return False
        if scope["path"].startswith(USING):
            return False
        return scope["path"].startswith("/v1/") or scope["path"] in {ENTER, LEAVE}

    def _note(self, scope: Scope, status: int) -> None:
        state = scope.get("state", {})
        principal = state.get(PRINCIPAL)
        known = principal if isinstance(principal, Principal) else None
        route, ids = self._route(scope["path"])
        failed = HTTPStatus(status).phrase.lower().replace(" ", "_")
        is_done = status < HTTPStatus.BAD_REQUEST
        self._opened.calls.note(
            Call(
                tenant_id=(known and known.tenant_id) or state.get(TENANT) or "",
                at=self._opened.calls.now(),
                via=Via.API,
                caller=known.name if known else "",
                token_id=known.token_id if known else None,
                method=scope.get("method", "WEBSOCKET"),
                route=route,
                ids=ids if known else {},
                outcome="done" if is_done else _OUTCOMES.get(HTTPStatus(status), failed),
                status=status,
            )
        )

    def _route(self, path: str) -> tuple[str, Mapping[str, str]]:
        if path in {ENTER, LEAVE, MCP}:
            return path, {}
        for template, pattern in self._routes:
            if found := pattern.fullmatch(path):
                return template, {key: at[:LONGEST_ID] for key, at in found.groupdict().items()}
        return "", {}


def _literal(template: str) -> int:
    """Return a key that puts the route with fewest places first, as the longer of two fits it."""
    return len(_PLACE.findall(template)) * 1000 - len(template)


def _pattern(template: str) -> re.Pattern[str]:
    parts = _PLACE.split(template)
    names = (f"(?P<{part}>.+)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
    return re.compile("".join(names))
