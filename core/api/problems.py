"""Errors as problem details (RFC 9457): one place that maps each kind to a status."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from core.errors import DependencyDown, SkillWorkerError
from core.models.base import Model

PROBLEM_TYPE = "application/problem+json"

_STATUS = {
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "usage": HTTPStatus.BAD_REQUEST,
    "unauthorized": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
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
}


class Problem(Model):
    """What a failed call is answered. `kind` is a word of `core.errors`, `hint` what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    kind: str
    hint: str = ""


def install(app: FastAPI) -> None:
    """Answer every failure of the app as a problem."""
    app.add_exception_handler(SkillWorkerError, _known)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def problem_of(error: SkillWorkerError) -> Problem:
    """Tell an error of ours as a problem."""
    status = _STATUS.get(error.kind, HTTPStatus.INTERNAL_SERVER_ERROR)
    return Problem(
        title=status.phrase,
        status=status.value,
        detail=error.message,
        kind=error.kind,
        hint=error.hint,
    )


def answer(problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """Render a problem."""
    return JSONResponse(
        problem.model_dump(mode="json"), problem.status, headers, media_type=PROBLEM_TYPE
    )


def answer_error(error: SkillWorkerError) -> JSONResponse:
    """Render an error of ours as a problem, with the headers that go with its kind."""
    headers = {}
    if isinstance(error, DependencyDown):
        headers["Retry-After"] = str(max(1, round(error.retry_after or 1)))
    if error.kind == "unauthorized":
        headers["WWW-Authenticate"] = "Bearer"
    return answer(problem_of(error), headers)


async def _known(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SkillWorkerError)
    return answer_error(error)


async def _malformed(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors()]
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    problem = Problem(
        title=status.phrase, status=status.value, detail="; ".join(found), kind="invalid"
    )
    return answer(problem)


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = "not_found" if status is HTTPStatus.NOT_FOUND else "usage"
    problem = Problem(title=status.phrase, status=status.value, detail=error.detail, kind=kind)
    return answer(problem, dict(error.headers or {}))


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = f"unexpected {type(error).__name__}; the log says more"
    problem = Problem(title=status.phrase, status=status.value, detail=detail, kind="unexpected")
    return answer(problem)
