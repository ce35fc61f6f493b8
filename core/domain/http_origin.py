"""Check the Host and Origin of an HTTP call, to keep other sites' pages out.

A server on loopback is reachable from every page in a browser on the same machine. Such a page
cannot choose its Origin, and after DNS rebinding its Host is still the foreign name.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.domain.messages import Message

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ONCE = (b"host", b"origin", b"authorization")
Headers = Iterable[tuple[bytes, bytes]]


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def verification(url: str) -> ssl.SSLContext | bool:
    """Return what HTTPX is to verify the server of a URL with.

    Plain HTTP gets a context that trusts nobody: to read all certificates takes 40 ms.
    """
    if urlsplit(url).scheme == "https":
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def names_of(host: str, further: Iterable[str] = ()) -> frozenset[str] | None:
    """Return the host names a server on `host` accepts; None accepts any.

    On loopback these are the loopback names. `further` names are accepted too; beyond loopback, if
    any are given, only those are.
    """
    more = frozenset(name.lower() for name in further)
    if is_loopback(host):
        return _LOOPBACK | {host} | more
    return more or None


def refusal(headers: Headers, names: frozenset[str] | None) -> str | None:
    """Return why a call's Host or Origin is refused, or None if it may pass.

    Host must be one of the names. Origin, which only browsers send, must be the server's own.
    """
    given = [(name, value.decode("latin-1")) for name, value in headers if name in _ONCE]
    found = dict(given)
    if len(found) < len(given):
        return Message("http.once")
    host, origin = found.get(b"host", ""), found.get(b"origin")
    if names is not None and _hostname(host) not in names:
        return Message("http.no_host", host=host)
    if origin is not None and not _is_own(origin, host):
        return Message("http.other_origin")
    return None


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _is_own(origin: str, host: str) -> bool:
    scheme, separator, authority = origin.partition("://")
    return scheme in {"http", "https"} and bool(separator) and authority.lower() == host.lower()
