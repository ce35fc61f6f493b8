"""The skill stores pass one contract: in memory, over HTTP, and against a server without ETags."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.skill_server import create_app
from core.domain.ports import SkillStore
from core.skill_api_client import open_skill_api
from core.testing.contracts.skill_store import SkillStoreContract
from core.testing.skill_store import MemorySkillStore


class TestMemorySkillStore(SkillStoreContract):
    @pytest.fixture
    def store(self) -> SkillStore:
        return MemorySkillStore()


class TestSkillApiClient(SkillStoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[SkillStore]:
        async with run_server(create_app(tmp_path)) as url, open_skill_api(url, None) as client:
            yield client
