"""Errors as problem details (RFC 9457): the one module that maps each kind to a status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field, JsonValue
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from core.domain.errors import DependencyDown, SkillWorkerError, TooManyCalls
from core.domain.messages import Message, joined, translated
from core.domain.models.base import Model, Text
from core.domain.text import code_of, parameters_of, printable
from core.entrypoints.api.entry_page import ENGLISH, language_of
from core.entrypoints.api.paging import SEEN

PROBLEM_TYPE = "application/problem+json"
MOST_TOLD = 20  # of many errors in one call
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_DETAILS = {
    HTTPStatus.NOT_FOUND: Message("http.no_path"),
    HTTPStatus.METHOD_NOT_ALLOWED: Message("http.no_method"),
}

_STATUS = {
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "usage": HTTPStatus.BAD_REQUEST,
    "unauthorized": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
    "limit": HTTPStatus.TOO_MANY_REQUESTS,
    "not_found": HTTPStatus.NOT_FOUND,
    "refused": HTTPStatus.CONFLICT,
    "stale": HTTPStatus.CONFLICT,
    "decided": HTTPStatus.CONFLICT,
    "dependency": HTTPStatus.SERVICE_UNAVAILABLE,
    "database": HTTPStatus.SERVICE_UNAVAILABLE,
    "skill_api": HTTPStatus.SERVICE_UNAVAILABLE,
    "mcp": HTTPStatus.SERVICE_UNAVAILABLE,
    "source": HTTPStatus.SERVICE_UNAVAILABLE,
    "model": HTTPStatus.SERVICE_UNAVAILABLE,
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "budget": HTTPStatus.TOO_MANY_REQUESTS,
    "pod": HTTPStatus.SERVICE_UNAVAILABLE,
    "configuration": HTTPStatus.SERVICE_UNAVAILABLE,
    "skill_creator": HTTPStatus.UNPROCESSABLE_ENTITY,
}


class Problem(Model):
    """What a failed call is answered. `kind` is a word of `domain.errors`, `hint` what to do.

    `code` is the stable name of what `detail` says, `params` what stands in it; one that is a
    message itself has a `code`, a `detail` and `params` too. Of several messages in a row, as of
    text from outside, `code` is empty.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: Text
    kind: str
    hint: Text = ""
    code: str = ""
    params: dict[str, JsonValue] = Field(default_factory=dict)


def install(app: FastAPI) -> None:
    """Answer every failure of the app as a problem."""
    app.add_exception_handler(SkillWorkerError, _known)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def problem(status: int, detail: str, kind: str = "usage", hint: str = "") -> Problem:
    """Return a problem; its title is the status in words."""
    return Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=printable(detail),
        kind=kind,
        hint=printable(hint),
        code=code_of(detail),
        params=parameters_of(detail),
    )


def problem_of(error: SkillWorkerError) -> Problem:
    """Return an error of ours as a problem."""
    status = _STATUS.get(error.kind, HTTPStatus.INTERNAL_SERVER_ERROR)
    return problem(status, error.message, error.kind, error.hint)


class _Answer(JSONResponse):
    """A problem in English, or told in the language that the call asks for."""

    media_type = PROBLEM_TYPE

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None) -> None:
        self._problem = problem
        self._extra = {**(headers or {}), "Vary": "Accept-Language"}
        super().__init__(problem.model_dump(mode="json"), problem.status, self._extra)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        language = language_of(Headers(scope=scope).get("accept-language", ""))
        if language != ENGLISH:
            told = {
                "detail": printable(translated(language, self._problem.detail)),
                "hint": printable(translated(language, self._problem.hint)),
            }
            body = self._problem.model_dump(mode="json") | told
            headers = {**self._extra, "Content-Language": language}
            other = JSONResponse(body, self.status_code, headers, media_type=PROBLEM_TYPE)
            await other(scope, receive, send)
            return
        await super().__call__(scope, receive, send)


def answer(problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """Render a problem."""
    return _Answer(problem, headers)


def answer_error(error: SkillWorkerError) -> JSONResponse:
    """Render an error of ours as a problem, with the headers that belong to its kind."""
    headers = {}
    if isinstance(error, DependencyDown | TooManyCalls):
        headers["Retry-After"] = str(max(1, round(error.retry_after or 1)))
    if error.kind == "unauthorized":
        headers["WWW-Authenticate"] = "Bearer"
    return answer(problem_of(error), headers)


async def _known(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SkillWorkerError)
    return answer_error(error)


async def _malformed(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        detail = Message(
            "body.no_json", why=_within(str(first["ctx"]["error"])), n=first["loc"][-1]
        )
        return answer(problem(HTTPStatus.BAD_REQUEST, detail))
    found = [_explained(part["loc"], part["type"], part["msg"]) for part in error.errors()]
    told = joined(found[:MOST_TOLD])
    if len(found) > MOST_TOLD:
        more = Message("input.more", n=len(found) - MOST_TOLD)
        told = joined([told, more], "")
    return answer(problem(HTTPStatus.UNPROCESSABLE_ENTITY, told, "invalid"))


def _explained(location: Sequence[int | str], kind: str, message: str) -> str:
    field = ".".join(map(str, location))
    if kind == "string_pattern_mismatch" and SEEN in message:
        return Message("field.blank", field=field)
    return Message("field.of_pydantic", field=field, why=_within(message))


def _within(message: str) -> str:
    """Return a message of pydantic's as it goes on after a colon."""
    return f"{message[:1].lower()}{message[1:]}"


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(allowed(request)) or headers.get("Allow", "")
    kind = "not_found" if status is HTTPStatus.NOT_FOUND else "usage"
    detail = error.detail if error.detail != status.phrase else _DETAILS.get(status, error.detail)
    if isinstance(error.__cause__, UnicodeDecodeError):  # the framework's own words name no reason
        detail = Message("body.no_utf8")
    return answer(problem(status, detail, kind), headers)


def allowed(request: Request) -> list[str]:
    """Return the methods that the path accepts: the framework names those of one route only."""
    scope = dict(request.scope)
    described = request.app.openapi()["paths"].get(scope["path"])
    if described is not None:  # else a path with a parameter may accept it, too
        return [method for method in _METHODS if method.lower() in described]
    return [method for method in _METHODS if _takes(request.app, {**scope, "method": method})]


def _takes(app: FastAPI, scope: Scope) -> bool:
    return any(route.matches(scope)[0] is Match.FULL for route in app.router.routes)


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    detail = Message("error.unexpected_logged", type=type(error).__name__)
    return answer(problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail, "unexpected"))
