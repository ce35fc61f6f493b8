"""A LangSmith double on loopback, as far as feedback needs it: feedback and runs."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY = "lsv2_pt_key"
_FIELDS = {"id", "run_id", "key", "score", "value", "comment", "feedback_source"}


class LangSmithServer:
    """A workspace; ids are UUIDs, as its API insists."""

    def __init__(self) -> None:
        self.feedback: dict[str, dict[str, object]] = {}
        self.runs: dict[str, dict[str, object]] = {}
        self.patched = 0

    def app(self) -> Starlette:
        """Return the API."""
        return Starlette(
            routes=[
                Route("/api/v1/feedback", self._list),
                Route("/api/v1/feedback", self._create, methods=["POST"]),
                Route("/api/v1/feedback/{id:path}", self._one, methods=["GET", "PATCH"]),
                Route("/api/v1/runs/{id}", self._run),
            ]
        )

    def give(self, name: str, source: str = "app", **given: object) -> str:
        """Have feedback given on the run of that name; return its id."""
        run_id, own = str(uuid.uuid5(uuid.NAMESPACE_URL, name)), str(uuid.uuid4())
        thread = {"metadata": {"thread_id": "thread-1"}}
        self.runs.setdefault(run_id, {"id": run_id, "name": name, "outputs": {}, "extra": thread})
        at = datetime.now(UTC) - timedelta(hours=1) + timedelta(seconds=len(self.feedback))
        whose = {"type": source, "user_id": None, "user_name": "Kim"}
        made = {"id": own, "run_id": run_id, "created_at": at.isoformat(), "key": "correctness"}
        more = {"score": None, "value": None, "comment": None, "correction": None}
        self.feedback[own] = {**made, **more, "feedback_source": whose, **given}
        return own

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("x-api-key") != KEY:
            return JSONResponse({"detail": "Invalid token"}, 401)
        return None

    async def _list(self, request: Request) -> Response:
        asked = request.query_params
        if int(asked.get("limit", "100")) > 100:
            return JSONResponse({"detail": "limit must be at most 100"}, 422)
        found = [
            one
            for one in reversed(self.feedback.values())
            if one["feedback_source"]["type"] in asked.getlist("source")  # type: ignore[index]
        ]
        begin = int(asked.get("offset", "0"))
        page = found[begin : begin + int(asked.get("limit", "100"))]
        return self._refusal(request) or JSONResponse(page)

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        if unknown := set(body) - _FIELDS:
            return JSONResponse({"detail": f"unknown {unknown}"}, 422)
        if body["id"] in self.feedback:
            return JSONResponse({"detail": "already exists"}, 409)
        uuid.UUID(body["id"])
        now = datetime.now(UTC).isoformat()
        self.feedback[body["id"]] = {"created_at": now, "comment": None, **body}
        return self._refusal(request) or JSONResponse(self.feedback[body["id"]])

    async def _one(self, request: Request) -> Response:
        found = self.feedback.get(request.path_params["id"])
        if found is None:
            return JSONResponse({"detail": "Feedback not found"}, 404)
        if request.method == "PATCH":
            self.patched += 1
            found.update(await request.json())
        return self._refusal(request) or JSONResponse(found)

    async def _run(self, request: Request) -> Response:
        found = self.runs.get(request.path_params["id"])
        missing = JSONResponse({"detail": "Run not found"}, 404)
        return self._refusal(request) or (JSONResponse(found) if found else missing)
