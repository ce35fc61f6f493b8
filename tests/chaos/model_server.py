"""The model of the chaos suite: an OpenAI-compatible server that answers by content, and counts."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.chaos import tasks
from tests.support import openai_server as say

RETRY_AFTER = "0"


def _wrong_arguments(asked: say.Json) -> Response:
    return say.message(None, ("commit_to_memory", '{"content": '))(asked)


# Failed answers: nothing of them may be counted as paid, or be learnt.
FAULTS: dict[str, say.Turn] = {
    "429": say.error(429, "slow down", retry_after=RETRY_AFTER),
    "500": say.error(500, "out of luck"),
    "503": say.error(503, "overloaded"),
    "html": say.html,
    "nothing": say.hangs,
    "half": say.drops,
}
# Answers that are paid for and useless.
GARBAGE: dict[str, say.Turn] = {
    "arguments": _wrong_arguments,
    "prose": say.message("생각해 보겠습니다."),
}


class ModelServer:
    """Answers as `tasks.answer` says; a `rate` of its calls gets one of `kinds` instead."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._kinds: list[str] = []
        self._rate = 0.0
        self._random = random.Random(20261120)
        self._delay = 0.0

    async def complete(self, request: Request) -> Response:
        """Answer one completion."""
        asked = await request.json()
        if self._kinds and self._random.random() < self._rate:
            kind = self._random.choice(self._kinds)
            self.faults[kind] += 1
            return (FAULTS.get(kind) or GARBAGE[kind])(asked)
        await asyncio.sleep(self._delay)
        key = tasks.key_of(json.dumps(asked["messages"], ensure_ascii=False))
        self.paid[key] += 1
        return _said(tasks.answer(asked))(asked)

    async def control(self, request: Request) -> Response:
        """Set what goes wrong, or return the counts."""
        if request.method == "POST":
            wanted = await request.json()
            self._kinds, self._rate = wanted["kinds"], wanted["rate"]
            self._delay = wanted.get("delay", 0.0)
        return JSONResponse({"paid": self.paid, "faults": self.faults})


def _said(calls: tasks.Calls) -> say.Turn:
    if not calls:
        return say.message("반영했습니다.")
    made = [(name, json.dumps(args, ensure_ascii=False)) for name, args in calls]
    return say.message(None, *made)


def create_model_app() -> Starlette:
    """Return the app; `/v1` is what LLM_PROXY_URL names."""
    server = ModelServer()
    return Starlette(
        routes=[
            Route("/v1/chat/completions", server.complete, methods=["POST"]),
            Route("/chaos", server.control, methods=["GET", "POST"]),
        ]
    )
