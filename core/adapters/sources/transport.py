"""Sends one call of PostgREST: translates failures once, parses the answer as rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import httpx
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from core.domain.errors import (
    ConfigurationError,
    InvalidInput,
    NoReference,
    NoSuchTable,
    SkillWorkerError,
    SourceDown,
)
from core.domain.http_origin import is_loopback, verification
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message
from core.domain.text import one_line

CONNECT_SECONDS = 10.0
CALL_SECONDS = 30.0
SQL_HINT = Message("supabase.sql")
_NO_FUNCTION = frozenset({"PGRST202", "42883"})
_NO_TABLE = frozenset({"PGRST205", "42P01"})
_NO_COLUMN = frozenset({"PGRST204", "42703"})
_NO_REFERENCE = "23503"
_WITHOUT_ROWS = frozenset({201, 204})
# SQLSTATE classes that concern the data: exceptions, constraints, what triggers raise.
_OF_DATA = ("22", "23", "P0")
_ROWS: TypeAdapter[list[JsonValue] | None] = TypeAdapter(list[JsonValue] | None)


class UnknownColumn(ConfigurationError):
    """A table lacks a requested column, which `said` names."""

    said = ""


class BadValue(InvalidInput):
    """A value does not fit its column's type, such as a name where ids are UUIDs."""


class RowRefused(InvalidInput):
    """The platform's own rules, such as a trigger, refuse this change of a row."""


class _Problem(BaseModel):
    """PostgREST's description of a failed call."""

    code: str | None = None
    message: str = ""
    hint: str | None = None
    details: str | None = None

    def __str__(self) -> str:
        parts = [self.message, self.details, self.hint]
        said = one_line(". ".join(part for part in parts if part))[:500]
        return f"{said} ({self.code})" if self.code else said


class PostgrestTransport:
    """Sends calls to one project with its key."""

    def __init__(self, url: str, key: str, http: httpx.AsyncClient) -> None:
        """Raises ConfigurationError if the key cannot be a header value."""
        self._base = f"{url.rstrip('/').removesuffix('/rest/v1')}/rest/v1"
        self._headers = _headers(key.strip())
        self._http = http

    async def get(self, table: str, params: Mapping[str, str]) -> Sequence[JsonValue]:
        """Return the rows that match the filters."""
        return await self._send("GET", table, params=params)

    async def patch(
        self, table: str, params: Mapping[str, str], values: Mapping[str, JsonValue]
    ) -> Sequence[JsonValue]:
        """Change the rows that match the filters, all or none; return them as they are then.

        Raises RowRefused if the platform's rules refuse that for one of them.
        """
        return await self._send("PATCH", table, params=params, json=values)

    async def post(self, table: str, row: Mapping[str, JsonValue]) -> None:
        """Add a row, unless there is one with its primary key. Raises RowRefused, NoReference."""
        await self._send("POST", table, json=row, prefer="resolution=ignore-duplicates")

    async def delete(self, table: str, params: Mapping[str, str]) -> None:
        """Delete the rows that match the filters."""
        await self._send("DELETE", table, params=params, prefer="return=minimal")

    async def call(self, function: str, arguments: Mapping[str, JsonValue]) -> Sequence[JsonValue]:
        """Call a set-returning function of the database."""
        return await self._send("POST", f"rpc/{function}", json=arguments)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Mapping[str, JsonValue] | None = None,
        prefer: str = "return=representation",
    ) -> Sequence[JsonValue]:
        where = f"{method} {self._base}/{path}"
        try:
            async with asyncio.timeout(CALL_SECONDS):
                response = await self._http.request(
                    method,
                    f"{self._base}/{path}",
                    params=dict(params or {}),
                    json=None if json is None else dict(json),
                    # Without `representation` a PATCH would not return the rows it changed.
                    headers={**self._headers, "Prefer": prefer},
                )
        except (httpx.HTTPError, TimeoutError) as error:
            raise SourceDown(
                Message("call.failed", where=where, why=str(error) or type(error).__name__),
                hint=Message("supabase.hint_reach"),
            ) from error
        if not response.is_success:
            raise _refusal(response, where)
        if response.status_code in _WITHOUT_ROWS:
            return []
        return _rows(response, where)


@asynccontextmanager
async def open_transport(url: str, key: str) -> AsyncIterator[PostgrestTransport]:
    """Open a connection pool to a project. A server on this machine is reached without a proxy.

    Raises ConfigurationError if URL or key are invalid.
    """
    try:
        direct = is_loopback(httpx.URL(url).host)
    except httpx.InvalidURL as error:
        raise ConfigurationError(Message("supabase.url", url=url, why=error)) from error
    limits = httpx.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(
        trust_env=not direct, timeout=limits, verify=verification(url)
    ) as http:
        yield PostgrestTransport(url, key, http)


def _headers(key: str) -> Mapping[str, str]:
    if not key.isascii() or not key.isprintable() or not key:
        raise ConfigurationError(Message("supabase.key"), hint=Message("supabase.hint_copy"))
    return {"apikey": key, "Authorization": f"Bearer {key}", "Accept": "application/json"}


def _rows(response: httpx.Response, where: str) -> Sequence[JsonValue]:
    try:
        return _ROWS.validate_json(response.content) or []
    except ValidationError as error:
        kind = response.headers.get("content-type", "no type")
        raise SourceDown(
            Message(
                "supabase.no_rows",
                where=where,
                status=response.status_code,
                type=kind,
                text=_excerpt(response),
            ),
            hint=Message("supabase.hint_page"),
        ) from error


def _refusal(response: httpx.Response, where: str) -> SkillWorkerError:
    """Return the error for an unsuccessful answer; PostgREST's codes say more than the status."""
    status, problem = response.status_code, _problem(response)
    message = Message("call.answered", where=where, status=status, why=str(problem))
    if problem.code == _NO_REFERENCE and where.startswith("POST "):
        return NoReference(message)
    if _changes_rows(where) and (problem.code or "").startswith(_OF_DATA):
        return RowRefused(message)
    if passes(status):
        hint = Message("supabase.hint_again")
        return SourceDown(message, hint=hint, retry_after=retry_after(response.headers))
    if status in {401, 403}:
        return ConfigurationError(message, hint=Message("supabase.hint_role"))
    if problem.code == "22P02":
        return BadValue(message)
    if problem.code in _NO_COLUMN:
        unknown = UnknownColumn(message, hint=Message("supabase.hint_tables"))
        unknown.said = problem.message
        return unknown
    if problem.code in _NO_TABLE:
        return NoSuchTable(message, hint=_hint(problem, where))
    return ConfigurationError(message, hint=_hint(problem, where))


def _changes_rows(where: str) -> bool:
    """Whether a call writes rows of a table, and calls no function."""
    return where.startswith(("PATCH ", "POST ", "DELETE ")) and "/rpc/" not in where


def _hint(problem: _Problem, where: str) -> str:
    function = where.rpartition("/rpc/")[2]
    if problem.code in _NO_FUNCTION:
        return Message("supabase.hint_function", function=function, sql=SQL_HINT)
    if problem.code == "PGRST203":
        return Message("supabase.hint_drop", function=function, sql=SQL_HINT)
    if problem.code in _NO_TABLE:
        return Message("supabase.hint_project")
    return Message("supabase.hint_address")


def _problem(response: httpx.Response) -> _Problem:
    try:
        return _Problem.model_validate_json(response.content)
    except ValidationError:
        target = response.headers.get("location")
        return _Problem(message=f"it leads to {target}" if target else _excerpt(response))


def _excerpt(response: httpx.Response) -> str:
    return one_line(response.content[:400].decode("utf-8", "replace"))[:160] or "nothing"
