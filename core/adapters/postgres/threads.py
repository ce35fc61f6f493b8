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
        from core.adapters.postgres.saver import postgres_saver
        from core.agent.loop.transcript import transcript_of

        found = await postgres_saver(self._pool).aget_tuple(
            {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        )
        if found is None:
            return None
        return transcript_of(thread, found.checkpoint["channel_values"].get("messages", []))
