"""Pods and skill documents pass one contract: on this machine, and over MCP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.ports import Pods, SkillDocuments
from core.mcp_client import McpPods, McpSkillDocuments
from core.testing.contracts.pods import (
    SCRIPT,
    SCRIPT_TEXT,
    SKILL,
    PodsContract,
    SkillDocumentsContract,
)
from core.testing.pods import LocalPods, MemorySkillDocuments
from tests.support.examples import at_night
from tests.support.mcp_servers import SHELL_SHAPES, ScriptedComputerUse, ScriptedSkills, connected

KINDS = ("stream", "json", "sse")


class TestLocalPods(PodsContract):
    @pytest.fixture
    def pods(self, tmp_path: Path) -> Pods:
        return LocalPods(tmp_path)


class TestMemorySkillDocuments(SkillDocumentsContract):
    @pytest.fixture
    def documents(self) -> SkillDocuments:
        return MemorySkillDocuments({SKILL: {SCRIPT: SCRIPT_TEXT}})


class TestMcpPods(PodsContract):
    @pytest.fixture(
        params=[
            *("blocks-stream", "fields-json", "header-sse"),
            # Every shape passes the whole path in test_pod_path.py.
            *at_night(*(f"{shape}-stream" for shape in SHELL_SHAPES if shape != "blocks")),
        ]
    )
    async def pods(self, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Pods]:
        shape, _, kind = str(request.param).partition("-")
        server = ScriptedComputerUse(tmp_path, shape=shape, sse=kind == "sse", json=kind == "json")
        async with server.serve(), connected(server) as client:
            yield McpPods(client)
        assert not server.pods


class TestMcpSkillDocuments(SkillDocumentsContract):
    @pytest.fixture(params=KINDS)
    async def documents(self, request: pytest.FixtureRequest) -> AsyncIterator[SkillDocuments]:
        kind = request.param
        texts = {f"{SKILL}/{SCRIPT}": SCRIPT_TEXT}
        server = ScriptedSkills(texts, sse=kind == "sse", json=kind == "json")
        async with server.serve(), connected(server, name="claude-skills") as client:
            yield McpSkillDocuments(client, "claude-skills")
