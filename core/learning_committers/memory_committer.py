"""Memories: facts, preferences and guidelines, kept with the span in which each was true."""

from __future__ import annotations

from core.learning_committers.base import CommitDeps
from core.models import MemoryRequest, MergeMode, Operation, Receipt, Relationship


async def commit_to_memory(
    agent_id: str,
    content: str = "",
    operation: Operation = Operation.CREATE,
    memory_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, change or deletion of a memory to the change gate."""
    request = MemoryRequest(
        operation=operation,
        target_id=memory_id,
        content=content,
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))
