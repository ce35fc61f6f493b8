"""A faulty skill server: busy, down, silent, cut off, or ignorant of conditional requests."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FAULTS = ("409", "503", "timeout", "half", "late-409", "late-drop")
_CONDITIONS = {b"if-match", b"if-none-match"}
_HANG_SECONDS = 30.0


class FaultySkills:
    """Wraps the skill API; a `rate` of its calls fails in one of the ways in `kinds`.

    `409` and `503` have no effect; `late-409` and `late-drop` fail after theirs, `half` breaks off
    the answer. Without `etags` it ignores entity tags and conditions. The first write whose path
    ends with `hold` is delayed until `hold` is set again, like a packet long under way.
    """

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner
        self._kinds: list[str] = []
        self._rate = 0.0
        self._etags = True
        self._hold = ""
        self._let_go = asyncio.Event()
        self._faults: Counter[str] = Counter()
        self._random = random.Random(20261120)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
        elif scope["path"] == "/chaos":
            await (await self._control(Request(scope, receive)))(scope, receive, send)
        elif self._hold and _writes(scope, self._hold):
            await self._late(scope, receive, send)
        elif scope["path"].startswith("/skills") and self._random.random() < self._rate:
            await self._fail(self._random.choice(self._kinds), scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _control(self, request: Request) -> Response:
        if request.method == "POST":
            wanted = json.loads(await request.body())
            self._kinds, self._rate = wanted["kinds"], wanted["rate"]
            self._etags = wanted.get("etags", True)
            self._hold = wanted.get("hold", "")
            self._let_go.set()
        return JSONResponse({"faults": self._faults})

    async def _late(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        self._hold = ""
        self._let_go.clear()
        self._faults["held"] += 1
        await self._let_go.wait()
        sent = iter([{"type": "http.request", "body": body}])

        async def once() -> Message:
            return next(sent, {"type": "http.disconnect"})

        await self._answer(scope, once, send)
        self._faults["late"] += 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._etags:
            await self._inner(scope, receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] not in _CONDITIONS]

        async def without_etag(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].lower() != b"etag"]
                message = {**message, "headers": kept}
            await send(message)

        await self._inner({**scope, "headers": headers}, receive, without_etag)

    async def _fail(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._faults[kind] += 1
        if kind in {"409", "503"}:
            await _refusal(int(kind))(scope, receive, send)
        elif kind == "timeout":
            await asyncio.sleep(_HANG_SECONDS)
        elif kind == "half":
            await self._answer(scope, receive, _halved(send))
        else:
            await self._answer(scope, receive, _nowhere)
            if kind == "late-409":
                await _refusal(409)(scope, receive, send)


def _writes(scope: Scope, ending: str) -> bool:
    return scope["method"] in {"PUT", "POST"} and scope["path"].endswith(ending)


def _refusal(status: int) -> Response:
    return JSONResponse({"detail": "busy indexing"}, status, headers={"Retry-After": "0"})


async def _nowhere(message: Message) -> None:
    """Drop an answer: the call has had its effect, and nobody learns of it."""


def _halved(send: Send) -> Send:
    async def half(message: Message) -> None:
        if message["type"] == "http.response.body" and message.get("body"):
            body = message["body"]
            await send({**message, "body": body[: len(body) // 2], "more_body": True})
            raise ConnectionAbortedError
        await send(message)

    return half
