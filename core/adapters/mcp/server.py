"""An MCP server's name, address, token, and the transport that the address implies."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from core.domain.errors import ConfigurationError

COMPUTER_USE = "computer-use"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class McpServer:
    """A server as configured; `token` is sent as a bearer token."""

    name: str
    url: str
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Raises ConfigurationError if the address is no http URL."""
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigurationError(
                f"{self.url!r} is no address of an MCP server",
                hint="give http(s)://host[:port]/mcp",
            )

    @property
    def is_sse(self) -> bool:
        """Whether the address implies SSE; everything else is streamable HTTP."""
        return urlsplit(self.url).path.rstrip("/").endswith("/sse")

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, which no proxy of the environment can reach."""
        return urlsplit(self.url).hostname in _LOOPBACK

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def address(self) -> str:
        """The address without credentials: httpx would send those in place of the token."""
        parts = urlsplit(self.url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return urlunsplit(bare) if self.token else self.url

    @property
    def shown(self) -> str:
        """Name and address for error messages: without a user, a password or a query."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return f"MCP server {self.name} ({urlunsplit((parts.scheme, host, parts.path, '', ''))})"
