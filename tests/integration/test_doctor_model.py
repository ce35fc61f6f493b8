"""The doctor reports why workers have blocked the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.adapters.postgres.pool import open_pool
from core.app.bootstrap.model import circuit_breaker
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from core.entrypoints.doctor import Check, CheckStatus, check_up
from tests.support.openai_server import Turn, error, message, openai_server


async def model_check(settings: Settings) -> Check:
    return next(check for check in await check_up(settings) if check.name == "model")


async def held(settings: Settings, database: str) -> None:
    async with open_pool(database) as pool:
        with pytest.raises(ConfigurationError):
            async with circuit_breaker(settings, pool).call():
                raise ConfigurationError("the model answered 401")


@pytest.mark.parametrize(
    ("turn", "status"), [(message("ready"), CheckStatus.WARN), (error(401), CheckStatus.FAIL)]
)
async def test_a_model_that_is_held_back_is_told_of(
    database: str, tmp_path: Path, turn: Turn, status: CheckStatus
) -> None:
    async with openai_server([]) as provider:
        settings = load_settings(
            {
                "skill_worker_home": tmp_path,
                "llm_model": "openai:gpt-4o",
                "llm_proxy_url": provider.url,
            },
            env_file=None,
        ).model_copy(update={"database_url": SecretStr(database)})
        provider.always = message("ready")
        assert (await model_check(settings)).status is CheckStatus.OK
        await held(settings, database)
        provider.always = turn
        check = await model_check(settings)
    assert check.status is status
    assert "workers have held it back since 20" in check.detail
    assert "the model answered 401" in check.detail
