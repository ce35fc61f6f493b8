"""Webhooks by the rules of Standard Webhooks, to public addresses only unless allowed."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import urlsplit

import httpx
from standardwebhooks.webhooks import Webhook

from core.delivery.asking import read_answer
from core.domain import tracing
from core.domain.errors import ConfigurationError
from core.domain.http_retry import retry_after
from core.domain.messages import Message
from core.domain.messages import said as said_by
from core.domain.models.deliveries import Notice, Outcome, Sent
from core.domain.text import keep_secret

ANSWER_BYTES = 65_536
LONGEST = 600.0  # of one step, in seconds: the hook's own time is for all of them
# The same bytes would be refused again; what else goes wrong may be mended by whoever receives.
_FOR_GOOD = frozenset({400, 405, 406, 411, 413, 414, 415, 422, 431})
_ASKS_FOR_TIME = frozenset({429, 503})
_PREFIX = "whsec_"
Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

# What `is_global` lets pass although it is special: protocol assignments with Oracle's metadata,
# Azure's metadata, translation to IPv4 within a site, old site-local and documentation addresses.
_SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "64:ff9b:1::/48", "100::/64",
        "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10", "::/96",
    )
)  # fmt: skip
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an IP address is one of the public internet, also behind what it stands for.

    IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4) count as that.
    """
    found: Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    if any(found in network for network in _SPECIAL if network.version == found.version):
        return False
    is_odd = found.is_multicast or found.is_reserved or found.is_unspecified
    return found.is_global and not is_odd


async def resolved(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a host. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def signer(secret: str) -> Webhook:
    """Return what signs with a secret, base64 behind `whsec_`. Raises ConfigurationError."""
    keep_secret(secret)
    try:
        return Webhook(secret if secret.startswith(_PREFIX) else "")
    except Exception:  # noqa: BLE001 - of bad base64, or an error of its own without a base
        raise ConfigurationError(
            Message("hooks.bad_secret"), hint=Message("hooks.hint_secret")
        ) from None


class WebhookAsker:
    """Posts each notice once, to an address that was checked; follows no redirect."""

    def __init__(
        self,
        url: str,
        secrets: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        *,
        allow_private: bool = False,
        clock: Callable[[], datetime],
        resolve: Resolve = resolved,
        trusted: ssl.SSLContext | None = None,
    ) -> None:
        """Make what asks one address; `trusted` says who certifies, in place of the usual ones.

        Raise ConfigurationError on a secret that is none, or an address that is none.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigurationError(Message("hooks.bad_url"), hint=Message("mcp.hint_address"))
        self._url = httpx.URL(url)
        self._host = parts.hostname
        self._signers = [signer(secret) for secret in secrets]
        self._headers = dict(headers or {})
        self._allow_private = allow_private
        self._clock = clock
        self._resolve = resolve
        self._trusted = trusted
        self._client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        """Close its connections."""
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, notice: Notice) -> Sent:
        """Post the notice, signed; the answer may say something."""
        try:
            addresses = await self._resolve(self._host, self._url.port or 443)
        except OSError:
            return _later("dns", Message("hook.no_host", host=self._host))
        if not (self._allow_private or (addresses and all(map(is_public, addresses)))):
            why = Message("hook.private", host=self._host)
            return Sent(outcome=Outcome.NEVER, status="private", error=why)
        failure = "no address"
        for address in addresses:
            try:
                async with self._posted(notice, address) as response:
                    return await _read(response, self._host)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = type(error).__name__  # nothing was sent: the next one may be reached
            except httpx.HTTPError as error:
                failure = type(error).__name__
                break
        return _later("connect", Message("hook.no_connection", host=self._host, why=failure))

    def _posted(self, notice: Notice, address: str) -> AbstractAsyncContextManager[httpx.Response]:
        """Post to the checked address: a name that is looked up again may lead elsewhere."""
        if self._client is None:
            limits = httpx.Limits(max_keepalive_connections=0)
            self._client = httpx.AsyncClient(
                timeout=LONGEST, trust_env=False, limits=limits, verify=self._trusted or True
            )
        body = notice.body
        return self._client.stream(
            "POST",
            self._url.copy_with(host=address),
            content=body.encode(),
            headers={**tracing.outgoing(), **self._headers, **self._signed(notice.id, body)},
            extensions={"sni_hostname": self._host},  # whose certificate is expected
        )

    def _signed(self, notice_id: str, body: str) -> dict[str, str]:
        now = self._clock()
        headers = {
            "Host": self._url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": "skill-worker",
            "webhook-id": notice_id,
            "webhook-timestamp": str(int(now.timestamp())),
        }
        # The package takes any time for one in UTC.
        signatures = [one.sign(notice_id, now.astimezone(UTC), body) for one in self._signers]
        return headers | ({"webhook-signature": " ".join(signatures)} if signatures else {})


def _later(status: str, error: str, seconds: float | None = None) -> Sent:
    return Sent(outcome=Outcome.LATER, status=status, error=error, retry_after=seconds)


async def _read(response: httpx.Response, host: str) -> Sent:
    """Return what an answer means."""
    status = response.status_code
    word = str(status)
    if response.is_success:
        try:
            said = read_answer(await _text(response), prose=False)
        except ValueError as error:
            return Sent(outcome=Outcome.NEVER, status=word, error=said_by(error))
        return Sent(outcome=Outcome.DONE, status=word, answer=said)
    why = Message("hook.answered", host=host, status=status)
    if status == httpx.codes.GONE:
        return Sent(outcome=Outcome.GONE, status=word, error=why)
    if status in _FOR_GOOD:
        return Sent(outcome=Outcome.NEVER, status=word, error=why)
    asked = retry_after(response.headers) if status in _ASKS_FOR_TIME else None
    return _later(word, why, asked)


async def _text(response: httpx.Response) -> str:
    """Return the beginning of an answer."""
    read = b""
    async for part in response.aiter_bytes():
        read += part
        if len(read) >= ANSWER_BYTES:
            break
    return read[:ANSWER_BYTES].decode("utf-8", "replace")
