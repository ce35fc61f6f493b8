"""A PostgREST double on loopback, as far as feedback needs it: its grammar and its errors."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server

Row: TypeAlias = dict[str, object]
KEY = "service-role-key"
FUNCTION = "agent_feedback_task"
COLUMNS = {
    "todolist": {
        *("id", "user_id", "assignees", "feedback", "description", "tenant_id", "proc_def_id"),
        *("activity_id", "feedback_status", "updated_at", "output"),
    },
    "users": {"id", "username", "role", "goal", "persona", "tenant_id", "skills", "email"},
    "events": {"id", "todo_id", "event_type", "data", "timestamp", "tenant_id"},
}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,"]+)')


class Refusal(Exception):
    """A call that PostgREST answers with an error of its own."""

    def __init__(self, status: int, code: str | None, message: str, hint: str | None = None):
        super().__init__(message)
        body = {"code": code, "message": message, "details": None, "hint": hint}
        self.response = JSONResponse(body, status)


@dataclass
class PostgrestServer:
    """Tables as lists of rows. `answers` are given instead, in order; `meanwhile` runs once
    before the call of that name (`PATCH todolist`) is carried out. `refusals` are what a trigger
    says, by the id of the row that is to be changed."""

    tables: dict[str, list[Row]] = field(
        default_factory=lambda: {"todolist": [], "users": [], "events": []}
    )
    columns: dict[str, set[str]] = field(default_factory=lambda: dict(COLUMNS))
    has_function: bool = True
    fails_each: int = 0  # every so manieth call is answered with 503
    most: int = 1000  # records of one answer
    broken: str = ""  # calls for events that name this are answered with 500
    ids_are_uuids: bool = False
    answers: list[Response] = field(default_factory=list)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    meanwhile: dict[str, Callable[[], object]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    url: str = ""

    def row(self, row_id: str) -> Row:
        """Return one row of `todolist`."""
        return next(row for row in self.tables["todolist"] if row["id"] == row_id)

    async def handle(self, request: Request) -> Response:
        name = f"{request.method} {request.path_params['path']}"
        self.calls.append(f"{name}?{request.url.query}")
        if self.fails_each and len(self.calls) % self.fails_each == 0:
            return JSONResponse({"message": "upstream"}, 503)
        if self.broken and name == "GET events" and self.broken in request.url.query:
            return JSONResponse({"message": "statement timeout"}, 500)
        if self.answers:
            return self.answers.pop(0)
        self.meanwhile.pop(name, lambda: None)()
        try:
            return await self._answer(request)
        except Refusal as refusal:
            return refusal.response

    async def _answer(self, request: Request) -> Response:
        key = request.headers.get("apikey")
        if key != KEY or request.headers.get("authorization") != f"Bearer {key}":
            hint = "Double check your Supabase `anon` or `service_role` API key."
            raise Refusal(401, None, "Invalid API key", hint)
        path = request.path_params["path"]
        if path.startswith("rpc/"):
            return JSONResponse(self._call(path.removeprefix("rpc/"), await request.json()))
        if path not in self.tables:
            said = f"Could not find the table 'public.{path}' in the schema cache"
            raise Refusal(404, "PGRST205", said)
        rows = self._select(path, dict(request.query_params))
        if request.method == "PATCH":
            return self._patch(path, rows, await request.json(), request)
        return JSONResponse(self._shown(path, rows, request))

    def _call(self, function: str, arguments: Row) -> list[Row]:
        if function != FUNCTION or not self.has_function or set(arguments) != {"p_limit"}:
            said = f"Could not find the function public.{function}(p_limit) in the schema cache"
            raise Refusal(404, "PGRST202", said)
        waiting = [
            row
            for row in self.tables["todolist"]
            if row.get("feedback") is not None and row.get("feedback_status") in {None, "REQUESTED"}
        ]
        waiting.sort(key=lambda row: str(row.get("updated_at")))
        claimed = waiting[: int(str(arguments["p_limit"]))]
        for row in claimed:
            row["feedback_status"] = "STARTED"
        return [dict(row) for row in claimed]

    def _select(self, table: str, params: dict[str, str]) -> list[Row]:
        rows = list(self.tables[table])
        for column, condition in params.items():
            if column not in {"select", "order", "limit"}:
                self._see_column(table, column)
                holds = self._condition(column, condition)
                rows = [row for row in rows if holds(row.get(column))]
        for term in reversed(params.get("order", "").split(",")):
            rows = self._sorted(table, rows, term) if term else rows
        return rows[: min(self.most, int(params.get("limit", self.most)))]

    def _condition(self, column: str, condition: str) -> Callable[[object], bool]:
        operator, _, operand = condition.partition(".")
        if operator == "is":
            return lambda value: value is None if operand == "null" else value is True
        values = list(_listed(operand)) if operator == "in" else [operand]
        if self.ids_are_uuids and column == "id":
            for value in values:
                if not _UUID.fullmatch(value):
                    said = f'invalid input syntax for type uuid: "{value}"'
                    raise Refusal(400, "22P02", said)
        if operator == "lt":
            return lambda value: value is not None and str(value) < operand
        assert operator in {"eq", "in"}, condition
        return lambda value: value is not None and str(value) in values

    def _sorted(self, table: str, rows: list[Row], term: str) -> list[Row]:
        column, *words = term.split(".")
        self._see_column(table, column)
        nulls = [row for row in rows if row.get(column) is None]
        others = [row for row in rows if row.get(column) is not None]
        others.sort(key=lambda row: str(row[column]), reverse="desc" in words)
        first = "nullsfirst" in words or ("desc" in words and "nullslast" not in words)
        return [*nulls, *others] if first else [*others, *nulls]

    def _patch(self, table: str, rows: list[Row], values: Row, request: Request) -> Response:
        for column in values:
            self._see_column(table, column)
        for row in rows:
            if str(row["id"]) in self.refusals:
                raise self.refusals[str(row["id"])]
        for row in rows:
            row.update(values)
        if "return=representation" not in request.headers.get("prefer", ""):
            return Response(status_code=204)
        return JSONResponse(self._shown(table, rows, request))

    def _shown(self, table: str, rows: list[Row], request: Request) -> list[Row]:
        select = request.query_params.get("select", "*")
        if select == "*":
            return [dict(row) for row in rows]
        names = select.split(",")
        for name in names:
            self._see_column(table, name)
        return [{name: row.get(name) for name in names} for row in rows]

    def _see_column(self, table: str, column: str) -> None:
        if column not in self.columns[table]:
            raise Refusal(400, "42703", f"column {table}.{column} does not exist")


def _listed(operand: str) -> Iterator[str]:
    inner = operand.removeprefix("(").removesuffix(")")
    for quoted, bare in _QUOTED.findall(inner):
        yield bare or re.sub(r"\\(.)", r"\1", quoted)


@asynccontextmanager
async def postgrest_server() -> AsyncIterator[PostgrestServer]:
    """Serve empty tables while the context is open; `url` is a value for SUPABASE_URL."""
    server = PostgrestServer()
    route = Route("/rest/v1/{path:path}", server.handle, methods=["GET", "PATCH", "POST"])
    async with run_server(Starlette(routes=[route])) as base:
        server.url = base
        yield server
