"""The embedded skill server as the program opens it: with its token, and for nobody else."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from core.app.bootstrap import serve_skills
from core.app.bootstrap.stores import skill_server, skill_store, tenant_tokens
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from core.skills.bundle import bundle_to_zip
from core.testing.contracts.skill_store import refund_skill
from tests.support.mcp_caller import McpCaller


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


async def test_a_token_is_made_at_first_and_known_to_workers_of_the_home(
    settings: Settings,
) -> None:
    bare = settings.model_copy(update={"skill_api_token": None})
    async with skill_server(bare) as url:
        elsewhere = bare.model_copy(update={"skill_api_base_url": url})
        async with skill_store(elsewhere, url) as skills:
            await skills.upload(refund_skill(), "t")
        [file] = bare.skill_worker_home.glob("*.token")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        foreign = elsewhere.model_copy(update={"skill_worker_home": file.parent / "other"})
        async with skill_store(foreign, url) as skills:
            with pytest.raises(ConfigurationError, match="401"):
                await skills.list("t")


async def test_where_no_token_can_be_kept_nothing_is_served(settings: Settings) -> None:
    (settings.skill_worker_home / "file").write_text("")
    lost = {"skill_api_token": None, "skill_worker_home": settings.skill_worker_home / "file"}
    with pytest.raises(ConfigurationError, match=r"skills\.token") as caught:
        await serve_skills(settings.model_copy(update=lost), "127.0.0.1", 0, asyncio.Event())
    assert "SKILL_API_TOKEN" in caught.value.hint


CALLS = [
    ("GET", "/skills/list?tenant_id={}", {}),
    ("GET", "/skills/check?name=refund&tenant_id={}", {}),
    ("GET", "/skills/download?name=refund&tenant_id={}", {}),
    ("GET", "/skills/refund/files?tenant_id={}", {}),
    ("GET", "/skills/refund/files/SKILL.md?tenant_id={}", {}),
    ("PUT", "/skills/refund/files/new.md?tenant_id={}", {"json": {"content": "x"}}),
    ("DELETE", "/skills/refund/files/new.md?tenant_id={}", {}),
    ("DELETE", "/skills/refund?tenant_id={}", {}),
]


async def test_a_token_of_one_tenant_touches_no_other(settings: Settings) -> None:
    """The parameter may name the tenant of the token, or be left out; it chooses nothing."""
    tokens = tenant_tokens(settings)
    zipped = {"file": ("refund.zip", bundle_to_zip(refund_skill(), root=True))}
    async with skill_server(settings) as url:
        of_a, of_b = (
            httpx.AsyncClient(
                base_url=url, trust_env=False, headers={"Authorization": f"Bearer {tokens(name)}"}
            )
            for name in ("a", "b")
        )
        async with of_a, of_b:
            for client, named in ((of_a, "a"), (of_b, "b")):
                done = await client.post("/skills/upload", data={"tenant_id": named}, files=zipped)
                assert done.status_code == 200
            crossed = await of_b.post("/skills/upload", data={"tenant_id": "a"}, files=zipped)
            assert crossed.status_code == 403
            for method, path, given in CALLS:
                crossed = await of_b.request(method, path.format("a"), **given)
                assert (method, path, crossed.status_code) == (method, path, 403)
            for method, path, given in CALLS:
                own = await of_b.request(method, path.format("b"), **given)
                assert (method, path, own.status_code) == (method, path, 200)
            assert (await of_b.get("/skills/list")).json()["count"] == 0
            assert (await of_b.get("/health")).json()["skills_loaded"] == 0
            assert (await of_a.get("/skills/list")).json()["count"] == 1


async def test_the_tools_of_a_tenants_token_read_no_other_either(settings: Settings) -> None:
    async with skill_server(settings) as url, skill_store(settings, url) as skills:
        await skills.upload(refund_skill(), "a")
        for named, is_error in (("a", True), ("b", False), ("", False)):
            caller = McpCaller(f"{url}/mcp", tenant_tokens(settings)("b"))
            for tool, more in (
                ("list_skills", {}),
                ("read_skill_document", {"skill_name": "refund"}),
                ("find_helpful_skills", {"task_description": "환불 refund"}),
            ):
                said = await caller.call_tool(tool, {"tenant_id": named, **more})
                assert said.isError is is_error
                assert "refund:" not in str(said.content)
                assert "Documents of skill 'refund'" not in str(said.content)
