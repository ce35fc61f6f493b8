"""The platform on a real PostgreSQL: its tables with their constraints, over PostgREST."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server
from tests.support.postgrest_server import KEY, Refusal, Row

SCHEMA = """
CREATE TABLE tenants (id text PRIMARY KEY, skills text[]);
CREATE TABLE users (
    id uuid NOT NULL, username text, role text, goal text, persona text, skills text,
    is_agent boolean DEFAULT true,
    tenant_id text NOT NULL REFERENCES tenants (id) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (id, tenant_id));
CREATE TABLE agent_skills (
    user_id uuid NOT NULL, tenant_id text NOT NULL, skill_name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, tenant_id, skill_name),
    FOREIGN KEY (user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE);
CREATE TABLE agent_knowledge_history (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    knowledge_type text NOT NULL CHECK (knowledge_type IN ('MEMORY', 'DMN_RULE', 'SKILL')),
    knowledge_id text NOT NULL, knowledge_name text, agent_id uuid NOT NULL, tenant_id text,
    operation text NOT NULL CHECK (operation IN ('CREATE', 'UPDATE', 'DELETE', 'MOVE')),
    previous_content text, new_content text, feedback_content text,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (agent_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE);
CREATE TABLE proc_def (
    id text NOT NULL, name text, definition jsonb, bpmn text,
    uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), tenant_id text REFERENCES tenants (id),
    isdeleted boolean NOT NULL DEFAULT false, owner text, type text, prod_version text,
    UNIQUE (id, tenant_id));
CREATE TABLE proc_def_version (
    arcv_id text NOT NULL, proc_def_id text NOT NULL, version text NOT NULL, version_tag text,
    snapshot text, definition jsonb, "timeStamp" timestamp DEFAULT now(), diff text, message text,
    uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), tenant_id text REFERENCES tenants (id),
    parent_version text);
CREATE TABLE todolist (
    id text PRIMARY KEY, user_id text, assignees jsonb, feedback jsonb, description text,
    tenant_id text, output jsonb, feedback_status text, updated_at timestamptz);
CREATE TABLE events (id text PRIMARY KEY, todo_id text, data jsonb, "timestamp" timestamptz);
"""
_STATUS = {"23503": 409, "23505": 409}
_LISTED = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,]+)')


@dataclass
class PlatformTables:
    """What the platform has, and how it fails.

    Of each `fails_each` calls one is answered with 503: every other time after it was carried out.
    `meanwhile` runs once before the call of that name (`PATCH users`) is carried out.
    """

    conn: AsyncConnection[DictRow]
    fails_each: int = 0
    is_down: bool = False
    key: str = KEY
    calls: list[str] = field(default_factory=list)
    meanwhile: dict[str, str] = field(default_factory=dict)
    before_call: Callable[[int], None] = lambda number: None
    url: str = ""

    async def run(self, statement: str, *params: object) -> list[DictRow]:
        """Do something there, as others who use the platform do."""
        cursor = await self.conn.execute(statement, params)  # type: ignore[call-overload]
        return await cursor.fetchall() if cursor.description else []

    async def handle(self, request: Request) -> Response:
        name = f"{request.method} {request.path_params['path']}"
        self.calls.append(f"{name}?{request.url.query}")
        self.before_call(len(self.calls))
        fails = self.fails_each and len(self.calls) % self.fails_each == 0
        if self.is_down or (fails and len(self.calls) % (2 * self.fails_each)):
            return JSONResponse({"message": "upstream"}, 503)
        if name in self.meanwhile:
            await self.run(self.meanwhile.pop(name))
        try:
            answer = await self._answer(request)
        except Refusal as refusal:
            return refusal.response
        except psycopg.Error as error:
            return _problem(error)
        return JSONResponse({"message": "upstream"}, 503) if fails else answer

    async def _answer(self, request: Request) -> Response:
        key = request.headers.get("apikey")
        if key != self.key or request.headers.get("authorization") != f"Bearer {key}":
            raise Refusal(401, None, "Invalid API key")
        table = request.path_params["path"]
        if table.startswith("rpc/"):
            return JSONResponse([])  # no feedback is asked for
        known = await self._columns(table)
        params = dict(request.query_params)
        where = _where(params)
        if request.method == "GET":
            return JSONResponse(await self._select(table, params, where))
        if request.method == "DELETE":
            await self._do(sql.SQL("DELETE FROM {} WHERE {}"), table, where)
            return Response(status_code=204)
        values: Row = await request.json()
        for column in values:
            if column not in known:
                said = f"Could not find the '{column}' column of '{table}' in the schema cache"
                raise Refusal(400, "PGRST204", said)
        if request.method == "POST":
            return await self._insert(table, values, request.headers.get("prefer", ""))
        return JSONResponse(await self._update(table, values, where, params))

    async def _columns(self, table: str) -> set[str]:
        found = await self.run(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s", table
        )
        if not found:
            said = f"Could not find the table 'public.{table}' in the schema cache"
            raise Refusal(404, "PGRST205", said)
        return {row["column_name"] for row in found}

    async def _select(
        self, table: str, params: dict[str, str], where: sql.Composable
    ) -> Sequence[DictRow]:
        limit = sql.SQL("LIMIT {}").format(sql.Literal(int(params.get("limit", "1000"))))
        text = sql.SQL("SELECT {} FROM {} WHERE {} {}").format(
            _selected(params), sql.Identifier(table), where, limit
        )
        rows = await (await self.conn.execute(text)).fetchall()
        return [json.loads(json.dumps(row, default=str)) for row in rows]

    async def _insert(self, table: str, values: Row, prefer: str) -> Response:
        ignores = "resolution=ignore-duplicates" in prefer
        key = await self._key(table) if ignores else []
        clash = sql.SQL(" ON CONFLICT ({}) DO NOTHING" if key else "")
        clash = clash.format(_names(key)) if key else clash
        names = _names(values)
        text = sql.SQL("INSERT INTO {t} ({c}) SELECT {c} FROM json_populate_record(null::{t}, {v})")
        made = text.format(t=sql.Identifier(table), c=names, v=_json(values)) + clash
        await self.conn.execute(made)
        return Response(status_code=201)

    async def _key(self, table: str) -> list[str]:
        rows = await self.run(
            "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
            " AND a.attnum = ANY (i.indkey) WHERE i.indrelid = %s::regclass AND i.indisprimary",
            table,
        )
        return [row["attname"] for row in rows]

    async def _update(
        self, table: str, values: Row, where: sql.Composable, params: dict[str, str]
    ) -> Sequence[DictRow]:
        names = _names(values)
        text = sql.SQL(
            "UPDATE {t} SET ({c}) = (SELECT {c} FROM json_populate_record(null::{t}, {v}))"
            " WHERE {w} RETURNING {s}"
        ).format(t=sql.Identifier(table), c=names, v=_json(values), w=where, s=_selected(params))
        rows = await (await self.conn.execute(text)).fetchall()
        return [json.loads(json.dumps(row, default=str)) for row in rows]

    async def _do(self, text: sql.SQL, table: str, where: sql.Composable) -> None:
        await self.conn.execute(text.format(sql.Identifier(table), where))


def _problem(error: psycopg.Error) -> Response:
    code = error.sqlstate or ""
    body = {"code": code, "message": error.diag.message_primary, "details": None, "hint": None}
    return JSONResponse(body, _STATUS.get(code, 400))


def _selected(params: dict[str, str]) -> sql.Composable:
    select = params.get("select", "*")
    return sql.SQL("*") if select == "*" else _names(select.split(","))


def _names(columns: object) -> sql.Composable:
    return sql.SQL(", ").join(sql.Identifier(str(name)) for name in columns)  # type: ignore[attr-defined]


def _json(values: Row) -> sql.Composable:
    return sql.Literal(json.dumps(values, ensure_ascii=False))


def _where(params: dict[str, str]) -> sql.Composable:
    parts: list[sql.Composable] = [sql.SQL("true")]
    for column, condition in params.items():
        if column in {"select", "order", "limit", "on_conflict"}:
            continue
        operator, _, operand = condition.partition(".")
        name = sql.Identifier(column)
        if operator == "is":
            assert operand == "null", condition
            parts.append(sql.SQL("{} IS NULL").format(name))
        elif operator == "in":
            values = sql.SQL(", ").join(map(sql.Literal, _listed(operand)))
            parts.append(sql.SQL("{} IN ({})").format(name, values))
        else:
            assert operator == "eq", condition
            parts.append(sql.SQL("{} = {}").format(name, sql.Literal(operand)))
    return sql.SQL(" AND ").join(parts)


def _listed(operand: str) -> Iterator[str]:
    for quoted, bare in _LISTED.findall(operand.removeprefix("(").removesuffix(")")):
        yield bare or re.sub(r"\\(.)", r"\1", quoted)


@asynccontextmanager
async def platform_tables(conninfo: str) -> AsyncIterator[PlatformTables]:
    """Serve a platform on an empty database; `url` is a value for SUPABASE_URL."""
    async with await AsyncConnection.connect(
        conninfo, autocommit=True, row_factory=dict_row
    ) as conn:
        await conn.execute(SCHEMA)
        tables = PlatformTables(conn)
        methods = ["GET", "PATCH", "POST", "DELETE"]
        route = Route("/rest/v1/{path:path}", tables.handle, methods=methods)
        async with run_server(Starlette(routes=[route])) as base:
            tables.url = base
            yield tables
