"""The line to the model that settings name, the question a held one is asked, and what holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.bootstrap.stores import database, new_id
from core.budgets import Meter
from core.model_line import LineOptions
from core.models import Hold
from core.ports import ModelLine
from core.postgres import migrations
from core.postgres.intake import PostgresIntake
from core.postgres.jobs import Jobs
from core.postgres.model_line import PostgresModelLine
from core.postgres.pool import open_pool
from core.postgres.queries import Pool
from core.settings import OFFLINE_MODEL, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# What clients of providers wait at most, between two tries, for a server that asks them to.
_CLIENT_PAUSE = 120.0


@dataclass(frozen=True)
class LinedModel:
    """A chat model, the line that every call of it goes through, and what a call costs."""

    chat: BaseChatModel
    line: ModelLine
    meter: Meter

    async def knock(self) -> None:
        """Ask whether it answers, outside the line. Raises ModelDown, ConfigurationError."""
        from core.llm import knock

        await knock(self.chat)


def model_line(settings: Settings, pool: Pool, *, offline: bool = False) -> ModelLine:
    """Make the line of one worker to the model that settings name."""
    name = OFFLINE_MODEL if offline else _name(settings)
    options = LineOptions() if offline else _options(settings)
    return PostgresModelLine(pool, name, options, new_id=new_id, sleep=asyncio.sleep)


async def model_hold(settings: Settings) -> Hold | None:
    """Say why workers hold the model back, or None. Raises DatabaseDown, ConfigurationError."""
    async with _migrated(settings) as pool:
        return await model_line(settings, pool).hold()


async def intake_pause(settings: Settings) -> Hold | None:
    """Say why a person holds work back, or None. Raises DatabaseDown, ConfigurationError."""
    async with _migrated(settings) as pool:
        return await PostgresIntake(pool, Jobs(pool)).paused()


@asynccontextmanager
async def _migrated(settings: Settings) -> AsyncIterator[Pool]:
    with database(settings) as conninfo:
        async with open_pool(conninfo) as pool:
            await migrations.require_current(pool)
            yield pool


def _name(settings: Settings) -> str:
    """Name the line: one model behind two proxies is two."""
    model = settings.llm_model or OFFLINE_MODEL
    proxy = urlsplit(settings.llm_proxy_url or "").netloc.rpartition("@")[2]
    return f"{model} at {proxy}" if proxy else model


def _options(settings: Settings) -> LineOptions:
    timeout, repeats = settings.llm_timeout_seconds, settings.llm_max_retries
    return LineOptions(
        failures=settings.llm_breaker_failures,
        probe_every=settings.llm_probe_seconds,
        max_concurrency=settings.llm_max_concurrency,
        requests_per_minute=settings.llm_requests_per_minute,
        longest_wait=timeout,
        longest_call=(repeats + 1) * timeout + repeats * _CLIENT_PAUSE,
    )
