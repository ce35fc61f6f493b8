"""The API and its documentation agree on routes and the role each requires."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from fastapi import FastAPI

from core.app.program import App
from core.domain.models.access import Principal, Role
from core.entrypoints.api.app import create_api
from core.entrypoints.api.opened import Opened
from tests.support.api import As, one_of

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "http-api.md").read_text("utf-8")
ROWS = re.findall(r"^\| `([A-Z]+) (/v1/\S*)` \| (\w+) \| \S", PAGE, re.MULTILINE)
PIECE = {"agent_ids": ["a"], "content": "x"}
SEEN = {"seen": "x"}
BODIES = {
    "/v1/feedback": PIECE,
    "/v1/feedback/batch": {"items": [PIECE]},
    "/v1/feedback/{feedback_id}/cancel": {"reason": "x"},
    "/v1/changes/{change_id}/approve": SEEN,
    "/v1/changes/{change_id}/allow": {"reason": "x"},
    "/v1/changes/{change_id}/keep-both": SEEN,
    "/v1/changes/{change_id}/reject": {**SEEN, "reason": "x"},
    "/v1/changes/{change_id}/edit": {**SEEN, "content": "x"},
    "/v1/cases": {"id": "x", "case": {"check": "unsaid", "text": "x"}},
    "/v1/cases/{case_id}": {"case": {"check": "unsaid", "text": "x"}},
    "/v1/cases/{case_id}/disable": {"reason": "x"},
    "/v1/knowledge/restore": {"id": "x", "version": 1},
    "/v1/agents/{agent_id}": {"name": "x"},
    "/v1/memories/search": {"query": "x"},
    "/v1/decisions/{name}/evaluate": {"inputs": {}},
    "/v1/skills/load": {"name": "x"},
    "/v1/outcomes": {"used": [{"id": "x"}], "success": True},
    "/v1/context": {"agent": "x", "task": "x"},
    "/v1/agents/{agent_id}/skills": {"skills": ["x"]},
}
QUERIES = {
    "/v1/changes/{change_id}/files": {"path": "x"},
    "/v1/knowledge/item": {"id": "x"},
    "/v1/knowledge/file": {"id": "x", "path": "x"},
    "/v1/knowledge/versions": {"id": "x"},
    "/v1/knowledge/provenance": {"id": "x"},
    "/v1/search": {"q": "x"},
    "/v1/cases/coverage": {"id": "x"},
}


@pytest.fixture(scope="module")
def api() -> FastAPI:
    """The API over an opened program without stores."""
    opened = Opened()
    opened.app = cast("App", object())
    return create_api(opened)


def test_the_page_names_every_route(api: FastAPI) -> None:
    routes = {
        (method.upper(), path)
        for path, methods in api.openapi()["paths"].items()
        for method in methods
    }
    assert {(method, path) for method, path, _ in ROWS} == routes
    assert len(ROWS) == len(routes)


async def test_each_route_takes_the_role_that_the_page_says(api: FastAPI) -> None:
    for method, path, role in ROWS:
        others = [other for other in Role if other.value != role]
        refused = await _status(api, method, path, *others)
        assert refused == (200 if role == "any" else 403), (method, path)
        if role != "any":
            status = await _status(api, method, path, Role(role))
            assert status != 403 or "/intake/" in path, (method, path)


OF_AGENTS = {
    *("GET /v1/me", "GET /v1/search", "POST /v1/feedback", "POST /v1/feedback/batch"),
    *("POST /v1/memories/search", "POST /v1/decisions/{name}/evaluate", "POST /v1/skills/load"),
    *("POST /v1/outcomes", "POST /v1/context"),
}


async def test_an_agent_may_only_use_what_it_knows(api: FastAPI) -> None:
    agent = one_of("t").model_copy(update={"agent_id": "a"})
    for method, path, _ in ROWS:
        status = await _answer(api, method, path, agent)
        assert (status != 403) == (f"{method} {path}" in OF_AGENTS), (method, path)


async def _status(api: FastAPI, method: str, path: str, *roles: Role) -> int:
    return await _answer(api, method, path, one_of("t", *roles))


async def _answer(api: FastAPI, method: str, path: str, who: Principal) -> int:
    transport = httpx.ASGITransport(As(api, who), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        answer = await client.request(
            method,
            re.sub(r"\{\w+\}", "x", path),
            json=BODIES.get(path, {}) if method in {"POST", "PUT"} else None,
            params=QUERIES.get(path),
        )
    return answer.status_code


def references(part: object) -> Iterator[str]:
    """Every `$ref` below a part of a document."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from references(one)


def test_every_reference_leads_somewhere(api: FastAPI) -> None:
    document = api.openapi()
    for reference in set(references(document)):
        found: object = document
        for step in reference.removeprefix("#/").split("/"):
            assert isinstance(found, dict)
            assert step in found, reference
            found = found[step]
