"""The `Threads` port over any saver of LangGraph, so over one in memory."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.checkpoint.base import BaseCheckpointSaver

from core.agent.loop.transcript import transcript_of
from core.domain.models.views import Said


class MemoryThreads:
    """Reads the threads of the saver that it is given."""

    def __init__(self, saver: BaseCheckpointSaver[str]) -> None:
        self._saver = saver

    async def read(self, thread: str) -> Sequence[Said] | None:
        found = await self._saver.aget_tuple(
            {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        )
        if found is None:
            return None
        return transcript_of(thread, found.checkpoint["channel_values"].get("messages", []))
