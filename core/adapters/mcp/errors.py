"""Translates MCP failures into our own errors, in one place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import anyio
import httpx

from core.domain.errors import ConfigurationError, McpDown, PodCallFailed, SkillWorkerError
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message
from core.domain.text import one_line

EXCERPT = 200  # characters of a foreign answer that an error shows
_FORBIDDEN = frozenset({401, 403})
_FORGOTTEN = frozenset({400, 404})  # how servers answer a session they do not know
_CLOSED = -32000  # the SDK's own code for an answer that will never come
_TERMINATED = 32600  # the SDK's own code (positive) for HTTP 404: unknown session
_REFUSED = frozenset({-32601, -32602})  # JSON-RPC: no such method, bad arguments
_UP = Message("mcp.hint_up")


def translate(error: BaseException | None, where: str) -> SkillWorkerError:
    """Return our error for what ended a session or a call; searches groups for the cause."""
    leaves = [] if error is None else list(_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, SkillWorkerError):
            return leaf
    for leaf in leaves:
        if not isinstance(leaf, asyncio.CancelledError):
            return _translate(leaf, where)
    return McpDown(Message("mcp.cut", where=where), hint=_UP)


def ends_session(error: BaseException) -> bool:
    """Whether the session is unusable after this error."""
    from mcp.shared.exceptions import McpError

    if isinstance(error, McpError):
        return error.error.code in {_CLOSED, _TERMINATED}
    return isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError)


def refused(
    status: int, where: str, said: str, headers: Mapping[str, str] | None = None
) -> SkillWorkerError:
    """Return our error for an unsuccessful HTTP status; `headers` may contain Retry-After."""
    message = Message("mcp.answered", where=where, status=status)
    if said:
        message = Message("call.answered", where=where, status=status, why=said)
    if status in _FORBIDDEN:
        return ConfigurationError(message, hint=Message("mcp.hint_token"))
    if 300 <= status < 400:
        return ConfigurationError(message, hint=Message("mcp.hint_redirect"))
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return PodCallFailed(message, hint=Message("mcp.hint_size"))
    if passes(status) or status in _FORGOTTEN:
        return McpDown(message, hint=_UP, retry_after=retry_after(headers or {}))
    return ConfigurationError(message, hint=Message("mcp.hint_endpoint"))


def excerpt(text: str) -> str:
    """Return the beginning of a foreign answer, on one line."""
    return one_line(text[: 4 * EXCERPT])[:EXCERPT] or "nothing"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error


def _translate(error: BaseException, where: str) -> SkillWorkerError:
    from mcp.shared.exceptions import McpError

    said = excerpt(str(error)) if str(error) else type(error).__name__
    if isinstance(error, httpx.HTTPStatusError):
        return refused(error.response.status_code, where, said, error.response.headers)
    if isinstance(error, McpError):
        return _of_protocol(error.error.code, where, said)
    if isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError):
        return McpDown(Message("mcp.closed", where=where), hint=_UP)
    if isinstance(error, httpx.HTTPError | OSError):
        return McpDown(Message("mcp.no_answer", where=where, why=said), hint=_UP)
    return McpDown(Message("mcp.no_mcp", where=where, why=said), hint=_UP)


def _of_protocol(code: int, where: str, said: str) -> SkillWorkerError:
    if code in _REFUSED:
        return PodCallFailed(Message("mcp.refused", where=where, why=said))
    if code == _TERMINATED:
        return McpDown(Message("mcp.no_session", where=where), hint=_UP)
    return McpDown(Message("call.says", where=where, why=said), hint=_UP)
