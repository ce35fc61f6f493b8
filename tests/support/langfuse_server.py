"""A Langfuse double on loopback, as far as feedback needs it: scores v3, comments, traces."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEYS = ("pk-lf-1", "sk-lf-1")
_GROUPS = {"subject": ("subject",), "details": ("comment",), "annotation": ("authorUserId",)}


class LangfuseServer:
    """A project; `answers` are given instead, in order. `most` is the longest page."""

    def __init__(self) -> None:
        self.scores: dict[str, dict[str, object]] = {}
        self.comments: list[dict[str, object]] = []
        self.traces: dict[str, dict[str, object]] = {}
        self.answers: list[Response] = []
        self.most = 100
        self._said = 0

    def app(self) -> Starlette:
        """Return the API."""
        routes = [
            Route("/api/public/v3/scores", self._get_scores),
            Route("/api/public/scores", self._put_score, methods=["POST"]),
            Route("/api/public/comments", self._get_comments),
            Route("/api/public/comments/{id}", self._get_comment),
            Route("/api/public/traces/{id:path}", self._get_trace),
        ]
        return Starlette(routes=routes)

    def moment(self) -> str:
        """Return a time later than all before, as Langfuse writes it."""
        self._said += 1
        at = datetime.now(UTC) - timedelta(hours=1) + timedelta(seconds=self._said)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def comment(self, content: str, trace: str = "trace-1", **more: object) -> None:
        """Have a person comment on a trace."""
        at = self.moment()
        made = {"id": f"c{self._said}", "projectId": "p", "createdAt": at, "updatedAt": at}
        about = {"objectType": "TRACE", "objectId": trace, "authorUserId": "user-kim"}
        self.comments.append({**made, **about, "content": content, **more})
        self.traces.setdefault(trace, {"id": trace, "name": "answer", "sessionId": None})

    def score(self, score_id: str, trace: str = "trace-1", **given: object) -> None:
        """Have a score given."""
        at = self.moment()
        made = {"id": score_id, "projectId": "p", "source": "ANNOTATION", "timestamp": at}
        more = {"environment": "default", "createdAt": at, "updatedAt": at, "dataType": "NUMERIC"}
        subject = {"kind": "trace", "id": trace}
        self.scores[score_id] = {**made, **more, "name": "quality", "subject": subject, **given}

    def _refusal(self, request: Request) -> Response | None:
        if self.answers:
            return self.answers.pop(0)
        wanted = base64.b64encode(":".join(KEYS).encode()).decode()
        if request.headers.get("authorization") != f"Basic {wanted}":
            return JSONResponse({"message": "Invalid credentials"}, 401)
        if int(request.query_params.get("limit", "1")) > 100:
            return JSONResponse({"message": "limit must be at most 100"}, 400)
        return None

    async def _get_scores(self, request: Request) -> Response:
        if refused := self._refusal(request):
            return refused
        asked = request.query_params
        groups = [group for group in asked.get("fields", "").split(",") if group]
        if unknown := set(groups) - set(_GROUPS):
            return JSONResponse({"message": f"unknown fields {unknown}"}, 400)
        hidden = {f for group, fields in _GROUPS.items() if group not in groups for f in fields}
        found = [
            {key: value for key, value in score.items() if key not in hidden}
            for score in reversed(self.scores.values())
            if asked.get("id") in {None, score["id"]}
            and ("source" not in asked or score["source"] in asked["source"].split(","))
            and _time(score["timestamp"]) >= _time(asked.get("fromTimestamp", "2000-01-01Z"))
        ]
        begin = int(base64.urlsafe_b64decode(asked["cursor"])) if "cursor" in asked else 0
        limit = min(int(asked.get("limit", "50")), self.most)
        meta: dict[str, object] = {"limit": limit}
        if len(found) > begin + limit:
            meta["cursor"] = base64.urlsafe_b64encode(str(begin + limit).encode()).decode()
        return JSONResponse({"data": found[begin : begin + limit], "meta": meta})

    async def _put_score(self, request: Request) -> Response:
        if refused := self._refusal(request):
            return refused
        body = await request.json()
        if body.get("dataType") != "CATEGORICAL" or not isinstance(body.get("value"), str):
            return JSONResponse({"message": "Invalid request data"}, 400)
        more = {"source": "API", "comment": body.get("comment"), "value": body["value"]}
        self.score(body["id"], body["traceId"], **more, name=body["name"], dataType="CATEGORICAL")
        return JSONResponse({"id": body["id"]})

    async def _get_comments(self, request: Request) -> Response:
        if refused := self._refusal(request):
            return refused
        page, limit = int(request.query_params["page"]), self.most
        pages = -(-len(self.comments) // limit)
        meta = {"page": page, "limit": limit, "totalItems": len(self.comments), "totalPages": pages}
        newest = self.comments[::-1]
        return JSONResponse({"data": newest[(page - 1) * limit : page * limit], "meta": meta})

    async def _get_comment(self, request: Request) -> Response:
        refused = self._refusal(request)
        found = [one for one in self.comments if one["id"] == request.path_params["id"]]
        missing = JSONResponse({"message": "Comment not found"}, 404)
        return refused or (JSONResponse(found[0]) if found else missing)

    async def _get_trace(self, request: Request) -> Response:
        refused = self._refusal(request)
        found = self.traces.get(request.path_params["id"])
        missing = JSONResponse({"message": "Trace not found"}, 404)
        return refused or (JSONResponse(found) if found else missing)


def _time(text: object) -> datetime:
    return datetime.fromisoformat(str(text))
