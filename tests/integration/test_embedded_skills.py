"""The embedded skill server as the program opens it: with its token, and for nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from core.app.bootstrap import serve_skills
from core.app.bootstrap.stores import skill_server, skill_store
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from core.testing.contracts.skill_store import refund_skill


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"skill_worker_home": tmp_path}, env_file=None).model_copy(
        update={"skill_api_base_url": None, "skill_api_token": SecretStr("s3cret")}
    )


async def test_the_worker_reaches_its_own_server_with_the_token(settings: Settings) -> None:
    async with skill_server(settings) as url, skill_store(settings, url) as skills:
        await skills.upload(refund_skill(), "t")
        assert [skill.name for skill in await skills.list("t")] == ["refund"]


async def test_who_has_no_token_or_comes_from_a_foreign_page_is_refused(settings: Settings) -> None:
    bearer = {"Authorization": "Bearer s3cret"}
    async with (
        skill_server(settings) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        assert (await client.get("/skills/list")).status_code == 401
        assert (await client.get("/skills/list", headers=bearer)).status_code == 200
        foreign = {**bearer, "Origin": "https://evil.example"}
        assert (await client.get("/skills/list", headers=foreign)).status_code == 403


async def test_beyond_loopback_it_is_not_served_without_a_token(settings: Settings) -> None:
    bare = settings.model_copy(update={"skill_api_token": None})
    with pytest.raises(ConfigurationError, match="SKILL_API_TOKEN"):
        await serve_skills(bare, "0.0.0.0", 0, asyncio.Event())
