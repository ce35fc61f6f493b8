"""The `Knowledge` port in memory; `MemoryChangeLog` writes to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.errors import NotFound, Stale
from core.models import Change, Kind, KnowledgeItem
from core.snapshots import name_key, same_key, text_hash


class MemoryKnowledge:
    """Versions of items in a list, oldest first."""

    def __init__(self) -> None:
        self._rows: list[KnowledgeItem] = []

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        """Give an item as it stands. Raises NotFound."""
        for item in self._open():
            if (item.kind, item.tenant_id, item.id) == (kind, tenant_id, item_id):
                return item
        raise NotFound(f"there is no {kind} {item_id!r}")

    async def find_rule(self, tenant_id: str, agent_id: str, name: str) -> KnowledgeItem | None:
        """Give the agent's decision table of that name, or None."""
        for item in self._own(Kind.DMN_RULE, tenant_id, agent_id):
            if name_key(item.name) == name_key(name):
                return item
        return None

    async def find_same(
        self, kind: Kind, tenant_id: str, agent_id: str, content: str
    ) -> KnowledgeItem | None:
        """Give the agent's oldest item that says exactly this, or None."""
        for item in self._own(kind, tenant_id, agent_id):
            if same_key(item.content) == same_key(content):
                return item
        return None

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        """Give all versions, oldest first. Raises NotFound."""
        found = [
            item
            for item in self._rows
            if (item.kind, item.tenant_id, item.id) == (kind, tenant_id, item_id)
        ]
        if not found:
            raise NotFound(f"there is no {kind} {item_id!r}")
        return found

    async def list(
        self, *, tenant_id: str | None, agent_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Give all current items, newest first."""
        return [
            item
            for item in reversed(self._rows)
            if item.valid_to is None
            and tenant_id in {None, item.tenant_id}
            and agent_id in {None, item.agent_id}
            and kind in {None, item.kind}
        ]

    def write(self, change: Change) -> None:
        """Write the next version of a change's target, or close it. Raises Stale."""
        now = datetime.now(UTC)
        held = [item for item in self._open() if item.id == change.target_id]
        if bool(held) != (change.before is not None):
            raise Stale(f"{change.kind} {change.target_id!r} has moved on")
        for item in held:
            if text_hash(item.content) != change.base_hash:
                raise Stale(f"{change.kind} {change.target_id!r} has moved on")
            self._rows[self._rows.index(item)] = item.model_copy(update={"valid_to": now})
        if change.after is not None:
            self._rows.append(self._next(change, now))

    def _next(self, change: Change, now: datetime) -> KnowledgeItem:
        assert change.after is not None
        return KnowledgeItem(
            id=change.target_id,
            kind=change.kind,
            tenant_id=change.tenant_id,
            agent_id=change.agent_id,
            name=change.after.name,
            content=change.after.content,
            version=1 + sum(item.id == change.target_id for item in self._rows),
            valid_from=now,
            relationship=change.relationship,
            change_id=change.id,
            feedback_id=change.feedback_id,
        )

    def _open(self) -> Sequence[KnowledgeItem]:
        return [item for item in self._rows if item.valid_to is None]

    def _own(self, kind: Kind, tenant_id: str, agent_id: str) -> Sequence[KnowledgeItem]:
        return [
            item
            for item in self._open()
            if (item.kind, item.tenant_id, item.agent_id) == (kind, tenant_id, agent_id)
        ]
