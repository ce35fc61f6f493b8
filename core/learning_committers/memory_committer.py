"""Memories: facts, preferences and guidelines, kept with the span in which each was true."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import AlreadyExists
from core.learning_committers.base import CommitDeps, ItemCommitter, snapshot
from core.learning_committers.memory_text import merged, new_text
from core.learning_committers.neighbours import (
    Beside,
    Neighbours,
    warnings_beside,
)
from core.models import (
    ChangeRequest,
    Kind,
    KnowledgeItem,
    MemoryRequest,
    MergeMode,
    Operation,
    Prepared,
    Receipt,
    Relationship,
    Snapshot,
    SubmitContext,
)
from core.ports import Knowledge
from core.snapshots import memory_name


async def commit_to_memory(
    agent_id: str,
    content: str = "",
    operation: Operation = Operation.CREATE,
    memory_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    part: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, change or deletion of a memory to the change gate.

    With REFINE `part` is the words of the old text that `content` takes the place of.
    """
    request = MemoryRequest(
        operation=operation,
        target_id=None if operation is Operation.CREATE else memory_id,
        content=content,
        part=part,
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class MemoryCommitter(ItemCommitter):
    """Prepares memories; one that is known already is prepared as no change at all.

    What would stand beside a near duplicate is refused, unless the request says why it is
    unrelated; what is said then is kept with the change.
    """

    def __init__(self, knowledge: Knowledge, neighbours: Neighbours) -> None:
        super().__init__(Kind.MEMORY, knowledge)
        self._neighbours = neighbours

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a memory request; see `core.ports.Committer`."""
        assert isinstance(request, MemoryRequest)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        return await self._update(item, request, context)

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Sequence[str]:
        """Refuse to restore a text that another memory of the agent holds by now."""
        if prepared.after is not None:
            await self._refuse_twice(prepared.after.content, context, but=prepared.target_id)
        return ()

    async def _create(self, request: MemoryRequest, context: SubmitContext) -> Prepared:
        text = new_text(request)
        beside = await self._neighbours.of_text(Kind.MEMORY, text, context, but="")
        same = await self._same(text, context)
        if same is not None:
            return self._prepared(same, Operation.UPDATE, snapshot(same))
        warnings = warnings_beside(request, Kind.MEMORY, beside.near, context)
        prepared = self._created(await self._new_id(request, context, "mem"), _state(text))
        return prepared.model_copy(update={"warnings": warnings, "seen": _mark(request, beside)})

    async def _update(
        self, item: KnowledgeItem, request: MemoryRequest, context: SubmitContext
    ) -> Prepared:
        text = merged(item.content, request)
        prepared = self._prepared(item, Operation.UPDATE, _state(text))
        if text == item.content:
            return prepared
        await self._refuse_twice(text, context, but=item.id)
        beside = await self._neighbours.of_text(Kind.MEMORY, text, context, but=item.id)
        warnings = warnings_beside(request, Kind.MEMORY, beside.near, context)
        return prepared.model_copy(update={"warnings": warnings, "seen": _mark(request, beside)})

    async def _same(self, text: str, context: SubmitContext) -> KnowledgeItem | None:
        return await self._knowledge.find_same(
            Kind.MEMORY, context.tenant_id, context.agent_id, text
        )

    async def _refuse_twice(self, text: str, context: SubmitContext, *, but: str) -> None:
        same = await self._same(text, context)
        if same is not None and same.id != but:
            raise AlreadyExists(
                f"memory {same.id} says exactly this",
                item_id=same.id,
                name=same.name,
                content=same.content,
                hint="delete the one that is not needed, or leave both as they are",
                why="same text",
            )


def _mark(request: MemoryRequest, beside: Beside) -> int | None:
    """Give up to where was looked, so that recording looks again; an import is never held up."""
    return None if request.is_import else beside.seen


def _state(text: str) -> Snapshot:
    return Snapshot(content=text, name=memory_name(text))
