"""The `Lineage` port over a `MemoryChangeLog`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.domain.models import (
    ChangeStatus,
    Feedback,
    FileRef,
    HistoryRecord,
    HistoryStatus,
    Kind,
    KnowledgeItem,
    Snapshot,
)
from core.domain.models.views import Cause, KnownCount, Made, Taught
from core.testing.changes import MemoryChangeLog

WORDS = 300


class MemoryLineage:
    """Reads the history of the log; `feedback` tells authors and times, by id."""

    def __init__(
        self, log: MemoryChangeLog, feedback: Mapping[str, Feedback] | None = None
    ) -> None:
        self._log = log
        self._feedback = feedback or {}

    async def made(
        self, kind: Kind, tenant_id: str, item_id: str, *, limit: int, max_bytes: int
    ) -> Sequence[Made]:
        place = (kind, tenant_id, item_id)
        rows = [h for h in self._log.history if _place(h) == place and _counts(h)]
        kept: list[HistoryRecord] = []
        size = 0
        for row in reversed(rows[-limit:]):
            size += len((row.previous_content or "").encode() + (row.new_content or "").encode())
            if kept and max_bytes and size > max_bytes:
                break
            kept.append(row)
        versions = {item.change_id: item for item in self._log.knowledge.everything()}
        return [self._made(row, versions, whole=max_bytes > 0) for row in reversed(kept)]

    async def taught(self, tenant_id: str, *, agent_id: str | None, limit: int) -> Sequence[Taught]:
        known = {
            (item.kind, item.id)
            for item in self._log.knowledge.everything()
            if item.tenant_id == tenant_id and item.valid_to is None
        }
        found: dict[tuple[str, Kind, str], Taught] = {}
        for row in reversed(self._log.history):
            is_own = row.tenant_id == tenant_id and agent_id in {None, row.agent_id}
            is_known = (row.knowledge_type, row.knowledge_id) in known
            if is_own and is_known and self._stands(row) and row.feedback_id is not None:
                key = (row.feedback_id, row.knowledge_type, row.knowledge_id)
                found.setdefault(key, self._taught(row, row.feedback_id))
        return [*found.values()][:limit]

    def _stands(self, row: HistoryRecord) -> bool:
        change = self._log.changes[row.change_id]
        return (row.status, change.status) == (HistoryStatus.APPLIED, ChangeStatus.APPLIED)

    async def counts(self, tenant_id: str) -> Sequence[KnownCount]:
        found = Counter(
            (item.agent_id, item.kind)
            for item in await self._log.knowledge.list(
                tenant_id=tenant_id, agent_id=None, kind=None
            )
        )
        return [
            KnownCount(agent_id=agent, kind=kind, count=found[agent, kind])
            for agent, kind in sorted(found)
        ]

    def _made(
        self, row: HistoryRecord, versions: Mapping[str | None, KnowledgeItem], *, whole: bool
    ) -> Made:
        version = versions.get(row.change_id)
        return Made(
            version=version.version if version else None,
            operation=row.operation,
            name=row.knowledge_name,
            valid_from=version.valid_from if version else None,
            valid_to=version.valid_to if version else None,
            relationship=self._log.changes[row.change_id].relationship,
            takes_back=row.status is HistoryStatus.REVERTED,
            by=self._cause(row),
            before=_state(row, row.previous_content, row.previous_files) if whole else None,
            after=_state(row, row.new_content, row.new_files) if whole else None,
        )

    def _cause(self, row: HistoryRecord) -> Cause:
        change, piece = self._log.changes[row.change_id], self._piece(row)
        kept = {"origin", "reason", "reverts", "edited_by", "decided_by", "decision", "decided_at"}
        return Cause(
            change_id=row.change_id,
            feedback_id=row.feedback_id,
            feedback=row.feedback_content,
            author=piece.author if piece else None,
            said_at=piece.created_at if piece else None,
            **{name: getattr(change, name) for name in kept},
        )

    def _taught(self, row: HistoryRecord, feedback_id: str) -> Taught:
        piece = self._piece(row)
        return Taught(
            feedback_id=feedback_id,
            author=piece.author if piece else None,
            words=row.feedback_content[:WORDS],
            kind=row.knowledge_type,
            item_id=row.knowledge_id,
            name=row.knowledge_name,
            agent_id=row.agent_id,
            operation=row.operation,
            change_id=row.change_id,
            at=row.created_at,
        )

    def _piece(self, row: HistoryRecord) -> Feedback | None:
        return self._feedback.get(row.feedback_id or "")


def _place(row: HistoryRecord) -> tuple[Kind, str, str]:
    return row.knowledge_type, row.tenant_id, row.knowledge_id


def _counts(row: HistoryRecord) -> bool:
    return row.status is not HistoryStatus.FAILED


def _state(
    row: HistoryRecord, content: str | None, files: Mapping[str, FileRef] | None
) -> Snapshot | None:
    if content is None:
        return None
    return Snapshot(content=content, name=row.knowledge_name, files=files)
