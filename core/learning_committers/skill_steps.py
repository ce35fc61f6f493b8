"""Writing a skill over the skill API in steps that can be taken up where they stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import Stale
from core.models import SKILL_MD, Bundle, Change, FileRef, SkillFile, Snapshot
from core.ports import ChangeLog, SkillStore
from core.skill_bundle import file_refs
from core.snapshots import state_hash

Manifest = Mapping[str, FileRef]


@dataclass(frozen=True)
class Step:
    """One call that turns the folder `before` into `after`: `path` is written, or deleted."""

    path: str
    before: Manifest
    after: Manifest


async def apply_in_steps(change: Change, skills: SkillStore, changes: ChangeLog) -> None:
    """Bring the store from the change's before to its after.

    Idempotent: what the store really holds says how far an earlier try came. Raises Stale where
    it holds something that is no state of this change.
    """
    name, tenant = change.target_id, change.tenant_id
    held = await skills.read(name, tenant)
    manifest = file_refs(held) if held else None
    if _hash(manifest) == state_hash(change.after):
        return
    if change.before is None or change.after is None:
        await _whole(change, manifest, skills, changes)
        return
    for step in _remaining(change, manifest):
        base_hash = _hash(step.before)
        if step.path in step.after:
            file = await _file(step.after[step.path], changes)
            await skills.put_file(name, step.path, file, tenant, base_hash=base_hash)
        else:
            await skills.delete_file(name, step.path, tenant, base_hash=base_hash)


async def _whole(
    change: Change, manifest: Manifest | None, skills: SkillStore, changes: ChangeLog
) -> None:
    """Create or delete the folder in one call."""
    if _hash(manifest) != change.base_hash:
        raise Stale(f"skill {change.target_id!r} is not what this change was prepared against")
    if change.after is None:
        await skills.delete(change.target_id, change.tenant_id, base_hash=change.base_hash)
        return
    blobs = await changes.blobs(list((change.after.files or {}).values()))
    files = {
        path: SkillFile(data=blobs[ref.sha256], executable=ref.executable)
        for path, ref in (change.after.files or {}).items()
    }
    await skills.upload(Bundle(name=change.target_id, files=files), change.tenant_id)


def _remaining(change: Change, manifest: Manifest | None) -> list[Step]:
    """The steps still to take from what the store holds."""
    steps = _steps(change)
    for taken, step in enumerate(steps):
        if _hash(step.before) == _hash(manifest):
            return steps[taken:]
    raise Stale(f"skill {change.target_id!r} is not what this change was prepared against")


def _steps(change: Change) -> list[Step]:
    """SKILL.md first, then each changed file by path, then the deleted ones."""
    assert change.before is not None
    assert change.after is not None
    old, new = change.before.files or {}, change.after.files or {}
    written = sorted((p for p in new if old.get(p) != new[p]), key=lambda p: (p != SKILL_MD, p))
    steps: list[Step] = []
    folder = dict(old)
    for path in [*written, *sorted(set(old) - set(new))]:
        before = dict(folder)
        folder.pop(path, None)
        if path in new:
            folder[path] = new[path]
        steps.append(Step(path, before, dict(folder)))
    return steps


def _hash(manifest: Manifest | None) -> str:
    return state_hash(None if manifest is None else Snapshot(content="", name="", files=manifest))


async def _file(ref: FileRef, changes: ChangeLog) -> SkillFile:
    blobs = await changes.blobs([ref])
    return SkillFile(data=blobs[ref.sha256], executable=ref.executable)
