"""A throw-away database for the benchmarks of search."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool


@asynccontextmanager
async def database(*, vectors: bool = False) -> AsyncIterator[Pool]:
    """Yield a pool on a throw-away server with our schema."""
    with (
        tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home,
        embedded_postgres(Path(home)) as uri,
    ):
        await migrate(uri, vectors=vectors)
        async with open_pool(uri) as pool:
            yield pool
