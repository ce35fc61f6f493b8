"""The past of skills in memory, for `MemoryKnowledge`, which has no skills itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.domain.models import (
    FileRef,
    HistoryRecord,
    HistoryStatus,
    Kind,
    KnowledgeItem,
    Operation,
    Relationship,
)

Step = tuple[HistoryRecord, Relationship | None, datetime]
Stood = tuple[KnowledgeItem, Mapping[str, FileRef]]


def skill_versions(steps: Sequence[Step], tenant_id: str, name: str) -> list[Stood]:
    """Return the versions of a skill with their files, oldest first; a DELETE ends one."""
    own = [step for step in steps if _concerns(step[0], tenant_id, name)]
    stood: list[Stood] = []
    for index, (history, relationship, at) in enumerate(own):
        if history.operation is Operation.DELETE:
            continue
        until = own[index + 1][2] if index + 1 < len(own) else None
        item = _item(history, relationship, len(stood) + 1, at, until)
        stood.append((item, history.new_files or {}))
    return stood


def _concerns(history: HistoryRecord, tenant_id: str, name: str) -> bool:
    target = (history.knowledge_type, history.tenant_id, history.knowledge_id)
    return target == (Kind.SKILL, tenant_id, name) and history.status is not HistoryStatus.FAILED


def _item(
    history: HistoryRecord,
    relationship: Relationship | None,
    version: int,
    at: datetime,
    until: datetime | None,
) -> KnowledgeItem:
    return KnowledgeItem(
        id=history.knowledge_id,
        kind=Kind.SKILL,
        tenant_id=history.tenant_id,
        agent_id="",
        name=history.knowledge_name,
        content=history.new_content or "",
        version=version,
        valid_from=at,
        valid_to=until,
        relationship=relationship,
        change_id=history.change_id,
        feedback_id=history.feedback_id,
    )
