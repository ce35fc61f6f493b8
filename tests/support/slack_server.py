"""A Slack double on loopback, as far as feedback needs it: history, threads and reactions."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN, CHANNEL, BOT = "xoxb-1", "C1", "UBOT"
Posted = dict[str, object]


class SlackServer:
    """A channel; `threads` are the replies by the ts of the message they are under."""

    def __init__(self) -> None:
        self.messages: list[Posted] = []
        self.threads: dict[str, list[Posted]] = {}
        self.answers: list[Response] = []
        self.most = 200
        self._ts = time.time() - 3600

    def app(self) -> Starlette:
        """Return the API."""
        reads = {"conversations.history": self._history, "conversations.replies": self._replies}
        writes = {"reactions.add": self._add, "reactions.remove": self._remove}
        return Starlette(
            routes=[
                *(Route(f"/api/{name}", call) for name, call in reads.items()),
                *(Route(f"/api/{name}", call, methods=["POST"]) for name, call in writes.items()),
                Route("/api/auth.test", self._test, methods=["POST"]),
            ]
        )

    def post(self, text: str, user: str = BOT, under: str | None = None, **more: object) -> str:
        """Have a message posted, in a thread if it is `under` one; return its ts."""
        self._ts += 1
        ts = f"{self._ts:.6f}"
        made: Posted = {"type": "message", "ts": ts, "user": user, "text": text, **more}
        if under is None:
            self.messages.append(made)
            return ts
        (first,) = [message for message in self.messages if message["ts"] == under]
        self.threads.setdefault(under, []).append({**made, "thread_ts": under})
        first |= {"thread_ts": under, "reply_count": len(self.threads[under]), "latest_reply": ts}
        return ts

    def find(self, ts: object) -> Posted | None:
        """Return the message of that ts."""
        known = [*self.messages, *(one for thread in self.threads.values() for one in thread)]
        return next((one for one in known if one["ts"] == ts), None)

    def reactions(self, text: str) -> set[object]:
        """Return the names of the reactions to a text."""
        known = [*self.messages, *(one for thread in self.threads.values() for one in thread)]
        (found,) = [one for one in known if one["text"] == text]
        return {reaction["name"] for reaction in _reactions(found)}

    async def _history(self, request: Request) -> Response:
        oldest = float(request.query_params.get("oldest", "0"))
        found = [one for one in self.messages[::-1] if float(str(one["ts"])) >= oldest]
        return self._page(request, found)

    async def _replies(self, request: Request) -> Response:
        first = self.find(request.query_params["ts"])
        if first is None:
            return self._answer(request, {"ok": False, "error": "thread_not_found"})
        top = self.find(first.get("thread_ts", first["ts"])) or first
        return self._page(request, [top, *self.threads.get(str(top["ts"]), [])])

    async def _add(self, request: Request) -> Response:
        body = await request.json()
        found = self.find(body["timestamp"])
        if found is None:
            return self._answer(request, {"ok": False, "error": "message_not_found"})
        if body["name"] in {reaction["name"] for reaction in _reactions(found)}:
            return self._answer(request, {"ok": False, "error": "already_reacted"})
        found["reactions"] = [*_reactions(found), {"name": body["name"], "users": [BOT]}]
        return self._answer(request, {"ok": True})

    async def _remove(self, request: Request) -> Response:
        body = await request.json()
        found = self.find(body["timestamp"])
        if found is None:
            return self._answer(request, {"ok": False, "error": "message_not_found"})
        kept = [one for one in _reactions(found) if one["name"] != body["name"]]
        if len(kept) == len(_reactions(found)):
            return self._answer(request, {"ok": False, "error": "no_reaction"})
        found["reactions"] = kept
        return self._answer(request, {"ok": True})

    async def _test(self, request: Request) -> Response:
        return self._answer(request, {"ok": True, "user_id": BOT})

    def _page(self, request: Request, found: list[Posted]) -> Response:
        if request.query_params["channel"] != CHANNEL:
            return self._answer(request, {"ok": False, "error": "channel_not_found"})
        begin = int(request.query_params.get("cursor", "0"))
        end = begin + min(int(request.query_params.get("limit", "100")), self.most)
        following = str(end) if end < len(found) else ""
        page: Posted = {"ok": True, "messages": found[begin:end]}
        return self._answer(request, {**page, "response_metadata": {"next_cursor": following}})

    def _answer(self, request: Request, answer: Mapping[str, object]) -> Response:
        if self.answers:
            return self.answers.pop(0)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"ok": False, "error": "invalid_auth"})
        return JSONResponse(dict(answer))


def _reactions(posted: Posted) -> list[dict[str, object]]:
    found = posted.get("reactions", [])
    assert isinstance(found, list)
    return found
