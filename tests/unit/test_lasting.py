"""Long-lived responses end when the caller leaves or the program closes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse
from starlette.types import Message, Scope

from core.domain.errors import DatabaseDown
from core.entrypoints.api.guard import LOOK_SECONDS, Lasting
from core.entrypoints.api.opened import Opened
from tests.support.waiting import SOON

STREAM: Scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
SOCKET: Scope = {"type": "websocket"}


class Call:
    """One call whose caller stays silent, with its own clock and token."""

    def __init__(self, scope: Scope = STREAM) -> None:
        self.time = 0.0
        self.is_in = True
        self.down = False
        self.looks = 0
        self.sent: list[Message] = []
        self.said: asyncio.Queue[Message] = asyncio.Queue()
        self.over = asyncio.Event()
        self.lasting = Lasting(
            scope,
            self.said.get,
            self.note,
            still_in=self.look,
            over=self.over,
            clock=lambda: self.time,
        )

    async def note(self, message: Message) -> None:
        """Record what is sent."""
        self.sent.append(message)

    async def look(self) -> bool:
        """Whether the caller is connected."""
        self.looks += 1
        if self.down:
            raise DatabaseDown("PostgreSQL does not answer")
        return self.is_in

    async def part(self, text: str = "x") -> None:
        """Send a part of a stream."""
        await self.lasting.send(
            {"type": "http.response.body", "body": text.encode(), "more_body": True}
        )

    async def text(self, text: str = "x") -> None:
        """Send a text over a websocket."""
        await self.lasting.send({"type": "websocket.send", "text": text})


END = {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_stream_is_looked_at_once_a_second_and_ends_with_its_token() -> None:
    call = Call()
    await call.part()
    assert call.looks == 0
    call.time += LOOK_SECONDS
    await call.part()
    await call.part()
    assert (call.looks, len(call.sent)) == (1, 3)
    call.is_in = False
    call.time += LOOK_SECONDS
    await call.part("secret")
    await call.part("secret")
    assert call.sent[3:] == [END]
    assert (await call.lasting.receive())["type"] == "http.disconnect"


async def test_an_answer_in_one_part_is_sent_whatever_became_of_its_token() -> None:
    call = Call()
    call.is_in = False
    call.time = 100
    await call.lasting.send({"type": "http.response.start", "status": 200})
    await call.lasting.send({"type": "http.response.body", "body": b"all"})
    assert (len(call.sent), call.looks) == (2, 0)


async def test_what_a_websocket_says_is_heard_only_while_its_token_lives() -> None:
    call = Call(SOCKET)
    await call.said.put({"type": "websocket.connect"})
    await call.said.put({"type": "websocket.receive", "text": "approve"})
    assert (await call.lasting.receive())["type"] == "websocket.connect"
    assert (await call.lasting.receive())["text"] == "approve"
    call.is_in = False
    await call.said.put({"type": "websocket.receive", "text": "approve"})
    assert (await call.lasting.receive())["type"] == "websocket.disconnect"
    await call.text()
    assert call.sent == [{"type": "websocket.close", "code": 1008}]


async def test_a_silent_websocket_is_shown_nothing_once_its_token_is_gone() -> None:
    call = Call(SOCKET)
    call.is_in = False
    call.time = LOOK_SECONDS
    await call.text("secret")
    await call.text("secret")
    assert call.sent == [{"type": "websocket.close", "code": 1008}]


async def test_while_the_database_is_down_the_caller_is_told_to_come_again() -> None:
    call = Call(SOCKET)
    call.down = True
    call.time = LOOK_SECONDS
    await call.text()
    assert call.sent == [{"type": "websocket.close", "code": 1013}]


async def test_a_stream_that_waits_ends_when_the_program_is_closed() -> None:
    opened, call, started = Opened(), Call(), asyncio.Event()
    call.said.put_nowait({"type": "http.request", "body": b"", "more_body": False})

    async def for_ever() -> AsyncIterator[bytes]:
        yield b"first"
        started.set()
        await asyncio.Event().wait()

    with opened.lasting() as over:
        lasting = Lasting(STREAM, call.said.get, call.note, still_in=call.look, over=over)
        answer = StreamingResponse(for_ever())
        running = asyncio.create_task(answer(STREAM, lasting.receive, lasting.send))
        await started.wait()
        opened.close()
        await asyncio.wait_for(running, SOON)
    assert [m["type"] for m in call.sent] == ["http.response.start", "http.response.body"]


def test_a_call_that_has_ended_is_told_nothing() -> None:
    opened = Opened()
    with opened.lasting() as over:
        pass
    opened.close()
    assert not over.is_set()


async def test_an_answer_that_is_left_when_the_program_closes_comes_to_its_end() -> None:
    call = Call()
    await call.lasting.send({"type": "http.response.start", "status": 200, "headers": []})
    await call.part("x")
    await call.lasting.close()
    assert len(call.sent) == 2  # it is not over
    call.over.set()
    await call.lasting.close()
    await call.lasting.close()
    assert call.sent[2:] == [{"type": "http.response.body", "body": b"", "more_body": False}]


async def test_an_answer_that_has_ended_is_not_ended_again() -> None:
    call = Call()
    await call.lasting.send({"type": "http.response.start", "status": 200, "headers": []})
    await call.lasting.send({"type": "http.response.body", "body": b"x"})
    call.over.set()
    await call.lasting.close()
    assert len(call.sent) == 2
