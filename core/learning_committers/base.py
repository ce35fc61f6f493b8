"""Shared parts of the committers: the context of a submission, and items in our own database."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.errors import AlreadyExists, NotFound, Refused
from core.domain.hashing import new_item_id, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    Kind,
    KnowledgeItem,
    Operation,
    Prepared,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Gate, Knowledge, UnitOfWork


@dataclass(frozen=True)
class CommitDeps:
    """The change gate and the context (key, tenant, feedback, fence) of one submission."""

    gate: Gate
    context: SubmitContext


class ItemCommitter:
    """A committer for kinds whose items are rows of our database, without outside effects."""

    def __init__(self, kind: Kind, knowledge: Knowledge) -> None:
        self._kind = kind
        self._knowledge = knowledge

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the current item, None if it is absent or deleted."""
        try:
            return snapshot(await self._knowledge.get(self._kind, tenant_id, target_id))
        except NotFound:
            return None

    async def apply(self, change: Change) -> None:
        """Do nothing: the item is written by `record`, in the transaction of its history row."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Write the item's next version. Raises Stale."""
        await unit.write_item(change)

    async def _target(self, request: ChangeRequest, context: SubmitContext) -> KnowledgeItem:
        """Return the target of an UPDATE or DELETE. Raises Refused unless it is the agent's own."""
        if not request.target_id:
            raise Refused(
                Message(
                    "item.id_missing",
                    "{operation} of a {kind} needs the id of the item",
                    operation=request.operation,
                    kind=self._kind,
                ),
                hint=Message("see.ids", "search_similar_knowledge gives ids"),
            )
        item = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        if item.agent_id != context.agent_id:
            raise Refused(
                Message(
                    "item.of_another_agent",
                    "{kind} {id} belongs to agent {agent}",
                    kind=self._kind,
                    id=item.id,
                    agent=item.agent_id,
                ),
                hint=Message("item.only_own", "an agent changes only what it has learnt itself"),
            )
        return item

    async def _new_id(self, request: ChangeRequest, context: SubmitContext, prefix: str) -> str:
        """Return the id a CREATE asks for, else one derived from the key. Raises AlreadyExists."""
        if not request.target_id:
            # Derived, not random: a repeated preparation creates the same item.
            return new_item_id(prefix, context.key)
        try:
            taken = await self._knowledge.get(self._kind, context.tenant_id, request.target_id)
        except NotFound:
            return request.target_id
        raise AlreadyExists(
            Message(
                "item.id_taken",
                "the id {id!r} belongs to another {kind}, {name!r}",
                id=taken.id,
                kind=self._kind,
                name=taken.name,
            ),
            item_id=taken.id,
            name=taken.name,
            content=taken.content,
            hint=Message(
                "item.leave_id_out",
                "leave the id out to have a new one, or change that item instead",
            ),
            why=Message("near.same_id", "same id"),
        )

    def _prepared(
        self, item: KnowledgeItem, operation: Operation, after: Snapshot | None
    ) -> Prepared:
        """Prepare a change of an existing item."""
        before = snapshot(item)
        return Prepared(
            kind=self._kind,
            target_id=item.id,
            target_name=after.name if after else item.name,
            operation=operation,
            before=before,
            after=after,
            base_hash=state_hash(before),
        )

    def _created(self, target_id: str, after: Snapshot) -> Prepared:
        """Prepare a new item."""
        return Prepared(
            kind=self._kind,
            target_id=target_id,
            target_name=after.name,
            operation=Operation.CREATE,
            before=None,
            after=after,
            base_hash=state_hash(None),
        )


def split_names(names: str) -> tuple[str, ...]:
    """Split a comma-separated list of names; blanks and repetitions are dropped."""
    return tuple(dict.fromkeys(part.strip() for part in names.split(",") if part.strip()))


def snapshot(item: KnowledgeItem) -> Snapshot:
    """Return the state of an item."""
    return Snapshot(content=item.content, name=item.name, version=item.version)
