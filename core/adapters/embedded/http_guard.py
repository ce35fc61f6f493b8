"""Access control for embedded servers: the holder of the token, and no page of another site."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING

from core.domain.errors import ConfigurationError
from core.domain.http_origin import names_of, refusal
from core.domain.messages import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage


class HttpGuard:
    """ASGI middleware: passes permitted calls on and answers the others with 401 or 403.

    With a token, every call needs `Authorization: Bearer`. On loopback, `Host` must be a loopback
    name. `Origin`, which only browsers send, must be the server's own.
    """

    def __init__(self, app: ASGIApp, *, host: str, token: str | None, setting: str | None) -> None:
        """Guard `app`, which is served on `host`; `setting` is the variable that holds the token.

        `setting` is None if the server discloses nothing private, so that it needs no token.

        Raises ConfigurationError if `host` is beyond loopback and there is no token.
        """
        self._names = names_of(host)
        if self._names is None and not token and setting is not None:
            raise ConfigurationError(
                Message("serve.no_secret", host=host, setting=setting),
                hint=Message("serve.hint_secret", setting=setting),
            )
        self._app = app
        self._expected = f"Bearer {token}".encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the call or pass it on."""
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _answer(send, *refusal)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason of a refusal, or None if the call may pass."""
        refused = refusal(scope["headers"], self._names)
        if refused is not None:
            return 403, refused
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if self._expected is not None and not hmac.compare_digest(
            headers.get(b"authorization", b""), self._expected
        ):
            return 401, "the call needs the header Authorization: Bearer with the right token"
        return None


async def _answer(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    start: AsgiMessage = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
