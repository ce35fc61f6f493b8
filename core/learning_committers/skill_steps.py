"""Writing a skill over the skill API in steps that can be taken up, or taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from core.domain.errors import Stale
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, Change, Fence, FileRef, SkillFile, Snapshot
from core.domain.ports import ChangeLog, SkillStore
from core.skills.bundle import file_refs

Manifest = Mapping[str, FileRef]
Check = Callable[[Fence], Awaitable[None]]


@dataclass(frozen=True)
class Step:
    """One call that turns the folder `before` into `after`: `path` is written, or deleted."""

    path: str
    before: Manifest
    after: Manifest


@dataclass(frozen=True)
class SkillSteps:
    """The calls that carry out one change; `check` raises LeaseLost before each."""

    change: Change
    skills: SkillStore
    changes: ChangeLog
    check: Check

    async def take(self) -> None:
        """Bring the store from the change's before to its after.

        Idempotent: what the store really holds says how far an earlier try came. Raises Stale
        where it holds something that is no state of this change.
        """
        held = await self._held()
        if _hash(held) == state_hash(self.change.after):
            return
        if self.change.before is None or self.change.after is None:
            await self._whole(held)
            return
        for step in self._remaining(held):
            await self._call(step)

    async def take_back(self) -> None:
        """Bring a half-written folder back to the change's before.

        Nothing where the store holds what this change has not made, or all of it: then another
        who carried it out at the same time has finished.
        """
        before, held = self.change.before, await self._held()
        if _hash(held) == state_hash(self.change.after):
            return
        made = {_hash(step.after) for step in _steps(self.change)}
        if before is None or held is None or _hash(held) not in made:
            return
        for step in _steps_between(held, before.files or {}):
            await self._call(step)

    async def _held(self) -> Manifest | None:
        bundle = await self.skills.read(self.change.target_id, self.change.tenant_id)
        return file_refs(bundle) if bundle else None

    async def _whole(self, held: Manifest | None) -> None:
        """Create or delete the folder in one call."""
        change = self.change
        if _hash(held) != change.base_hash:
            raise self._stale()
        await self._fenced()
        if change.after is None:
            await self.skills.delete(change.target_id, change.tenant_id, base_hash=change.base_hash)
            return
        refs = change.after.files or {}
        blobs = await self.changes.blobs(list(refs.values()))
        files = {path: _file(ref, blobs) for path, ref in refs.items()}
        await self.skills.upload(Bundle(name=change.target_id, files=files), change.tenant_id)

    def _remaining(self, held: Manifest | None) -> list[Step]:
        """The steps still to take from what the store holds."""
        steps = _steps(self.change)
        for taken, step in enumerate(steps):
            if _hash(step.before) == _hash(held):
                return steps[taken:]
        raise self._stale()

    async def _call(self, step: Step) -> None:
        await self._fenced()
        name, tenant, base_hash = self.change.target_id, self.change.tenant_id, _hash(step.before)
        if step.path not in step.after:
            await self.skills.delete_file(name, step.path, tenant, base_hash=base_hash)
            return
        ref = step.after[step.path]
        file = _file(ref, await self.changes.blobs([ref]))
        await self.skills.put_file(name, step.path, file, tenant, base_hash=base_hash)

    async def _fenced(self) -> None:
        candidate_id, epoch = self.change.candidate_id, self.change.epoch
        if candidate_id is not None and epoch is not None:
            await self.check(Fence(candidate_id=candidate_id, epoch=epoch))

    def _stale(self) -> Stale:
        return Stale(
            Message(
                "skill.moved",
                "skill {name!r} is not what this change was prepared on",
                name=self.change.target_id,
            )
        )


def _steps(change: Change) -> list[Step]:
    if change.before is None or change.after is None:
        return []
    return _steps_between(change.before.files or {}, change.after.files or {})


def _steps_between(old: Manifest, new: Manifest) -> list[Step]:
    """SKILL.md first, then each changed file by path, then the deleted ones."""
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


def _file(ref: FileRef, blobs: Mapping[str, bytes]) -> SkillFile:
    return SkillFile(data=blobs[ref.sha256], executable=ref.executable)
