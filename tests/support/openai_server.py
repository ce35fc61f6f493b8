"""An OpenAI-compatible chat server on loopback with scripted answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server

Json = dict[str, object]
Turn = Callable[[Json], Response]


def message(
    content: object, *tool_calls: tuple[str, str], call_id: str = "call_{}", **more: object
) -> Turn:
    """Answer with content and tool calls, each (name, arguments as JSON text).

    `stop` is the reason why it ended, `usage` the counts of tokens, `refusal` what it would not do.
    """
    wanted = [
        {
            "id": call_id.format(index),
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for index, (name, arguments) in enumerate(tool_calls)
    ]
    body: Json = {"role": "assistant", "content": content}
    if wanted:
        body["tool_calls"] = wanted
    if "refusal" in more:
        body["refusal"] = more["refusal"]
    stop = more.get("stop", "tool_calls" if wanted else "stop")
    usage = more.get("usage", _USAGE)
    # Not of Starlette, whose JSON has no NaN.
    return lambda asked: Response(
        json.dumps(_completion(asked, body, stop, usage)), media_type="application/json"
    )


def call(name: str, /, **arguments: object) -> Turn:
    """Answer with one well-formed tool call."""
    return message(None, (name, json.dumps(arguments, ensure_ascii=False)))


def error(status: int, text: str = "no", **headers: str) -> Turn:
    """Answer with an error in OpenAI's form."""
    body = {"error": {"message": text, "type": "x", "param": None, "code": None}}
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda asked: JSONResponse(body, status, headers=named)


def html(asked: Json) -> Response:
    """Answer like a gateway that does not serve this API."""
    return HTMLResponse("<html><body>Sign in</body></html>")


class _Hangs(Response):
    """Never answers; ends when the client goes away."""

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        while (await receive())["type"] != "http.disconnect":  # type: ignore[operator]
            await asyncio.sleep(0)


class _Drops(Response):
    """Breaks off in the middle of an answer."""

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b'{"id": ', "more_body": True})  # type: ignore[operator]
        raise ConnectionAbortedError


def hangs(asked: Json) -> Response:
    """Never answer."""
    return _Hangs()


def drops(asked: Json) -> Response:
    """Break off in the middle of an answer."""
    return _Drops()


_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def _completion(asked: Json, body: Json, stop: object, usage: object) -> Json:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked.get("model", "m"),
        "choices": [{"index": 0, "message": body, "finish_reason": stop}],
        "usage": usage,
    }


@dataclass
class OpenAIServer:
    """Plays `turns` in order, then `always`, and remembers the requests."""

    turns: list[Turn]
    url: str = ""
    always: Turn | None = None
    asked: list[Json] = field(default_factory=list)
    clients: set[int] = field(default_factory=set)  # the ports of the connections
    keys: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def complete(self, request: Request) -> Response:
        asked = await request.json()
        self.asked.append(asked)
        self.clients |= {request.client.port} if request.client else set()
        self.headers.append(dict(request.headers))
        self.keys.append(request.headers.get("authorization", ""))
        turn = self.always if self.always and not self.turns else self.turns.pop(0)
        return turn(asked)


@asynccontextmanager
async def openai_server(turns: Sequence[Turn]) -> AsyncIterator[OpenAIServer]:
    """Serve the turns while the context is open; `url` is a value for LLM_PROXY_URL."""
    server = OpenAIServer(list(turns))
    app = Starlette(routes=[Route("/v1/chat/completions", server.complete, methods=["POST"])])
    async with run_server(app) as base:
        server.url = f"{base}/v1"
        yield server
