"""A POST repeated under one idempotency key is executed once."""

from __future__ import annotations

import asyncio
from typing import cast

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.app.program import App
from core.domain.errors import DatabaseDown
from core.domain.models.access import Answer, Principal
from core.entrypoints.api.app import create_api
from core.entrypoints.api.bodies import MAX_LARGE
from core.entrypoints.api.idempotency import Idempotency, document
from core.entrypoints.api.opened import Opened
from core.testing.access import MemoryAnswers, MemoryTokens
from tests.support.api import As
from tests.support.guarded import Ports

KIM = Principal(token_id="1", name="kim")
LEE = Principal(token_id="2", name="lee")


# Calls that carry content in their bodies, and change nothing.
READING = {
    "/v1/context",
    "/v1/decisions/{name}/evaluate",
    "/v1/memories/search",
    "/v1/skills/load",
}


class Service:
    """Counts executions, and answers as configured."""

    def __init__(self, answers: MemoryAnswers | None = None) -> None:
        self.done: list[bytes] = []
        self.statuses: list[int] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.begun = asyncio.Event()
        self.breaks = False
        opened = Opened()
        self.answers = answers or MemoryAnswers()
        opened.app = cast("App", Ports(MemoryTokens(), self.answers))
        route = Route("/v1/{path:path}", self._work, methods=["GET", "POST", "PUT"])
        self.app = Idempotency(Starlette(routes=[route]), opened)

    async def _work(self, request: Request) -> Response:
        self.done.append(await request.body())
        self.begun.set()
        await self.may_end.wait()
        if self.breaks:
            raise RuntimeError("broken")
        status = self.statuses.pop(0) if self.statuses else 201
        return JSONResponse({"번호": len(self.done)}, status)

    async def post(
        self,
        key: str | None,
        content: bytes = b"{}",
        path: str = "/v1/x",
        who: Principal | None = KIM,
        method: str = "POST",
    ) -> httpx.Response:
        """Call once."""
        transport = httpx.ASGITransport(As(self.app, who), raise_app_exceptions=False)
        headers = {} if key is None else {b"idempotency-key": key.encode("latin-1")}
        async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
            return await client.request(method, path, content=content, headers=headers)


async def test_the_same_call_under_a_key_is_answered_as_it_was_at_first() -> None:
    service = Service()
    first, again = await service.post("k"), await service.post("k")
    assert (first.status_code, first.json()) == (201, {"번호": 1})
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert "idempotent-replay" not in first.headers
    assert again.headers["idempotent-replay"] == "true"
    assert len(service.done) == 1


async def test_without_a_key_every_call_is_carried_out() -> None:
    service = Service()
    await service.post(None)
    await service.post(None)
    assert len(service.done) == 2


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_only_posts_have_keys(method: str) -> None:
    service = Service()
    await service.post("k", method=method)
    await service.post("k", method=method)
    assert len(service.done) == 2


async def test_what_only_reads_is_carried_out_each_time_and_not_stored() -> None:
    service = Service()
    for path in READING:
        answers = [await service.post("k", path=path) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert all("idempotent-replay" not in answer.headers for answer in answers)
    assert len(service.done) == 2 * len(READING)


@pytest.mark.parametrize(
    ("content", "path"), [(b"{1}", "/v1/x"), (b"{}", "/v1/y"), (b"{}", "/v1/x?dry_run=true")]
)
async def test_another_call_under_the_key_is_refused(content: bytes, path: str) -> None:
    service = Service()
    await service.post("k")
    other = await service.post("k", content, path)
    assert (other.status_code, other.json()["kind"]) == (422, "invalid")
    assert len(service.done) == 1


async def test_keys_of_two_callers_are_apart() -> None:
    service = Service()
    await service.post("k")
    assert (await service.post("k", who=LEE)).json() == {"번호": 2}


async def test_a_call_that_is_still_worked_on_is_told_to_wait() -> None:
    service = Service()
    service.may_end.clear()
    first = asyncio.create_task(service.post("k"))
    await service.begun.wait()
    early = await service.post("k")
    assert (early.status_code, early.headers["retry-after"]) == (409, "1")
    assert early.headers["content-type"] == "application/problem+json"
    service.may_end.set()
    assert (await first).status_code == 201
    assert (await service.post("k")).headers["idempotent-replay"] == "true"
    assert len(service.done) == 1


async def test_a_refusal_is_kept_and_a_failure_is_not() -> None:
    service = Service()
    service.statuses = [404, 503, 429, 201]
    assert (await service.post("refused")).status_code == 404
    kept = await service.post("refused")
    assert (kept.status_code, kept.headers["content-type"]) == (404, "application/problem+json")
    assert (await service.post("failed")).status_code == 503
    assert (await service.post("failed")).status_code == 429  # over its budget: tomorrow it may be
    assert (await service.post("failed")).status_code == 201


async def test_a_call_that_breaks_may_be_tried_again() -> None:
    service = Service()
    service.breaks = True
    assert (await service.post("k")).status_code == 500
    service.breaks = False
    assert (await service.post("k")).status_code == 201


async def test_a_body_without_end_is_not_read_to_its_end() -> None:
    service = Service()
    answer = await service.post("k", b"x" * (MAX_LARGE + 1))
    assert (answer.status_code, answer.json()["kind"]) == (413, "usage")
    assert service.done == []


@pytest.mark.parametrize(
    "key", ["", "a" * 201, "a b", "tab\there", "키".encode().decode("latin-1")]
)
async def test_a_key_that_is_none_is_refused(key: str) -> None:
    service = Service()
    answer = await service.post(key)
    assert (answer.status_code, answer.json()["kind"]) == (422, "invalid")
    assert service.done == []


@pytest.mark.parametrize("key", ["!", "a" * 200, "~/:;'\"\\"])
async def test_every_visible_character_is_one_of_a_key(key: str) -> None:
    assert (await Service().post(key)).status_code == 201


async def test_a_body_that_comes_in_parts_is_whole_for_whoever_works_on_it() -> None:
    service = Service()
    body = b"x" * 1_000_000
    await service.post("k", body)
    assert service.done == [body]


class FailingAnswers(MemoryAnswers):
    """A store that fails to write once a call has begun."""

    async def end(self, owner: str, key: str, answer: Answer) -> None:
        """Fail. Raises DatabaseDown."""
        raise DatabaseDown("PostgreSQL does not answer")


async def test_who_waits_for_an_answer_has_it_also_where_it_cannot_be_kept() -> None:
    assert (await Service(FailingAnswers()).post("k")).status_code == 201


async def test_nobody_is_asked_for_a_key_where_no_caller_is_known() -> None:
    service = Service()
    assert (await service.post("k", who=None)).status_code == 201
    assert (await service.post("k", who=None)).status_code == 201


def test_the_header_is_named_at_every_post_that_changes_something_alone() -> None:
    api = create_api(Opened())
    document(api)
    posts = 0
    for name, path in api.openapi()["paths"].items():
        for method, operation in path.items():
            names = [parameter["name"] for parameter in operation.get("parameters", [])]
            assert names.count("Idempotency-Key") == (method == "post" and name not in READING)
            posts += method == "post"
    assert posts > len(READING)
