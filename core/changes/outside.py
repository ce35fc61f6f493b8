"""What reached a skill past the gate becomes a change of its own, on record once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from core.domain.errors import InvalidInput, Stale
from core.domain.hashing import content_hash, sha256, state_hash, text_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
    HistoryRecord,
    HistoryStatus,
    Kind,
    Operation,
    Origin,
    RunEvent,
    Snapshot,
)
from core.domain.ports import ChangeLog, NewId, SkillStore, TargetLocks
from core.domain.tasks import aside
from core.skills.bundle import bundle_hash, file_refs


@dataclass(frozen=True)
class OutsideChanges:
    """Compares skills with what was last recorded of them: written by the gate, or seen here.

    What differs was made by somebody else: in the folders, or by a client of the skill API. A skill
    that was never recorded counts as created so. Methods raise SkillApiDown, DatabaseDown.
    """

    skills: SkillStore
    changes: ChangeLog
    target_locks: TargetLocks
    new_id: NewId

    async def see(self, tenant_id: str, name: str, bundle: Bundle) -> None:
        """Put on record what was just read of a skill, unless it is what was recorded last."""
        latest = await self._latest(tenant_id, name)
        if latest is None:  # none of our writes was read, since there never was one
            found = await aside(bundle.size, _state, bundle)
            await self._record(_change(self.new_id(), tenant_id, name, None, found), bundle)
        elif state_hash(latest.after) != await aside(bundle.size, bundle_hash, bundle):
            await self.look(tenant_id, name)

    async def look(self, tenant_id: str, name: str) -> None:
        """Read a skill and put on record what others made of it. One that is broken is left out."""
        before = await self._latest(tenant_id, name)
        try:
            bundle = await self.skills.read(name, tenant_id)
        except InvalidInput:
            return
        found = None if bundle is None else await aside(bundle.size, _state, bundle)
        if state_hash(found) == state_hash(before.after if before else None):
            return
        after = await self._latest(tenant_id, name)
        # An intent is written before the store: where none is newer, no write of ours was read.
        if _id(after) != _id(before) or (after and after.status is ChangeStatus.APPLYING):
            return
        await self._record(_change(self.new_id(), tenant_id, name, before, found), bundle)

    async def _latest(self, tenant_id: str, name: str) -> Change | None:
        return await self.target_locks.latest(tenant_id, Kind.SKILL, name)

    async def _record(self, change: Change, bundle: Bundle | None) -> None:
        files = bundle.files.values() if bundle else ()
        event = RunEvent(
            name="skill.changed_outside",
            tenant_id=change.tenant_id,
            change_id=change.id,
            data={"operation": change.operation.value, "target_id": change.target_id},
        )
        blobs = {sha256(file.data): file.data for file in files}
        history = HistoryRecord.of(change, self.new_id(), HistoryStatus.APPLIED)
        with suppress(Stale):  # another process has just recorded it
            await self.changes.store(change, blobs, event, history)


def _state(bundle: Bundle) -> Snapshot:
    # Others may write what PostgreSQL stores as no text; the files are kept byte for byte.
    document = bundle.files[SKILL_MD].data if SKILL_MD in bundle.files else b""
    text = document.decode("utf-8", "replace").replace("\0", "\ufffd")
    return Snapshot(content=text, name=bundle.name, files=file_refs(bundle))


def _id(change: Change | None) -> str:
    return change.id if change else ""


def _change(
    change_id: str, tenant_id: str, name: str, latest: Change | None, found: Snapshot | None
) -> Change:
    before = latest.after if latest else None
    operation = Operation.UPDATE if before and found else Operation.CREATE
    key = f"outside:{tenant_id}:{name}:{_id(latest)}:{state_hash(found)}"
    change = Change(
        id=change_id,
        key=key,
        digest=text_hash(key),
        tenant_id=tenant_id,
        agent_id="",  # no agent of ours made it
        kind=Kind.SKILL,
        target_id=name,
        target_name=name,
        operation=operation if found else Operation.DELETE,
        before=before,
        after=found,
        base_hash=state_hash(before),
        status=ChangeStatus.APPLIED,
        reason=Message("change.made_outside"),
        origin=Origin.OUTSIDE,
    )
    return change.model_copy(update={"content_hash": content_hash(change)})
