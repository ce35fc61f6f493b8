"""Restore an item to one of its versions, through the gate."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from core.domain.errors import NotFound
from core.domain.hashing import ABSENT, state_hash
from core.domain.messages import Message
from core.domain.models import (
    Kind,
    KnowledgeItem,
    Operation,
    Origin,
    Receipt,
    RestoreRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import ChangeLog, Gate, Knowledge, KnowledgePast, NewId, SkillStore
from core.skills.bundle import bundle_hash


@dataclass(frozen=True, kw_only=True)
class Restorer:
    """Restore items; with a dry-run gate, only show the effect."""

    knowledge: Knowledge
    past: KnowledgePast
    skills: SkillStore
    changes: ChangeLog
    gate: Gate
    new_id: NewId

    async def restore(self, item: KnowledgeItem, version: int, by: str = "") -> Receipt:
        """Restore `item` to that version; a skill with all its files.

        `by` is who asks for it. Raises NotFound if there is no such version.
        """
        key = (item.kind, item.tenant_id, item.id)
        versions = await self.knowledge.versions(*key)
        wanted = next((found for found in versions if found.version == version), None)
        if wanted is None:
            known = ", ".join(str(found.version) for found in versions)
            raise NotFound(
                Message("restore.no_version", kind=item.kind, id=item.id, version=version),
                hint=Message("restore.versions", versions=known),
            )
        now = await self._hash_now(*key)
        request = RestoreRequest(
            operation=Operation.CREATE if now == ABSENT else Operation.UPDATE,
            target_kind=item.kind,
            target_id=item.id,
            state=await self._state(wanted),
            expected_hash=now,
            reason=_reason(version, by),
        )
        return await self.gate.submit(request, await self._context(versions[-1]))

    async def _state(self, wanted: KnowledgeItem) -> Snapshot:
        if wanted.kind is not Kind.SKILL:
            return Snapshot(content=wanted.content, name=wanted.name, reach=wanted.reach)
        _, files = await self.past.version(wanted.kind, wanted.tenant_id, wanted.id, wanted.version)
        return Snapshot(content=wanted.content, name=wanted.name, files=files)

    async def _hash_now(self, kind: Kind, tenant_id: str, item_id: str) -> str:
        if kind is Kind.SKILL:
            bundle = await self.skills.read(item_id, tenant_id)
            return await asyncio.to_thread(bundle_hash, bundle) if bundle else ABSENT
        try:
            item = await self.knowledge.get(kind, tenant_id, item_id)
            return state_hash(Snapshot(content=item.content, name=item.name, reach=item.reach))
        except NotFound:
            return ABSENT

    async def _context(self, last: KnowledgeItem) -> SubmitContext:
        """Return the context of the agent that learnt it; a skill belongs to the tenant."""
        agent_id = last.agent_id
        if not agent_id and last.change_id is not None:
            agent_id = (await self.changes.get(last.change_id)).agent_id
        return SubmitContext(
            key=f"restore:{self.new_id()}",
            tenant_id=last.tenant_id,
            agent_id=agent_id,
            origin=Origin.PERSON,
        )


def _reason(version: int, by: str) -> Message:
    if not by:
        return Message("restore.reason", version=version)
    return Message("restore.reason_by", version=version, name=by)
