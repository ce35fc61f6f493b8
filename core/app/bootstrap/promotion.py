"""The database that knowledge is promoted from: only read, beside the one written to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.installed import PostgresInstalledSkills
from core.adapters.postgres.knowledge import (
    PostgresKnowledgePages,
    PostgresKnowledgePast,
    packages_in,
)
from core.app.bootstrap.stores import open_database
from core.app.settings import Settings
from core.changes.promotion.promoter import Source
from core.domain.observers import nobody, nowhere


@asynccontextmanager
async def open_source(settings: Settings) -> AsyncIterator[Source]:
    """Open the database at DATABASE_URL to read what agents know.

    Raises ConfigurationError if its schema is not the code's, DatabaseDown.
    """
    async with open_database(settings) as pool:
        yield Source(
            pages=PostgresKnowledgePages(pool),
            past=PostgresKnowledgePast(pool),
            agents=PostgresAgents(pool, sets_up_new=False, keeps_raw=True),
            changes=PostgresChangeLog(pool, nobody, nowhere),
            installed=PostgresInstalledSkills(pool),
            packages=tuple(await packages_in(pool)),
        )
