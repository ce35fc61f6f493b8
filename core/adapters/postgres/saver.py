"""LangGraph's saver of ReAct runs, on the process's one pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.adapters.postgres.queries import Pool

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver


def postgres_saver(pool: Pool) -> AsyncPostgresSaver:
    """Build a saver, one per run: a saver's lock lets one statement through at a time."""
    from core.adapters.postgres.careful_saver import CarefulSaver

    return CarefulSaver(pool)
