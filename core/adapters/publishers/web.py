"""Fetch files that others publish: bounded, from checked addresses, unpacked by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import httpx

from core.adapters.hooks.http import Resolve, is_public, resolved
from core.adapters.publishers.git import checkout
from core.domain.errors import DependencyDown, InvalidInput, NotFound
from core.domain.http_origin import verification
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message
from core.domain.ports.installed import Checkout
from core.skills.published.places import check_address

MOST_REDIRECTS = 5
_WHOLE = 300.0  # seconds for one file, redirects included
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_GONE = frozenset({404, 410})


class WebPublishers:
    """The `Publishers` port."""

    def __init__(self, resolve: Resolve = resolved) -> None:
        self._resolve = resolve

    async def file(self, url: str, *, most: int, named_by: str = "") -> bytes:
        """Return the file at an address, after its redirects."""
        try:
            async with asyncio.timeout(_WHOLE):
                return await self._file(url, most, named_by)
        except (TimeoutError, httpx.HTTPError) as error:
            raise DependencyDown(
                Message("publisher.down", url=url, why=type(error).__name__)
            ) from error

    async def tree(self, url: str, ref: str, folder: str) -> Checkout:
        """Return a folder of a repository."""
        return await checkout(url, ref, folder)

    async def _file(self, url: str, most: int, named_by: str) -> bytes:
        # A public place that leads into a private network would have this machine ask there.
        leads_anywhere = not named_by or not await self._is_public(named_by)
        asked = url
        for _ in range(MOST_REDIRECTS + 1):
            addresses = await self._addresses(asked)
            is_open = all(map(is_public, addresses))
            if not (is_open or leads_anywhere):
                raise InvalidInput(Message("publisher.private", url=asked, by=named_by or url))
            async with self._answered(asked, addresses) as response:
                if not response.has_redirect_location:
                    return await _content(response, asked, most)
                target = urljoin(asked, response.headers["location"])
            asked, leads_anywhere = target, not is_open
        raise InvalidInput(Message("publisher.redirects", url=url, most=MOST_REDIRECTS))

    async def _is_public(self, url: str) -> bool:
        return all(map(is_public, await self._addresses(url)))

    async def _addresses(self, url: str) -> list[str]:
        """Return the addresses of a checked URL's host. Raises InvalidInput, DependencyDown."""
        parts = check_address(url)
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            found = [*await self._resolve(host, port)]
        except OSError as error:
            raise DependencyDown(Message("publisher.no_host", host=host, why=error)) from error
        if not found:
            raise DependencyDown(Message("publisher.no_host", host=host, why="-"))
        return found

    @asynccontextmanager
    async def _answered(self, url: str, addresses: list[str]) -> AsyncIterator[httpx.Response]:
        """Ask the first address that can be reached: a name looked up again may lead elsewhere."""
        target = httpx.URL(url).copy_with(fragment=None)
        client = httpx.AsyncClient(timeout=_TIMEOUT, trust_env=False, verify=verification(url))
        headers = {
            "Host": target.netloc.decode("ascii"),
            "User-Agent": "skill-worker",
            "Accept-Encoding": "identity",
        }
        async with client:
            for left, address in enumerate(addresses, 1 - len(addresses)):
                request = client.build_request(
                    "GET",
                    target.copy_with(host=address),
                    headers=headers,
                    extensions={"sni_hostname": target.host},  # whose certificate is expected
                )
                try:
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    if not left:
                        raise
                    continue
                try:
                    yield response
                finally:
                    await response.aclose()
                return


async def _content(response: httpx.Response, url: str, most: int) -> bytes:
    """Return the bytes as they are sent. Raises InvalidInput, NotFound, DependencyDown."""
    status = response.status_code
    if status in _GONE:
        raise NotFound(Message("publisher.nothing", url=url, status=status))
    if passes(status):
        raise DependencyDown(
            Message("publisher.answered", url=url, status=status),
            retry_after=retry_after(response.headers),
        )
    if status != httpx.codes.OK:
        raise InvalidInput(Message("publisher.answered", url=url, status=status))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise InvalidInput(Message("publisher.encoded", url=url))
    read = bytearray()
    async for part in response.aiter_raw():
        read += part
        if len(read) > most:
            raise InvalidInput(Message("publisher.too_large", url=url, most=most))
    return bytes(read)
