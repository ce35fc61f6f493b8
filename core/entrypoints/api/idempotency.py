"""Idempotency keys: a call that is sent twice is carried out once and answered twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from core.domain.errors import InvalidInput, KeyReused, SkillWorkerError
from core.domain.messages import Message
from core.domain.models.access import Answer, Principal
from core.domain.ports import Answers
from core.entrypoints.api.bodies import MAX_LARGE, too_large
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.problems import PROBLEM_TYPE, answer, answer_error, problem
from core.entrypoints.api.sessions import PRINCIPAL

log = structlog.get_logger(__name__)

HEADER, REPLAY = "Idempotency-Key", "Idempotent-Replay"
LONGEST_KEY = 200
_PARAMETER = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Makes it safe to send the call again: for a day the same call under the same"
    f" key is answered as it was at first, with the header `{REPLAY}: true`. Another call under"
    " the key is refused (422), and so is one while the first is worked on (409).",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_KEY,
        "pattern": "^[!-~]+$",
    },
}
# Calls that only read: repeating them is safe, and what they answer is not stored.
_READS = ("/v1/context", "/v1/decisions/", "/v1/memories/", "/v1/skills/")
_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")


class Idempotency:
    """An ASGI app between the guard and the API, for every POST with a key that changes something.

    The first call under a key is carried out and its answer stored, unless it is 429 or a 5xx. The
    same call under the same key gets the same answer; another one is refused.
    """

    def __init__(self, app: ASGIApp, opened: Opened) -> None:
        self._app, self._opened = app, opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or repeat its stored answer."""
        key = _key(scope)
        principal = scope.get("state", {}).get(PRINCIPAL)
        if key is None or not isinstance(principal, Principal):
            await self._app(scope, receive, send)
            return
        try:
            body = await _body(key, receive)
            call = _Call(
                self._opened().stores.answers, principal.token_id, key, _digest(scope, body)
            )
            known = await call.answers.begin(call.owner, key, call.digest)
            answered = None if known is None else _again(known, call.digest)
        except SkillWorkerError as error:
            await answer_error(error)(scope, receive, send)
            return
        except HTTPException as error:
            refused = problem(error.status_code, error.detail)
            await answer(refused, dict(error.headers or {}))(scope, receive, send)
            return
        if answered is not None:
            await answered(scope, receive, send)
            return
        await call.carry_out(self._app, scope, _replayed(body, receive), send)


class _Call:
    """The first call under a key."""

    def __init__(self, answers: Answers, owner: str, key: str, digest: str) -> None:
        self.answers, self.owner, self.key, self.digest = answers, owner, key, digest
        self._start: AsgiMessage = {}
        self._body = b""

    async def carry_out(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer; the answer is stored before the caller receives it."""

        async def keep_and_send(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                self._start = message
                return
            self._body += message.get("body", b"")
            if message.get("more_body", False):
                return
            await self._keep()
            await send(self._start)
            await send({"type": "http.response.body", "body": self._body})

        try:
            await app(scope, receive, keep_and_send)
        except Exception:
            await self._noted(self.answers.forget(self.owner, self.key))
            raise

    async def _keep(self) -> None:
        status = self._start["status"]
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            await self._noted(self.answers.forget(self.owner, self.key))
            return
        stored = Answer(digest=self.digest, status=status, body=self._body.decode())
        await self._noted(self.answers.end(self.owner, self.key, stored))

    async def _noted(self, noting: Awaitable[None]) -> None:
        """Store the outcome of a call; if that fails the caller is answered all the same."""
        try:
            await noting
        except SkillWorkerError as error:
            log.warning("answer.not_kept", owner=self.owner, error=error.message, kind=error.kind)


def document(app: FastAPI) -> None:
    """Declare the header on every POST of the OpenAPI document."""
    for name, path in app.openapi()["paths"].items():
        if "post" in path and not name.startswith(_READS):
            path["post"].setdefault("parameters", []).append(_PARAMETER)


def _key(scope: Scope) -> str | None:
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    if scope["path"].startswith(_READS):
        return None
    return Headers(scope=scope).get(HEADER)


async def _body(key: str, receive: Receive) -> bytes:
    """Return the whole body of a call. Raises InvalidInput on a bad key, 413 on a long body."""
    if not _KEY.fullmatch(key):
        raise InvalidInput(Message("idempotency.key", header=HEADER, most=LONGEST_KEY))
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise InvalidInput(Message("idempotency.broke_off"))
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_LARGE:
            raise too_large(MAX_LARGE)
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Callable[[], Awaitable[AsgiMessage]]:
    """Return a `receive` that first repeats the body already read."""
    left: list[AsgiMessage] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> AsgiMessage:
        return left.pop() if left else await receive()

    return replayed


def _digest(scope: Scope, body: bytes) -> str:
    target = f"{scope['method']} {scope['path']}?{scope['query_string'].decode('latin-1')}"
    return hashlib.sha256(target.encode() + b"\0" + body).hexdigest()


def _again(known: Answer, digest: str) -> Response:
    """Repeat the answer to a known key. Raises KeyReused if it belongs to another call."""
    if known.digest != digest:
        raise KeyReused(
            Message("idempotency.used", header=HEADER),
            hint=Message("idempotency.hint_key"),
        )
    if known.status is None:
        status = HTTPStatus.CONFLICT
        detail = Message("idempotency.working")
        busy = problem(status, detail, "busy", Message("idempotency.hint_later"))
        return answer(busy, {"Retry-After": "1"})
    failed = known.status >= HTTPStatus.BAD_REQUEST
    media = PROBLEM_TYPE if failed else "application/json"
    return Response(known.body, known.status, {REPLAY: "true"}, media)
