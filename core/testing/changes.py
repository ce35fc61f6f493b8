"""The `ChangeLog` port in memory, with transactions that really roll back."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from core.domain.errors import LeaseLost, NotFound, Repeated, Stale, TargetBusy, Unforeseen
from core.domain.models import (
    NO_USAGE,
    Change,
    ChangeStatus,
    FileRef,
    HistoryRecord,
    Kind,
    Operation,
    RestoreRequest,
    RunEvent,
)
from core.domain.models.cases import Case, CaseResult
from core.domain.observers import nobody
from core.domain.ports import Concluded, Observer
from core.knowledge.duplicates.repeats import repeats_skill
from core.testing.knowledge import MemoryKnowledge

AgentKey = tuple[str, str]  # tenant and id
_HAVE = {ChangeStatus.PREPARED, ChangeStatus.APPLYING}
_SEEN = {ChangeStatus.APPLYING, ChangeStatus.APPLIED, ChangeStatus.REVERTED}


class MemoryChangeLog:
    """Changes, blobs, history and events in memory; also the `TargetLocks` port.

    `epochs` maps candidate id -> current epoch; raise one to fence off a run.
    """

    def __init__(self, knowledge: MemoryKnowledge, observe: Observer = nobody) -> None:
        self.knowledge = knowledge
        self._observe = observe
        self.changes: dict[str, Change] = {}
        self.history: list[HistoryRecord] = []
        self.events: list[RunEvent] = []
        self.epochs: dict[str, int] = {}
        self.agent_skills: dict[AgentKey, set[str]] = {}
        self.unlistings: dict[tuple[str, str], set[str]] = {}  # tenant and skill -> agents
        self._blobs: dict[str, bytes] = {}
        self.kept: dict[str, Case] = {}
        self.retired: dict[str, str] = {}  # case -> the change that retired it
        self.breaking: list[CaseResult] = []  # what breaks by the time a change is recorded

    async def find(self, key: str) -> Change | None:
        found = [change for change in self.changes.values() if change.key == key]
        return max(found, key=lambda change: change.attempt) if found else None

    async def find_all(self, keys: Sequence[str]) -> Mapping[str, Change]:
        found = {key: await self.find(key) for key in keys}
        return {key: change for key, change in found.items() if change is not None}

    async def conclude(self, made: Sequence[Concluded]) -> None:
        for change, _, _ in made:
            await self._refuse_taken(change)
        for change, history, event in made:
            await self.open(change.model_copy(update={"status": ChangeStatus.APPLYING}), {})
            async with self.unit_of_work(change) as unit:
                await unit.write_item(change)
                await unit.record_knowledge_history(history)
                await unit.close(change.id, ChangeStatus.APPLIED)
                await unit.emit(event)

    async def _refuse_taken(self, change: Change) -> None:
        taken = await self.knowledge.taken(
            change.kind,
            change.tenant_id,
            change.agent_id,
            ids=[change.target_id],
            contents=[change.after.content] if change.after else [],
        )
        if taken or await self.find(change.key):
            raise Stale(f"{change.kind} {change.target_id!r} exists meanwhile")

    async def get(self, change_id: str) -> Change:
        if change_id not in self.changes:
            raise NotFound(f"there is no change {change_id!r}")
        return self.changes[change_id]

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        self._check_fence(change)
        self._refuse_skill_beside(change)
        self._refuse_unforeseen(change)
        self._put(change)
        self.put_blobs(blobs)

    async def store(
        self,
        change: Change,
        blobs: Mapping[str, bytes],
        event: RunEvent,
        history: HistoryRecord | None = None,
    ) -> None:
        now = datetime.now(UTC)
        applied_at = now if change.status is ChangeStatus.APPLIED else None
        self._put(change.model_copy(update={"created_at": now, "applied_at": applied_at}))
        self.put_blobs(blobs)
        if history is not None:
            self.history.append(history)
        self.events.append(event)
        self._observe(event, NO_USAGE)

    def put_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Store the bytes of files by their SHA-256."""
        self._blobs |= blobs

    async def acquire(self, change: Change) -> None:
        for other in list(self.changes.values()):
            dead = self.epochs.get(other.candidate_id or "", other.epoch) != other.epoch
            if dead and other.status is ChangeStatus.PREPARED:
                del self.changes[other.id]
        self._put(change)

    async def release(self, change_id: str) -> None:
        stored = self.changes.get(change_id)
        if stored is not None and stored.status is ChangeStatus.PREPARED:
            del self.changes[change_id]

    async def unfinished(self, candidate_id: str) -> Sequence[Change]:
        return [c for c in await self.abandoned(0) if c.candidate_id == candidate_id]

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        """Return all open intents: nothing in memory outlives its run."""
        del older_than
        return [c for c in self.changes.values() if c.status is ChangeStatus.APPLYING]

    async def adopt(self, change: Change) -> Change | None:
        if change.candidate_id is None:
            return change
        epoch = self.epochs.get(change.candidate_id, change.epoch or 0) + 1
        self.epochs[change.candidate_id] = epoch
        self.changes[change.id] = change.model_copy(update={"epoch": epoch})
        return self.changes[change.id]

    async def latest(self, tenant_id: str, kind: Kind, target_id: str) -> Change | None:
        target, had = (tenant_id, kind, target_id), self.changes.values()
        found = [c for c in had if c.status in _SEEN and _target(c) == target]
        return max(enumerate(found), key=_last_applied)[1] if found else None

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        try:
            return {ref.sha256: self._blobs[ref.sha256] for ref in refs}
        except KeyError as error:
            raise NotFound(f"the stored file {error} is missing") from error

    @asynccontextmanager
    async def unit_of_work(self, change: Change) -> AsyncIterator[MemoryUnitOfWork]:
        self._check_fence(change)
        if self.changes[change.id].status is not ChangeStatus.APPLYING:
            raise Stale(f"change {change.id} is settled already")
        saved = {key: copy.copy(value) for key, value in vars(self).items()}
        rows = copy.copy(vars(self.knowledge))
        vars(self.knowledge).update({key: copy.copy(value) for key, value in rows.items()})
        unit = MemoryUnitOfWork(self)
        try:
            yield unit
        except BaseException:
            vars(self).update({**saved, "knowledge": self.knowledge})
            vars(self.knowledge).update(rows)
            raise
        for event in unit.events:
            self._observe(event, NO_USAGE)

    def turn(self, change_ids: Sequence[str], old: ChangeStatus, new: ChangeStatus) -> None:
        """Move changes from one status to another, and those they undo the other way."""
        for change in [self.changes[change_id] for change_id in change_ids]:
            if change.status is old:
                self.changes[change.id] = change.model_copy(update={"status": new})
                self.turn(change.undoes, new, old)

    def _put(self, change: Change) -> None:
        self._check_fence(change)
        others = [other for other in self.changes.values() if other.id != change.id]
        for other in others:
            if (
                other.status in _HAVE
                and change.status in _HAVE
                and _target(other) == _target(change)
            ):
                raise TargetBusy(f"{change.kind} {change.target_id!r} is being changed")
            if (other.key, other.attempt) == (change.key, change.attempt):
                raise Stale(f"key {change.key!r} was used at the same time")
        stored = self.changes.get(change.id, change)
        at = change.prepared_at or stored.prepared_at or datetime.now(UTC)
        self.changes[change.id] = change.model_copy(update={"prepared_at": at})

    def _refuse_skill_beside(self, change: Change) -> None:
        """Raise Repeated if another change made a near-identical skill, TargetBusy if one does."""
        if change.kind is not Kind.SKILL or change.before is not None or change.seen is None:
            return
        for other in filter(lambda made: _is_beside(made, change), self.changes.values()):
            name = other.target_id
            if other.status is ChangeStatus.APPLYING:
                raise TargetBusy(f"skill {name!r} says nearly this and is being made")
            is_newer = self.knowledge.made_since(other, change.seen)
            if other.status is ChangeStatus.APPLIED and is_newer:
                raise Repeated(f"skill {name!r} says nearly this meanwhile", item_id=name)

    def _refuse_unforeseen(self, change: Change) -> None:
        """Raise Unforeseen if an agent lists the skill to be deleted that was not named."""
        if change.kind is not Kind.SKILL or change.after is not None:
            return
        foreseen = {change.agent_id, *(lister.id for lister in change.listed_by)}
        for agent_id in sorted(self.listing(change) - foreseen):
            raise Unforeseen(f"agent {agent_id!r} lists skill {change.target_id!r} too")

    def listing(self, change: Change) -> set[str]:
        """Return the ids of the agents that list the skill of a change."""
        lists = self.agent_skills.items()
        return {
            agent_id
            for (tenant_id, agent_id), names in lists
            if tenant_id == change.tenant_id and change.target_id in names
        }

    def _check_fence(self, change: Change) -> None:
        current = self.epochs.get(change.candidate_id or "", change.epoch)
        if current != change.epoch:
            raise LeaseLost(f"candidate {change.candidate_id} was taken over")


class MemoryUnitOfWork:
    """The `UnitOfWork` port over a `MemoryChangeLog`."""

    def __init__(self, log: MemoryChangeLog) -> None:
        self._log = log
        self.events: list[RunEvent] = []

    async def write_item(self, change: Change) -> None:
        self._log.knowledge.write(change)

    async def note_package(self, kind: Kind, package: str) -> None:
        self._log.knowledge.brought[kind] = package

    async def update_agent_and_tenant_skills(self, change: Change) -> None:
        log, skill = self._log, (change.tenant_id, change.target_id)
        is_undone = isinstance(change.request, RestoreRequest)
        if change.after is None:
            log.unlistings[skill] = log.listing(change)
            for key in ((change.tenant_id, agent_id) for agent_id in log.unlistings[skill]):
                log.agent_skills[key] = log.agent_skills[key] - {change.target_id}
        elif change.before is None:
            unlisted = log.unlistings.pop(skill, set())
            listed = unlisted if is_undone and unlisted else {change.agent_id}
            self._list(change, listed)
        elif not is_undone:
            self._list(change, {change.agent_id})

    def _list(self, change: Change, agent_ids: set[str]) -> None:
        for agent_id in agent_ids:
            key = (change.tenant_id, agent_id)
            names = self._log.agent_skills.get(key, set())
            self._log.agent_skills[key] = names | {change.target_id}

    async def set_agent_skills(self, change: Change) -> None:
        key = (change.tenant_id, change.target_id)
        listed = self._log.agent_skills.get(key, set())
        before = set(change.before.content.splitlines()) if change.before else set()
        if listed != before:
            raise Stale(f"the skills of agent {change.target_id!r} have moved on")
        after = change.after.content.splitlines() if change.after else []
        self._see_there(change, set(after) - listed)
        self._log.agent_skills[key] = set(after)

    def _see_there(self, change: Change, names: set[str]) -> None:
        began = self._log.changes[change.id].prepared_at
        for other in sorted(self._log.changes.values(), key=lambda made: made.target_id):
            if (
                (other.tenant_id, other.kind) == (change.tenant_id, Kind.SKILL)
                and other.operation is Operation.DELETE
                and other.target_id in names
                and (other.status is ChangeStatus.APPLYING or _applied_since(other, began))
            ):
                raise Stale(f"skill {other.target_id!r} was deleted meanwhile")

    async def record_knowledge_history(self, history: HistoryRecord) -> None:
        key = (history.change_id, history.attempt, history.status)
        if key not in {(h.change_id, h.attempt, h.status) for h in self._log.history}:
            self._log.history.append(history)
            self._log.knowledge.record(history)

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        change = self._log.changes[change_id]
        end: dict[str, object] = {"status": status, "error": error or change.error}
        if status is ChangeStatus.APPLIED:
            end["applied_at"] = datetime.now(UTC)
        self._log.changes[change_id] = change.model_copy(update=end)

    async def take_back(self, change_ids: Sequence[str]) -> None:
        self._log.turn(change_ids, ChangeStatus.APPLIED, ChangeStatus.REVERTED)

    async def broken_cases(self, change: Change) -> Sequence[CaseResult]:
        return [one for one in self._log.breaking if one.case.id not in change.retires]

    async def keep_cases(self, change: Change) -> None:
        at = {"created_at": datetime.now(UTC), "since": datetime.now(UTC)}
        for case in change.cases:
            if case.id not in change.retires:
                self._log.kept[case.id] = case.model_copy(update=at)
        self._log.retired |= dict.fromkeys(change.retires, change.id)

    async def emit(self, event: RunEvent) -> None:
        self._log.events.append(event)
        self.events.append(event)


def _last_applied(numbered: tuple[int, Change]) -> tuple[bool, datetime, int]:
    number, change = numbered
    never = datetime.min.replace(tzinfo=UTC)
    return change.status is ChangeStatus.APPLYING, change.applied_at or never, number


def _target(change: Change) -> tuple[str, str, str]:
    return change.tenant_id, change.kind, change.target_id


def _applied_since(change: Change, at: datetime | None) -> bool:
    applied_at = change.applied_at if change.status is ChangeStatus.APPLIED else None
    return applied_at is not None and at is not None and applied_at > at


def _is_beside(made: Change, change: Change) -> bool:
    """Whether a change made another skill of the tenant that says nearly the same."""
    return (
        (made.tenant_id, made.kind) == (change.tenant_id, Kind.SKILL)
        and made.operation is Operation.CREATE
        and made.target_id != change.target_id
        and made.after is not None
        and repeats_skill(change, made.target_id, made.after.content)
    )
