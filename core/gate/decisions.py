"""What a person makes of a change that waits: approve, reject, edit, prepare it again."""

from __future__ import annotations

from collections.abc import Awaitable

from core.errors import (
    ArtifactInvalid,
    Decided,
    DependencyDown,
    InvalidInput,
    PrepareFailed,
    Refused,
    Stale,
)
from core.gate import drafts, receipts, records
from core.gate.applying import finish, has_moved
from core.gate.deps import GateDeps
from core.gate.edited import edit_request, whole_request
from core.gate.holding import when_free
from core.gate.preparing import prepare
from core.models import Change, ChangeRequest, ChangeStatus, Edited, MergeMode, Receipt
from core.snapshots import state_hash

_OPEN = {ChangeStatus.HELD, ChangeStatus.STALE}


class Decisions:
    """Every method names who decides. `seen` is the hash of what they looked at, `known` the
    change where the caller has just read it.

    What is approved is what is applied: where it was edited, decided or overtaken since, the
    decision is refused and nothing happens. All raise NotFound, Decided and Stale.
    """

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps

    async def approve(
        self, change_id: str, *, by: str, seen: str | None = None, known: Change | None = None
    ) -> Receipt:
        """Apply a held change as it stands. Raises DependencyDown: then a worker goes on."""
        change = await self._waiting(change_id, seen, known)
        await self._see_current(change)
        if self._deps.dry_run:
            return receipts.receipt_of(_as(change, ChangeStatus.PREPARED))
        event = records.event("change.approved", change, by=by)
        intent = change

        async def approve() -> None:
            nonlocal intent
            intent = await self._deps.reviews.approve(change, by, event)

        await self._first(change_id, when_free(approve, self._deps.sleep))
        try:
            return await finish(intent, self._deps)
        except DependencyDown as error:
            error.hint = f"the change is approved; a worker goes on with it. {error.hint}".strip()
            raise

    async def reject(
        self,
        change_id: str,
        *,
        by: str,
        reason: str,
        seen: str | None = None,
        known: Change | None = None,
    ) -> Change:
        """End a change that waits; nothing is applied. Raises InvalidInput without a reason."""
        if not reason.strip():
            raise InvalidInput("a rejection needs a reason", hint="say why, for who taught it")
        change = await self._waiting(change_id, seen, known)
        if not self._deps.dry_run:
            event = records.event("change.rejected", change, by=by, reason=reason)
            end = self._deps.reviews.end(change, ChangeStatus.REJECTED, by, reason, event)
            await self._first(change_id, end)
        return _as(change, ChangeStatus.REJECTED)

    async def edit(
        self, change_id: str, edited: Edited, *, by: str, seen: str | None = None
    ) -> Change:
        """Put other content in the place of what waits; it is checked, and waits again.

        Raises InvalidInput and Refused where the checks refuse it.
        """
        change = await self._waiting(change_id, seen)
        await self._see_current(change)
        request = await edit_request(change, edited, self._deps.changes)
        return await self._prepared(change, request, "change.edited", by, edited_by=by)

    async def prepare_again(self, change_id: str, *, by: str) -> Change:
        """Prepare a change anew against what is there now; it waits again.

        Raises ConfigurationError where a model has to write and none is set.
        """
        change = await self._waiting(change_id, None)
        committer = self._deps.committers[change.kind]
        now = await committer.current(change.tenant_id, change.target_id)
        request = await whole_request(change, now, self._deps)
        if change.edited_by is not None and change.merge_mode is MergeMode.REPLACE:
            # What was edited is done to what is there now: it replaces the whole no more.
            change = change.model_copy(update={"merge_mode": MergeMode.REFINE})
        return await self._prepared(
            change, request, "change.prepared_again", by, edited_by=change.edited_by
        )

    async def has_moved(self, change: Change) -> bool:
        """Tell whether the target is not any more what a change is about; notes nothing."""
        return await has_moved(change, self._deps)

    async def _first(self, change_id: str, decision: Awaitable[object]) -> None:
        """Carry a decision out; where another came first, say who, or that it was edited."""
        try:
            await decision
        except Decided as error:
            change = await self._deps.changes.get(change_id)
            raise (_edited(change_id) if change.status in _OPEN else _decided(change)) from error

    async def _waiting(
        self, change_id: str, seen: str | None, known: Change | None = None
    ) -> Change:
        change = known or await self._deps.changes.get(change_id)
        if change.status not in _OPEN or not change.held:
            raise _decided(change)
        if seen is not None and seen != change.content_hash:
            raise _edited(change_id)
        return change

    async def _see_current(self, change: Change) -> None:
        """Raise Stale, and note it, where the target is not any more what the change is about."""
        error = _gone_stale(change)
        if change.status is ChangeStatus.STALE:
            raise error
        if not await has_moved(change, self._deps):
            return
        if not self._deps.dry_run:
            event = records.event("change.went_stale", change, error.message)
            await self._deps.reviews.end(change, ChangeStatus.STALE, "", error.message, event)
        raise error

    async def _prepared(
        self,
        change: Change,
        request: ChangeRequest,
        event_name: str,
        by: str,
        *,
        edited_by: str | None,
    ) -> Change:
        context = drafts.context_of(change)
        began = await self._deps.reviews.now()
        try:
            prepared = await prepare(request, context, self._deps)
        except PrepareFailed as error:
            raise error.cause from error
        except ArtifactInvalid as error:
            raise InvalidInput(error.message, hint=error.hint) from error
        if state_hash(prepared.before) == state_hash(prepared.after):
            raise Refused(
                f"{change.kind} {prepared.target_name!r} already says this",
                hint="reject the change: there is nothing to apply",
            )
        fresh = drafts.again(change, request, prepared)
        fresh = fresh.model_copy(
            update={
                "held": tuple(self._deps.policy(fresh)) or change.held,
                "edited_by": edited_by,
                "prepared_at": began,
            }
        )
        if not self._deps.dry_run:
            event = records.event(event_name, fresh, by=by)
            replace = self._deps.reviews.replace(fresh, change, prepared.blobs, event)
            await self._first(change.id, replace)
        return fresh


def _edited(change_id: str) -> Stale:
    return Stale(
        f"change {change_id} is not what was looked at any more",
        hint="look at it again, then decide",
    )


def _gone_stale(change: Change) -> Stale:
    return Stale(
        f"{change.kind} {change.target_name!r} has changed since change {change.id} was prepared",
        hint=f"prepare it again: `skill-worker changes refresh {change.id}`, then review it",
    )


def _decided(change: Change) -> Decided:
    if not change.held:
        return Decided(f"change {change.id} is {change.status}: it waits for nobody")
    by = f" by {change.decided_by}" if change.decided_by else ""
    at = f" at {change.decided_at:%Y-%m-%d %H:%M:%S %Z}" if change.decided_at else ""
    return Decided(f"change {change.id} was decided already{by}{at}: it is {change.status}")


def _as(change: Change, status: ChangeStatus) -> Change:
    return change.model_copy(update={"status": status})
