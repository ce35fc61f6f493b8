"""Every failure of a session or call becomes one of our errors, of the right kind."""

from __future__ import annotations

import asyncio

import anyio
import httpx
import pytest
from mcp.shared.exceptions import McpError
from mcp.types import ErrorData

from core.adapters.mcp.errors import ends_session, refused, translate
from core.adapters.mcp.session import McpServer
from core.domain.errors import ConfigurationError, McpDown, PodCallFailed, SkillWorkerError

REQUEST = httpx.Request("POST", "http://mcp.test/mcp")


def protocol(code: int, message: str = "무엇") -> McpError:
    return McpError(ErrorData(code=code, message=message))


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (httpx.ConnectError("refused"), McpDown, "does not answer: refused"),
        (httpx.ReadTimeout(""), McpDown, "ReadTimeout"),
        (ConnectionResetError("reset"), McpDown, "reset"),
        (anyio.ClosedResourceError(), McpDown, "closed"),
        (asyncio.CancelledError(), McpDown, "cut"),
        (None, McpDown, "cut"),
        (ValueError("<html>"), McpDown, "not MCP: <html>"),
        (protocol(-32000), McpDown, "무엇"),
        (protocol(32600), McpDown, "404"),
        (protocol(-32602), PodCallFailed, "refused the call"),
        (protocol(-32603), McpDown, "무엇"),
        (httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(401)),
         ConfigurationError, "401"),
    ],
)  # fmt: skip
def test_each_failure_has_its_kind(
    error: BaseException | None, kind: type[SkillWorkerError], says: str
) -> None:
    found = translate(error, "the server")
    assert type(found) is kind
    assert says in found.message
    assert found.message.startswith("the server")


def test_the_cause_is_found_in_groups_and_before_cancellations() -> None:
    cause = ConfigurationError("token")
    group = BaseExceptionGroup(
        "x", [asyncio.CancelledError(), ExceptionGroup("y", [httpx.ConnectError("c"), cause])]
    )
    assert translate(group, "s") is cause
    plain = BaseExceptionGroup("x", [asyncio.CancelledError(), httpx.ConnectError("c")])
    assert "does not answer" in translate(plain, "s").message


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ConfigurationError), (403, ConfigurationError), (308, ConfigurationError),
     (413, PodCallFailed), (400, McpDown), (404, McpDown), (408, McpDown), (409, McpDown),
     (425, McpDown), (429, McpDown), (500, McpDown), (503, McpDown), (529, McpDown),
     (405, ConfigurationError), (410, ConfigurationError), (422, ConfigurationError)],
)  # fmt: skip
def test_each_status_has_its_kind(status: int, kind: type[SkillWorkerError]) -> None:
    assert type(refused(status, "s", "said")) is kind


def test_a_server_may_say_how_long_to_wait() -> None:
    error = refused(503, "s", "", {"retry-after": "7"})
    assert isinstance(error, McpDown)
    assert error.retry_after == 7.0
    assert isinstance(later := refused(503, "s", ""), McpDown)
    assert later.retry_after is None


def test_only_a_lost_session_ends_it() -> None:
    for error in (protocol(-32000), protocol(32600), anyio.ClosedResourceError()):
        assert ends_session(error)
    for error in (protocol(-32602), ValueError("x")):
        assert not ends_session(error)


@pytest.mark.parametrize("url", ["ftp://x/mcp", "mcp", "http://", ""])
def test_an_address_must_be_http(url: str) -> None:
    with pytest.raises(ConfigurationError):
        McpServer("s", url)


def test_the_address_chooses_the_transport() -> None:
    for url in ("http://h/sse", "http://h/x/sse/", "https://h/sse?key=1"):
        assert McpServer("s", url).is_sse
    for url in ("http://h/mcp", "http://h/ssex", "http://h/", "http://h/sse/mcp", "http://sse"):
        assert not McpServer("s", url).is_sse


def test_no_error_and_no_log_shows_a_secret() -> None:
    server = McpServer("s", "http://user:pw@h:1/mcp?key=k3y", "t0ken")
    assert server.headers == {"Authorization": "Bearer t0ken"}
    assert server.shown == "MCP server s (http://h:1/mcp)"
    assert "t0ken" not in repr(server)
    assert server.address == "http://h:1/mcp?key=k3y"
    assert McpServer("s", "http://user:pw@h/mcp").address == "http://user:pw@h/mcp"
