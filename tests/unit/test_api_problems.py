"""Failures of the API: each error kind is a problem document with its status."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

import httpx
import pytest
from fastapi import FastAPI

from core.domain import errors
from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.entrypoints.api.app import create_api
from core.entrypoints.api.bodies import MAX_BODY, MAX_LARGE
from core.entrypoints.api.document import query_names
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.problems import PROBLEM_TYPE, problem_of
from tests.support.api import EVERYTHING, As

if TYPE_CHECKING:
    from core.app.program import App

# Failures of runs and of workers, which no call can come to.
NOT_OF_CALLS = {"error", "lease_lost", "run_failed", "no_commit", "iterations", "failed"}
JSON = {"Content-Type": "application/json"}
WHOLE = '{"agent_ids": ["a"], "tenant_id": "t", "content": "x", "events": %s}'
NO_JSON = ("{", "{'a': 1}", '{"a": 1,}', '{"a": "\0"}', "{}".encode("utf-16"), b'{"\xff": 1}')


@pytest.fixture(scope="module")
def api() -> FastAPI:
    """The API over an opened program that no call here reaches."""
    opened = Opened()
    opened.app = cast("App", object())
    return create_api(opened)


@pytest.fixture
async def client(api: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(api) as opened:
        yield opened


def calling(api: FastAPI) -> httpx.AsyncClient:
    """A client of an API with all roles."""
    transport = httpx.ASGITransport(As(api, EVERYTHING), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://api")


def seen_as(answer: httpx.Response) -> tuple[int, str]:
    """Return status and kind of a problem document."""
    assert answer.headers["content-type"] == PROBLEM_TYPE
    told = answer.json()
    assert (told["status"], told["type"]) == (answer.status_code, "about:blank")
    return answer.status_code, told["kind"]


def test_every_kind_of_error_has_a_status() -> None:
    kinds = {
        error.kind: error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, SkillWorkerError)
    }
    without = {kind for kind, error in kinds.items() if problem_of(error_of(error)).status == 500}
    assert without == NOT_OF_CALLS


def error_of(kind: type[SkillWorkerError]) -> SkillWorkerError:
    """Return an error of a kind, whatever its constructor takes."""
    made = kind.__new__(kind)
    SkillWorkerError.__init__(made, "it went wrong", hint="mend it")
    return made


async def test_while_it_starts_a_call_is_told_to_come_again() -> None:
    async with calling(create_api(Opened())) as client:
        answer = await client.get("/v1/feedback")
        deep = json.loads("[" * 98 + "]" * 98)
        body = {"agent_ids": ["a"], "content": "x", "tenant_id": "t", "events": deep}
        assert seen_as(await client.post("/v1/feedback", json=body)) == (503, "dependency")
    assert seen_as(answer) == (503, "dependency")
    assert answer.headers["Retry-After"] == "1"


async def test_what_is_not_there_is_a_problem_too(client: httpx.AsyncClient) -> None:
    for path in ("/v1/nothing", "/v1", "/nothing", "/v1/feedback/", "/v1//feedback", "/docs"):
        assert seen_as(await client.get(path)) == (404, "not_found"), path


async def test_a_problem_has_the_code_and_the_parameters_of_what_it_says(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/v1/me", params={"x": "1"})
    told = answer.json()
    assert told["detail"] == "query.x is no known parameter"
    assert (told["code"], told["params"]) == ("query.unknown", {"name": "x"})
    answer = await client.get("/v1/nothing")
    assert answer.json()["code"] == "http.no_path"


def test_a_message_within_a_message_has_a_code_of_its_own() -> None:
    what = Message("thing.agent")
    error = errors.NotFound(Message("no.thing", what=what, id="a\x1b\ud800"))
    told = problem_of(error).model_dump(mode="json")
    assert told["detail"] == "there is no agent 'a\\x1b\\ud800'"
    assert told["code"] == "no.thing"
    assert told["params"] == {
        "what": {"code": "thing.agent", "detail": "agent", "params": {}},
        "id": "a\\x1b\\ud800",
    }


def test_text_from_outside_has_no_code() -> None:
    told = problem_of(errors.NotFound("nobody knows")).model_dump(mode="json")
    assert (told["code"], told["params"]) == ("", {})


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/v1/feedback", "GET, POST"),
        ("HEAD", "/v1/feedback", "GET, POST"),
        ("POST", "/v1/agents/a", "GET, PUT"),
        ("PATCH", "/v1/feedback/batch", "POST"),
        ("GET", "/v1/intake/pause", "POST"),
        ("TRACE", "/v1/me", "GET"),
        ("OPTIONS", "/v1/feedback/x/retry", "POST"),
    ],
)
async def test_another_method_is_told_which_there_are(
    client: httpx.AsyncClient, method: str, path: str, allow: str
) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)
    assert answer.headers["content-type"] == PROBLEM_TYPE


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/v1/feedback", MAX_BODY, 422),
        ("/v1/feedback", MAX_BODY + 1, 413),
        ("/v1/feedback/batch", MAX_BODY + 1, 422),
        ("/v1/feedback/batch", MAX_LARGE + 1, 413),
        ("/v1/changes/x/edit", MAX_LARGE + 1, 413),
    ],
)
@pytest.mark.parametrize("is_told", [True, False])
async def test_a_body_that_is_too_large_is_not_read(
    client: httpx.AsyncClient, path: str, size: int, status: int, is_told: bool
) -> None:
    body = b'"' + b"x" * (size - 2) + b'"'

    async def in_parts() -> AsyncIterator[bytes]:
        for start in range(0, size, MAX_BODY):
            yield body[start : start + MAX_BODY]

    answer = await client.post(path, content=body if is_told else in_parts(), headers=JSON)
    assert answer.status_code == status
    assert answer.headers["content-type"] == PROBLEM_TYPE


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded"])
async def test_a_body_of_another_type_is_refused(client: httpx.AsyncClient, kind: str) -> None:
    answer = await client.post("/v1/feedback", content="{}", headers={"Content-Type": kind})
    assert seen_as(answer) == (415, "usage")


@pytest.mark.parametrize(
    "body",
    [
        '{"content": "a\\u0000b"}',
        '{"content": "\\ud800"}',
        '{"\\udfff": 1}',
        '{"events": [NaN]}',
        '{"events": [-Infinity]}',
        '{"events": [1e999]}',
        '{"events": ' + "[" * 101 + "]" * 101 + "}",
        "[" * 50_000,
        "[" * 50_000 + "]" * 50_000,
        '{"events": [' + "9" * 5_000 + "]}",
        "{",
        "",
        "[]",
        "null",
        '{"content": "x", "content": "\\u0000"}',
        b"\xff\xfe",
        WHOLE % f"[{'9' * 400}.0]",
        (WHOLE % "[NaN]").encode("utf-16"),
        (WHOLE % "[NaN]").encode("utf-32-le"),
    ],
)
async def test_a_body_that_nothing_can_store_is_refused(
    client: httpx.AsyncClient, body: str | bytes
) -> None:
    answer = await client.post("/v1/feedback", content=body, headers=JSON)
    assert answer.status_code in {400, 422}, answer.text
    assert answer.headers["content-type"] == PROBLEM_TYPE


async def test_what_is_no_json_in_utf_8_is_told_apart_from_what_breaks_a_rule(
    client: httpx.AsyncClient,
) -> None:
    for body in NO_JSON:
        answer = await client.post("/v1/feedback", content=body, headers=JSON)
        assert seen_as(answer) == (400, "usage"), answer.text
        assert answer.json()["code"] in {"body.no_json", "body.no_utf8"}, answer.text


async def test_no_path_and_no_parameter_holds_nul(client: httpx.AsyncClient) -> None:
    for path in ("/v1/feedback/a%00b", "/v1/agents?cursor=%00", "/v1/me?x=1", "/v1/agents?a%00b=1"):
        assert seen_as(await client.get(path)) == (422, "invalid"), path


def test_the_document_names_each_operation_once_and_all_its_problems(api: FastAPI) -> None:
    document = api.openapi()
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(set(ids)) == len(ids)
    assert set(query_names(document)) == set(ids)
    for path, method, operation in operations:
        named = {"401", "403", "404", "422", "503"} | ({"409"} if method != "get" else set())
        assert named <= operation["responses"].keys(), path
        assert operation["security"] == [{"HTTPBearer": []}], path
        assert operation["summary"], path
        assert operation["description"], path
        for code, told in operation["responses"].items():
            if int(code) >= 400:
                shared = told["$ref"].rpartition("/")[2]
                content = document["components"]["responses"][shared]["content"]
                assert list(content) == [PROBLEM_TYPE], path


def test_every_parameter_is_explained(api: FastAPI) -> None:
    silent = [
        (path, parameter["name"])
        for path, methods in api.openapi()["paths"].items()
        for operation in methods.values()
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]
    assert not silent


def test_the_document_describes_the_code_of_a_problem(api: FastAPI) -> None:
    fields = api.openapi()["components"]["schemas"]["Problem"]["properties"]
    assert fields["code"]["type"] == "string"
    assert fields["params"]["type"] == "object"
