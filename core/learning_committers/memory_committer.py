"""Memories: facts, preferences and guidelines, kept with the span in which each was true."""

from __future__ import annotations

from core.errors import AlreadyExists, Refused
from core.learning_committers.base import CommitDeps, ItemCommitter, new_item_id, snapshot
from core.models import (
    ChangeRequest,
    Kind,
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


NAME_CHARS = 60


class MemoryCommitter(ItemCommitter):
    """Prepares memories; an exact duplicate is prepared as no change at all."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(Kind.MEMORY, knowledge)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a memory request; see `core.ports.Committer`."""
        assert isinstance(request, MemoryRequest)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        text = _merged(item.content, _content(request), request.merge_mode)
        await self._refuse_twice(text, context, but=item.id)
        return self._prepared(item, Operation.UPDATE, _state(text))

    async def vet(self, prepared: Prepared, context: SubmitContext) -> None:
        """Refuse to restore a text that another memory of the agent holds by now."""
        if prepared.after is not None:
            await self._refuse_twice(prepared.after.content, context, but=prepared.target_id)

    async def _refuse_twice(self, text: str, context: SubmitContext, *, but: str) -> None:
        same = await self._knowledge.find_same(
            Kind.MEMORY, context.tenant_id, context.agent_id, text
        )
        if same is not None and same.id != but:
            raise AlreadyExists(
                f"memory {same.id} says exactly this",
                item_id=same.id,
                name=same.name,
                content=same.content,
                hint="delete the one that is not needed, or leave both as they are",
            )

    async def _create(self, request: MemoryRequest, context: SubmitContext) -> Prepared:
        text = _content(request)
        same = await self._knowledge.find_same(
            Kind.MEMORY, context.tenant_id, context.agent_id, text
        )
        if same is not None:
            return self._prepared(same, Operation.UPDATE, snapshot(same))
        return self._created(new_item_id("mem", context.key), _state(text))


def _content(request: MemoryRequest) -> str:
    text = request.content.strip()
    if not text:
        raise Refused("the memory has no content", hint="say what is to be remembered")
    return text


def _merged(old: str, new: str, mode: MergeMode | None) -> str:
    """EXTEND keeps every character of the old text; the others put the new one in its place."""
    if mode is not MergeMode.EXTEND or new.startswith(old):
        return new
    return old if new in old else f"{old}\n{new}"


def _state(text: str) -> Snapshot:
    line = " ".join(text.split())
    name = line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + "…"
    return Snapshot(content=text, name=name)
