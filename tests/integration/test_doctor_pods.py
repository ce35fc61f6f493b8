"""The doctor calls both MCP servers if skills are built in pods, and reports on the sandbox."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from core.app.bootstrap import PodHost, computer_use
from core.app.settings import Settings, load_settings
from core.entrypoints.doctor import Check, CheckStatus, check_up


async def checks(settings: Settings, database: str) -> dict[str, Check]:
    named = settings.model_copy(update={"database_url": SecretStr(database)})
    return {check.name: check for check in await check_up(named)}


def settings(home: Path, **given: str | bool) -> Settings:
    told = {"skill_worker_home": home, "llm_model": "offline", "mcp_timeout_seconds": 5, **given}
    return load_settings(told, env_file=None)


async def test_both_servers_show_their_tools(database: str, tmp_path: Path) -> None:
    async with computer_use(settings(tmp_path), PodHost()) as url:  # of the same home
        found = await checks(
            settings(tmp_path, use_skill_creator_workflow=True, computer_use_mcp_url=url), database
        )
    assert found["skills MCP"].status is CheckStatus.OK
    assert "read_skill_document" in found["skills MCP"].detail
    assert found["computer-use MCP"].status is CheckStatus.OK
    assert "create_session" in found["computer-use MCP"].detail
    is_boundary = found["sandbox"].status is CheckStatus.OK
    assert is_boundary is ("NO SECURITY BOUNDARY" not in found["sandbox"].detail)


async def test_a_server_that_is_down_and_one_that_is_not_named_are_told(
    database: str, tmp_path: Path
) -> None:
    down = settings(tmp_path, computer_use_mcp_url="http://127.0.0.1:9/mcp")
    found = await checks(down, database)
    assert found["skills MCP"].status is CheckStatus.OK
    assert (found["computer-use MCP"].status, found["computer-use MCP"].kind) == ("FAIL", "mcp")
    found = await checks(settings(tmp_path, use_skill_creator_workflow=True), database)
    assert found["computer-use MCP"].status is CheckStatus.WARN
    assert "serve computer-use" in found["computer-use MCP"].fix


async def test_who_builds_no_skills_in_pods_is_not_bothered(database: str, tmp_path: Path) -> None:
    assert "sandbox" not in await checks(settings(tmp_path), database)
