"""The OpenAPI document: the framework's own, plus the problems that all routes share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from core.entrypoints.api.problems import PROBLEM_TYPE, Problem

_Part = dict[str, object]
_ABOUT = """\
Feedback in, and what became of it; changes that wait for a person, and deciding about them; what \
is known, and where it came from.

Every call carries `Authorization: Bearer <token>` (`skill-worker tokens add`). A token has roles \
and is of one tenant, or of all: what is another tenant's does not exist for it.

Lists come in pages: `next` of a page is the `cursor` of the next one, with the same filters, and \
null at the end. Failures are problem details (RFC 9457): `kind` is a word that stays, `detail` \
says what was wrong, `hint` what to do.
"""
_ALWAYS = {
    "401": "The call came without a token that is valid.",
    "403": "The token lacks the role for this.",
    "404": "There is no such thing, or it is another tenant's.",
    "422": "What was given breaks a rule; `detail` names it.",
    "503": "Something that this needs does not answer; `Retry-After` says when to try again.",
}
_WITH_BODY = {
    "400": "The body cannot be read as JSON.",
    "413": "The body is too large.",
    "415": "The body is not `application/json`.",
}
_ON_WRITES = {
    "409": "It cannot be done as things stand, or somebody was faster.",
    "429": "The tenant has spent what it may on models today; `Retry-After` says when to come.",
}
_WRITES = {"post", "put", "patch", "delete"}


def describe(app: FastAPI) -> _Part:
    """Return the document."""
    made = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
    _tell_problems(made)
    return made


def query_names(document: Mapping[str, object]) -> Mapping[str, frozenset[str]]:
    """Return the names of the query parameters of each operation, by its id."""
    return {
        str(operation["operationId"]): frozenset(
            str(parameter["name"])
            for parameter in _list(operation.get("parameters"))
            if parameter["in"] == "query"
        )
        for _, operation in _operations(document)
    }


def _tell_problems(document: _Part) -> None:
    """Declare on each operation how it can fail."""
    components = _part(document["components"])
    schemas = _part(components["schemas"])
    for gone in ("HTTPValidationError", "ValidationError"):
        schemas.pop(gone, None)
    described = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(_part(described.pop("$defs", {})))
    schemas["Problem"] = described
    problems = {**_ALWAYS, **_WITH_BODY, **_ON_WRITES}
    components["responses"] = {code: _response(text) for code, text in problems.items()}
    for method, operation in _operations(document):
        codes = [*_ALWAYS, *(_ON_WRITES if method in _WRITES else ())]
        if "requestBody" in operation:
            codes += _WITH_BODY
        responses = _part(operation["responses"])
        responses.update({code: {"$ref": f"#/components/responses/{code}"} for code in codes})
        operation["responses"] = dict(sorted(responses.items()))


def _response(text: str) -> _Part:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": text, "content": {PROBLEM_TYPE: {"schema": schema}}}


def _operations(document: Mapping[str, object]) -> Iterator[tuple[str, _Part]]:
    for path in _part(document["paths"]).values():
        for method, operation in _part(path).items():
            yield method, _part(operation)


def _part(value: object) -> _Part:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[_Part]:
    return [_part(one) for one in value] if isinstance(value, list) else []
