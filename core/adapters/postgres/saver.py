"""The saver that keeps ReAct runs, on the process's one pool; a run it cannot read is no puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.adapters.postgres.queries import Pool

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver


def postgres_saver(pool: Pool) -> AsyncPostgresSaver:
    """Make a saver. Make one a run: a saver holds a lock that lets one statement at a time by."""
    from core.adapters.postgres.careful_saver import CarefulSaver

    return CarefulSaver(pool)
