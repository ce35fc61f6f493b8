"""Transcripts of ReAct runs, read from the rows of LangGraph's saver."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.queries import Pool
from core.domain.models.views import Said


class PostgresThreads:
    """The `Threads` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def read(self, thread: str) -> Sequence[Said] | None:
        # Imported late: LangGraph is slow to import, and most commands read no thread.
        from core.adapters.postgres.saver import recorded_messages
        from core.agent.loop.transcript import transcript_of

        found = await recorded_messages(self._pool, thread)
        return None if found is None else transcript_of(thread, found)
