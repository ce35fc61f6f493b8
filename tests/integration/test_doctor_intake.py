"""The doctor reports that a person has paused the intake, since when and why."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from core.adapters.postgres.inbox import PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool
from core.app.settings import Settings, load_settings
from core.entrypoints.doctor import Check, CheckStatus, check_up


async def intake_check(settings: Settings) -> Check:
    return next(check for check in await check_up(settings) if check.name == "intake")


async def test_a_pause_is_told_of_with_its_reason(database: str, tmp_path: Path) -> None:
    given = {"skill_worker_home": tmp_path, "llm_model": "offline"}
    settings = load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )
    assert (await intake_check(settings)).status is CheckStatus.OK
    async with open_pool(database) as pool:
        await PostgresIntake(pool, Jobs(pool)).pause("월말 점검")
    check = await intake_check(settings)
    assert check.status is CheckStatus.WARN
    assert "월말 점검" in check.detail
    assert "intake resume" in check.fix


async def test_where_the_database_does_not_answer_that_check_says_so(tmp_path: Path) -> None:
    given = {"skill_worker_home": tmp_path, "llm_model": "offline"}
    down = SecretStr("postgresql://nobody@127.0.0.1:1/none")
    settings = load_settings(given, env_file=None).model_copy(update={"database_url": down})
    check = await intake_check(settings)
    assert (check.status, check.detail) == (CheckStatus.OK, "unknown: see the database")
