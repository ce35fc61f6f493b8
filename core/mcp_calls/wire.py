"""The HTTP under an MCP session, watched, since the SDK only logs much of what goes wrong there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx

from core.errors import McpDown, SkillWorkerError
from core.mcp_calls.errors import excerpt, refused
from core.mcp_calls.server import McpServer

CONNECT_SECONDS = 10.0
_EVENT_STREAM = "text/event-stream"
Report = Callable[[SkillWorkerError], None]


class Wire:
    """Makes the HTTP client of one session and reports what ends the session.

    Calls are bounded by whoever makes them, not here: a read timeout here would end the session
    of all calls when one of them is slow.
    """

    def __init__(self, server: McpServer, report: Report) -> None:
        """`report` is told of each failure that the SDK would leave the caller waiting for."""
        self._server = server
        self._report = report

    def client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,  # noqa: ARG002  the SDK's own is not wanted
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        """Make a client, as the SDK asks for one."""
        return httpx.AsyncClient(
            headers=headers,
            auth=auth,
            timeout=httpx.Timeout(CONNECT_SECONDS, read=None, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            trust_env=not self._server.is_local,
            event_hooks={"response": [self._see]},
        )

    async def _see(self, response: httpx.Response) -> None:
        method = response.request.method
        if method == "DELETE" or (method == "GET" and not self._server.is_sse):
            return  # what the SDK may ignore: a goodbye, and a stream that servers need not have
        if problem := await self._problem(response):
            self._report(problem)
            raise problem
        if _content_type(response).startswith(_EVENT_STREAM):
            response.stream = _AnswerStream(
                response.stream, self._cut, resumes=not self._server.is_sse
            )

    def _cut(self, why: str) -> None:
        where = self._server.shown
        self._report(McpDown(f"{where} broke off in the middle of an answer: {why}"))

    async def _problem(self, response: httpx.Response) -> SkillWorkerError | None:
        status = response.status_code
        is_unknown_session = status == httpx.codes.NOT_FOUND and not self._server.is_sse
        if 300 <= status < 400 or is_unknown_session:
            return None
        if status >= 400:
            said = await _beginning(response)
            return refused(status, self._server.shown, said, response.headers)
        if "html" in _content_type(response):
            said = await _beginning(response)
            return McpDown(
                f"{self._server.shown} answered with HTML: {said}",
                hint="does the address point at the MCP endpoint?",
            )
        return None


class _AnswerStream(httpx.AsyncByteStream):
    """The events of one answer, or over SSE of all; an end that the reader sees came too early."""

    def __init__(self, inner: object, cut: Callable[[str], None], *, resumes: bool) -> None:
        """`resumes`: the SDK asks again for what came after an event with an id."""
        assert isinstance(inner, httpx.AsyncByteStream)
        self._inner = inner
        self._cut = cut
        self._resumes = resumes
        self._has_id = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._has_id |= chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except httpx.HTTPError as error:
            self._ended(str(error) or type(error).__name__)
            raise
        self._ended("the stream ended")

    def _ended(self, why: str) -> None:
        if not (self._resumes and self._has_id):
            self._cut(why)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _content_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


async def _beginning(response: httpx.Response) -> str:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= 1000:
            break
    return excerpt(body[:4000].decode("utf-8", "replace"))
