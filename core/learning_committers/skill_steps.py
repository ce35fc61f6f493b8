"""Write a skill over the skill API in steps that can be resumed or rolled back."""

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

        Idempotent: the state of the store shows how far an earlier attempt came. Raises Stale if
        it is no intermediate state of this change.
        """
        stored = await self._stored()
        if _hash(stored) == state_hash(self.change.after):
            return
        if self.change.before is None or self.change.after is None:
            await self._whole(stored)
            return
        # The API has no transaction over several files: each call is conditional on the last hash.
        for step in self._remaining(stored):
            await self._call(step)

    async def roll_back(self) -> None:
        """Return a half-written folder to the change's before.

        Does nothing if the store has a state this change has not made, or its final one: then a
        concurrent worker has finished it.
        """
        before, stored = self.change.before, await self._stored()
        if _hash(stored) == state_hash(self.change.after):
            return
        made = {_hash(step.after) for step in _steps(self.change)}
        if before is None or stored is None or _hash(stored) not in made:
            return
        for step in _steps_between(stored, before.files or {}):
            await self._call(step)

    async def _stored(self) -> Manifest | None:
        bundle = await self.skills.read(self.change.target_id, self.change.tenant_id)
        return file_refs(bundle) if bundle else None

    async def _whole(self, stored: Manifest | None) -> None:
        """Create or delete the folder in one call."""
        change = self.change
        if _hash(stored) != change.base_hash:
            raise self._stale()
        await self._fenced()
        if change.after is None:
            await self.skills.delete(change.target_id, change.tenant_id, base_hash=change.base_hash)
            return
        refs = change.after.files or {}
        blobs = await self.changes.blobs(list(refs.values()))
        files = {path: _file(ref, blobs) for path, ref in refs.items()}
        await self.skills.upload(Bundle(name=change.target_id, files=files), change.tenant_id)

    def _remaining(self, stored: Manifest | None) -> list[Step]:
        """Return the steps still to take from the state of the store."""
        steps = _steps(self.change)
        for taken, step in enumerate(steps):
            if _hash(step.before) == _hash(stored):
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
    """Return the steps: SKILL.md first, then changed files by path, then deletions.

    A fixed order, so that each intermediate state is known and its hash shows where to resume.
    """
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
