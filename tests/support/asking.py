"""Frequent API calls of tests, with their answers."""

from __future__ import annotations

from pydantic import JsonValue

from core.domain.models.access import Principal
from tests.support.api import Api, one_of

OF_T, OF_U = one_of("t"), one_of("u")
Data = dict[str, JsonValue]


async def ask(api: Api, route: str, /, who: Principal = OF_T, **params: object) -> Data:
    answer = await api.call("GET", f"/v1/{route}", who=who, params=params)
    assert answer.status_code == 200, answer.text
    given: Data = answer.json()
    return given


async def fails(
    api: Api, route: str, /, who: Principal = OF_T, **params: object
) -> tuple[int, str]:
    answer = await api.call("GET", f"/v1/{route}", who=who, params=params)
    problem = answer.json()
    return answer.status_code, f"{problem['detail']} {problem['hint']}"


async def restore(api: Api, who: Principal = OF_T, **body: object) -> Data:
    answer = await api.call("POST", "/v1/knowledge/restore", body, who=who)
    assert answer.status_code == 200, answer.text
    given: Data = answer.json()
    return given
