"""Limits on the size and type of a body, checked before any of it is read."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from core.domain.messages import Message
from core.entrypoints.api.problems import answer, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

MAX_BODY = 2**20
MAX_LARGE = 32 * 2**20
# Suffixes of paths whose bodies contain many pieces, or a skill's files.
LARGE = ("/batch", "/edit")


class Bodies:
    """ASGI middleware over the routes of the API."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413 and 415 where they apply; one of unknown length is counted as it arrives."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        limit = MAX_LARGE if scope["path"].endswith(LARGE) else MAX_BODY
        headers = Headers(scope=scope)
        refused = _refused(headers, limit)
        if refused is not None:
            await answer(problem(refused.status_code, refused.detail))(scope, receive, send)
            return
        await self._app(scope, _counted(receive, limit), send)


def _refused(headers: Headers, limit: int) -> HTTPException | None:
    length = headers.get("content-length", "")
    has_body = "transfer-encoding" in headers or length not in {"", "0"}
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if length.isdecimal() and int(length[:20]) > limit:
        return too_large(limit)
    if has_body and kind != "application/json":
        return HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Message("body.no_json_type"))
    return None


def _counted(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def counting() -> AsgiMessage:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise too_large(limit)
        return message

    return counting


def too_large(limit: int) -> HTTPException:
    """Return the error for a body of more than `limit` bytes."""
    most = f"{limit // 2**20} MiB"
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        Message("body.large", most=most),
        {"Connection": "close"},
    )
