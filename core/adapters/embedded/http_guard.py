"""Access control for embedded servers: the holder of a token, and no page of another site."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from core.domain.errors import ConfigurationError, TooManyCalls
from core.domain.hashing import tenant_of_token, tenant_token
from core.domain.http_origin import names_of, refusal
from core.domain.messages import Message
from core.domain.ports import Sleep
from core.domain.slow_down import SlowDown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

TENANT = "tenant_of_token"
"""The key in the state of a call under which the guard says to which tenant its token is bound."""
METRICS = "/metrics"
_METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_MOST_A_MINUTE = 10  # wrong tokens before the answers to more of them are delayed
_ANYBODY = ""  # behind a socket of the system nobody has an address

log = structlog.get_logger(__name__)


def _admitted(token: str, given: bytes) -> tuple[bool, str | None]:
    """Return whether a given token is right, and the tenant it is bound to, None for all."""
    if hmac.compare_digest(given, token.encode()):
        return True, None
    tenant_id = tenant_of_token(given)
    if tenant_id is None:
        return False, None
    return hmac.compare_digest(given, tenant_token(token, tenant_id).encode()), tenant_id


class HttpGuard:
    """ASGI middleware: passes permitted calls on and answers the others with 401 or 403.

    With a token, every call needs it, or one of a tenant derived from it, as `Authorization:
    Bearer`; `TENANT` in the call's state is then the one it is bound to. On loopback, `Host` must
    be a loopback name. `Origin`, which only browsers send, must be the server's own. A wrong token
    makes the answer to the next one slower; how many there were is told under `METRICS`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        token: str | None,
        setting: str | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Guard `app`, which is served on `host`; `setting` is the variable that holds the token.

        `setting` is None if the server discloses nothing private, so that it needs no token.

        Raises ConfigurationError if there is no token although one is needed.
        """
        self._names = names_of(host)
        if not token and setting is not None:
            raise ConfigurationError(
                Message("serve.no_secret", host=host, setting=setting),
                hint=Message("serve.hint_secret", setting=setting),
            )
        self._app = app
        self._token = token or None
        self._wrong, self._refused = SlowDown(_MOST_A_MINUTE, clock, sleep), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the call or pass it on."""
        refused = await self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if refused is None and self._is_asked_for_metrics(scope):
            await _answer(send, 200, self._metrics(), _METRICS_TYPE)
        elif refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _answer(send, refused[0], json.dumps({"detail": refused[1]}).encode())
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})

    async def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason of a refusal, or None if the call may pass."""
        refused = refusal(scope["headers"], self._names)
        if refused is not None:
            return 403, refused
        if self._token is None:
            return None
        headers: dict[bytes, bytes] = dict(scope["headers"])
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        is_right, tenant_id = _admitted(self._token, given)
        if is_right and scheme == b"Bearer":
            scope["state"] = {**scope.get("state", {}), TENANT: tenant_id}
            return None
        if given:
            self._count()
            try:
                await self._wrong.delay(_ANYBODY)
            except TooManyCalls as error:
                return 429, error.message
        return 401, "the call needs the header Authorization: Bearer with the right token"

    def _count(self) -> None:
        """Count a wrong token, and log it as often as their number doubles."""
        self._refused += 1
        if self._refused & (self._refused - 1) == 0:  # a flood of calls must not be one of lines
            log.warning("token.refused", count=self._refused)

    def _is_asked_for_metrics(self, scope: Scope) -> bool:
        """Whether a call is for the count, which is for who has the token for all tenants."""
        is_it = scope["type"] == "http" and scope["path"] == METRICS and self._token is not None
        return is_it and scope["state"][TENANT] is None

    def _metrics(self) -> bytes:
        from prometheus_client import CollectorRegistry, Counter, generate_latest
        from prometheus_client import disable_created_metrics as without_times_of_creation

        without_times_of_creation()  # type: ignore[no-untyped-call]
        registry = CollectorRegistry()
        text = "Calls with a wrong token, session or link."
        counter = Counter("skill_worker_access_refused", text, ["credential"], registry=registry)
        counter.labels("token").inc(self._refused)
        return generate_latest(registry)


async def _answer(send: Send, status: int, body: bytes, kind: bytes = b"application/json") -> None:
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    start: AsgiMessage = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
