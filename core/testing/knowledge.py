"""The `Knowledge` port in memory; `MemoryChangeLog` writes to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.domain.errors import NotFound, Repeated, Stale
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import Change, FileRef, HistoryRecord, Kind, KnowledgeItem, Scope, Snapshot
from core.knowledge.duplicates.repeats import repeats
from core.knowledge.history import absent, stood


class MemoryKnowledge:
    """Versions of items in a list, oldest first."""

    def __init__(self) -> None:
        self._rows: list[KnowledgeItem] = []
        self._skills: list[HistoryRecord] = []
        self.brought: dict[Kind, str] = {}

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        for item in self._open():
            if (item.kind, item.tenant_id, item.id) == (kind, tenant_id, item_id):
                return item
        raise NotFound(Message("no.item", kind=kind, id=item_id))

    async def find_named(
        self, kind: Kind, tenant_id: str, agent_id: str, name: str
    ) -> KnowledgeItem | None:
        for item in self._own(kind, tenant_id, agent_id):
            if name_key(item.name) == name_key(name):
                return item
        return None

    async def packages(self) -> Mapping[Kind, str]:
        return dict(self.brought)

    async def find_same(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        content: str,
        *,
        user: str | None = None,
    ) -> KnowledgeItem | None:
        for item in self._own(kind, tenant_id, agent_id):
            if same_key(item.content) == same_key(content) and item.user == user:
                return item
        return None

    async def taken(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        *,
        ids: Sequence[str],
        contents: Sequence[str],
    ) -> Sequence[KnowledgeItem]:
        keys = set(map(same_key, contents))
        return [
            item
            for item in self._open()
            if (item.kind, item.tenant_id) == (kind, tenant_id)
            and (item.id in ids or (item.agent_id == agent_id and same_key(item.content) in keys))
        ]

    async def some(
        self, kind: Kind, tenant_id: str, agent_id: str, *, since: datetime | None, limit: int
    ) -> Sequence[KnowledgeItem]:
        own = self._for(kind, tenant_id, agent_id)
        newer = [i for i in own if since is None or (i.valid_from or since) > since]
        return newer[:limit]

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        found = self._versions(kind, tenant_id, item_id)
        if not found:
            raise NotFound(Message("no.item", kind=kind, id=item_id))
        return found

    async def as_of(
        self, kind: Kind, tenant_id: str, item_id: str, at: datetime
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        versions = self._versions(kind, tenant_id, item_id)
        found = stood(versions, at)
        if found is None:
            raise absent(kind, item_id, at, versions)
        return found, {}

    def record(self, history: HistoryRecord) -> None:
        """Record the result of a change to a skill, which is stored elsewhere."""
        self._skills.append(history)

    def _versions(self, kind: Kind, tenant_id: str, item_id: str) -> list[KnowledgeItem]:
        return [
            item
            for item in self._rows
            if (item.kind, item.tenant_id, item.id) == (kind, tenant_id, item_id)
        ]

    async def list(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        expired: bool = False,
    ) -> Sequence[KnowledgeItem]:
        return [
            item
            for item in reversed(self._rows)
            if item.valid_to is None
            and _is_over(item) is expired
            and tenant_id in {None, item.tenant_id}
            and agent_id in {None, item.agent_id}
            and kind in {None, item.kind}
        ]

    def write(self, change: Change) -> None:
        """Write the next version of a change's target, or close it. Raises Stale."""
        self._refuse_repeated(change)
        now = datetime.now(UTC)
        standing = [item for item in self._open() if _key(item) == _target(change)]
        if bool(standing) != (change.before is not None):
            raise Stale(f"{change.kind} {change.target_id!r} has moved on")
        for item in standing:
            state = Snapshot(content=item.content, name=item.name, reach=item.reach)
            if state_hash(state) != change.base_hash:
                raise Stale(f"{change.kind} {change.target_id!r} has moved on")
            self._rows[self._rows.index(item)] = item.model_copy(update={"valid_to": now})
        if change.after is not None:
            self._rows.append(self._next(change, now))

    def newest(self, kind: Kind) -> int:
        """Return the number of versions, of skills or of items; later ones are above it."""
        return len(self._skills if kind is Kind.SKILL else self._rows)

    def made_since(self, change: Change, seen: int) -> bool:
        """Whether a change made its skill after `seen`."""
        return any(history.change_id == change.id for history in self._skills[seen:])

    def _refuse_repeated(self, change: Change) -> None:
        """Raise Repeated if another run has written the same since the change was prepared."""
        if change.after is None or change.seen is None:
            return
        for item in self._for(change.kind, change.tenant_id, change.agent_id):
            is_newer = self._rows.index(item) >= change.seen and item.id != change.target_id
            if is_newer and repeats(change, item.content):
                raise Repeated(
                    f"{change.kind} {item.id!r} says nearly this meanwhile", item_id=item.id
                )

    def _next(self, change: Change, now: datetime) -> KnowledgeItem:
        assert change.after is not None
        return KnowledgeItem(
            id=change.target_id,
            kind=change.kind,
            tenant_id=change.tenant_id,
            agent_id=change.agent_id,
            name=change.after.name,
            content=change.after.content,
            version=1 + sum(_key(item) == _target(change) for item in self._rows),
            valid_from=now,
            relationship=change.relationship,
            change_id=change.id,
            feedback_id=change.feedback_id,
            **change.after.reach.model_dump(),
        )

    def _open(self) -> Sequence[KnowledgeItem]:
        return [item for item in self._rows if item.valid_to is None]

    def _own(self, kind: Kind, tenant_id: str, agent_id: str) -> Sequence[KnowledgeItem]:
        return [
            item
            for item in self._open()
            if (item.kind, item.tenant_id, item.agent_id) == (kind, tenant_id, agent_id)
        ]

    def _for(self, kind: Kind, tenant_id: str, agent_id: str) -> Sequence[KnowledgeItem]:
        """Return the agent's items and those for the whole tenant."""
        return [
            item
            for item in self._open()
            if (item.kind, item.tenant_id) == (kind, tenant_id)
            and (item.agent_id == agent_id or item.scope is Scope.TENANT)
        ]


def _is_over(item: KnowledgeItem) -> bool:
    return item.valid_until is not None and item.valid_until < datetime.now(UTC)


def _key(item: KnowledgeItem) -> tuple[str, str, str]:
    return item.tenant_id, item.kind, item.id


def _target(change: Change) -> tuple[str, str, str]:
    return change.tenant_id, change.kind, change.target_id
