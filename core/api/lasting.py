"""A call that lasts, such as a stream of events or a websocket, ends as soon as its token does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from starlette.types import Message, Receive, Scope, Send

from core.errors import DependencyDown
from core.tasks import end_tasks

LOOK_SECONDS = 1.0  # between two looks before something is sent
POLICY, TRY_LATER = 1008, 1013
_LAST: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class Lasting:
    """Stands between an app and one caller.

    `still_in` is asked before what a websocket says is heard, and before what is sent on, but then
    not more than once a second. Where the caller is out, or `over` is set, the app is told that
    they have gone, and nothing more is sent.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        still_in: Callable[[], Awaitable[bool]],
        over: asyncio.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_socket = scope["type"] == "websocket"
        self._receive, self._send = receive, send
        self._still_in, self._clock = still_in, clock
        self._over, self._looked = over, clock()
        self._ended = False
        self._is_open = False  # an answer has begun, and has not come to its end
        self._has_body = not self._is_socket  # which comes by itself: nothing else need be heard

    async def receive(self) -> Message:
        """Give what the caller says, or that they have gone."""
        message = await self._unless_over()
        if message is not None and message["type"] == "websocket.receive":
            await self._look()
        if self._over.is_set() or message is None:
            gone = "websocket.disconnect" if self._is_socket else "http.disconnect"
            return {"type": gone, "code": POLICY}
        return message

    async def send(self, message: Message) -> None:
        """Send something on, unless the caller is out."""
        lasts = message["type"] == "websocket.send" or message.get("more_body", False)
        if lasts and self._clock() - self._looked >= LOOK_SECONDS:
            await self._look()
        if message["type"].startswith("http.response."):
            self._is_open = message["type"] == "http.response.start" or lasts
        if not self._ended:
            await self._send(message)

    async def close(self) -> None:
        """Bring an answer to its end which the app left, since it was told that it is over."""
        if self._over.is_set() and self._is_open and not self._ended:
            self._ended = True
            await self._send(_LAST)

    async def _look(self) -> None:
        """See whether the caller is still in; else end the call."""
        self._looked = self._clock()
        code = POLICY
        try:
            if self._ended or await self._still_in():
                return
        except DependencyDown:
            code = TRY_LATER
        if self._ended:
            return
        self._ended = True
        self._over.set()
        if self._is_socket:
            await self._send({"type": "websocket.close", "code": code})
        else:
            await self._send(_LAST)

    async def _unless_over(self) -> Message | None:
        if self._has_body and not self._over.is_set():
            message = await self._receive()
            self._has_body = message.get("more_body", False)
            return message
        hearing = asyncio.ensure_future(self._receive())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({hearing, over}, return_when=asyncio.FIRST_COMPLETED)
            return hearing.result() if hearing.done() else None
        finally:
            await end_tasks([hearing, over])
