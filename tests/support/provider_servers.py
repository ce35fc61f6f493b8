"""Anthropic's and Ollama's chat APIs on loopback: they hold requests to the protocol, and answer
from a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server

Json = dict[str, object]
KEY = "sk-ant-test"


@dataclass(frozen=True)
class Says:
    """One answer: a text, calls of tools, and why it ended early."""

    text: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    stop: str = ""


@dataclass(frozen=True)
class Fails:
    """One answer that is an error."""

    status: int
    text: str = "no"
    kind: str = "api_error"
    headers: tuple[tuple[str, str], ...] = ()


Turn = Says | Fails


def calls(*made: tuple[str, Json]) -> Says:
    """Answer with calls of tools."""
    return Says(calls=made)


@dataclass
class ProviderServer:
    """Plays `turns` in order and remembers the requests."""

    turns: list[Turn]
    check: Callable[[Request, Json], str | None]
    answer: Callable[[Json, Turn], Response]
    url: str = ""
    asked: list[Json] = field(default_factory=list)

    async def chat(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        self.asked.append(asked)
        problem = self.check(request, asked)
        if problem is not None:
            return self.answer(asked, Fails(400, problem, "invalid_request_error"))
        return self.answer(asked, self.turns.pop(0))


@asynccontextmanager
async def anthropic_server(*turns: Turn) -> AsyncIterator[ProviderServer]:
    """Serve `/v1/messages`; `url` is a value for ANTHROPIC_BASE_URL."""
    server = ProviderServer([*turns], _anthropic_problem, _anthropic_answer)
    async with _served(server, "/v1/messages"):
        yield server


@asynccontextmanager
async def ollama_server(*turns: Turn) -> AsyncIterator[ProviderServer]:
    """Serve `/api/chat`; `url` is a value for OLLAMA_HOST."""
    server = ProviderServer([*turns], _ollama_problem, _ollama_answer)
    async with _served(server, "/api/chat"):
        yield server


@asynccontextmanager
async def _served(server: ProviderServer, path: str) -> AsyncIterator[None]:
    app = Starlette(routes=[Route(path, server.chat, methods=["POST"])])
    async with run_server(app) as server.url:
        yield


def _anthropic_problem(request: Request, asked: Json) -> str | None:
    told = (request.headers.get("x-api-key"), request.headers.get("authorization"))
    if KEY not in told and f"Bearer {KEY}" not in told:
        return "the key is wrong"
    if not request.headers.get("anthropic-version") or not asked.get("max_tokens"):
        return "anthropic-version or max_tokens: missing"
    unknown = set(asked) - {"model", "max_tokens", "messages", "system", "tools", "tool_choice"}
    if unknown:
        return f"{', '.join(sorted(unknown))}: Extra inputs are not permitted"
    if any(set(tool) != {"name", "description", "input_schema"} for tool in _list(asked, "tools")):
        return "tools: a tool is a name, a description and an input_schema"
    return next(_anthropic_messages(_list(asked, "messages")), None)


def _anthropic_messages(messages: Sequence[Json]) -> Iterator[str]:
    """Yield what the API refuses: roles that do not take turns, calls that nothing answers."""
    waiting: list[object] = []
    for index, message in enumerate(messages):
        if message["role"] != ("assistant" if index % 2 else "user"):
            yield f"messages.{index}: roles must alternate"
        parts = _parts(message["content"])
        answered = [part["tool_use_id"] for part in parts if part["type"] == "tool_result"]
        if answered != waiting:
            yield f"messages.{index}: `tool_use` ids {waiting} need `tool_result` blocks"
        if any(part["type"] == "text" and not str(part["text"]).strip() for part in parts):
            yield f"messages.{index}: text content blocks must be non-empty"
        waiting = [part["id"] for part in parts if part["type"] == "tool_use"]


def _parts(content: object) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    assert isinstance(content, list)
    return content


def _list(data: Json, name: str) -> list[Json]:
    found = data.get(name) or []
    assert isinstance(found, list)
    return found


def _anthropic_answer(asked: Json, turn: Turn) -> Response:
    if isinstance(turn, Fails):
        error = {"type": turn.kind, "message": turn.text}
        body: Json = {"type": "error", "error": error}
        return JSONResponse(body, turn.status, headers=dict(turn.headers))
    nth = len(_list(asked, "messages"))
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{nth}_{index}", "name": name, "input": given}
        for index, (name, given) in enumerate(turn.calls)
    ]
    return JSONResponse(
        {
            "id": f"msg_{nth}",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": content,
            "stop_reason": turn.stop or ("tool_use" if turn.calls else "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
    )


def _ollama_problem(request: Request, asked: Json) -> str | None:
    for message in _list(asked, "messages"):
        if message["role"] not in {"system", "user", "assistant", "tool"}:
            return "invalid role"
        for call in _list(message, "tool_calls"):
            function = call.get("function")
            if not isinstance(function, dict) or not isinstance(function["arguments"], dict):
                return "json: cannot unmarshal arguments into an object"
    tools = _list(asked, "tools")
    if any(tool.get("type") != "function" or "function" not in tool for tool in tools):
        return "invalid tool"
    return None


def _ollama_answer(asked: Json, turn: Turn) -> Response:
    if isinstance(turn, Fails):
        return JSONResponse({"error": turn.text}, turn.status, headers=dict(turn.headers))
    named = {"model": asked["model"], "created_at": "2026-11-23T00:00:00Z"}
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [
            {"function": {"name": name, "arguments": given}} for name, given in turn.calls
        ]
    end = {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": turn.stop or "stop",
        "prompt_eval_count": 100,
        "eval_count": 10,
    }
    lines = [{**named, "message": message, "done": False}, {**named, **end}]
    body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return Response(body, media_type="application/x-ndjson")
