"""Tracing: what a collector on loopback receives of the real program, and what it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from core.app.program import open_app
from core.domain.models import NewFeedback
from core.domain.models.access import Role
from tests.support.mcp_agents import knowing
from tests.support.otlp import Collector, collecting

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, CALLER = PARENT.split("-")[1:3]
SAID = "금액은 항상 원화로 적어 주세요"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


async def test_x(collector, database, tmp_path):
    given = {"otel_exporter_otlp_endpoint": collector.url, "offline": True}
    async with knowing(database, tmp_path, **given) as served:
        token = await served.of_agent("a", "t", Role.SUBMIT)
        async with served.raw(token) as http:
            r = await http.post(
                "/v1/feedback",
                json={"agent_ids": ["a"], "content": SAID},
                headers={"traceparent": PARENT},
            )
            print(r.status_code, r.text)
        await served.app.run(True, 1, asyncio.Event(), lambda _: None)
    for s in collector.spans:
        print(s)
    assert 0
