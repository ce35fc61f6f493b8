"""The waist: every change is prepared, judged, applied and recorded here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from core import gate_records as records
from core.errors import (
    AlreadyExists,
    ArtifactInvalid,
    DependencyDown,
    InvalidInput,
    KeyReused,
    LeaseLost,
    NotFound,
    Refused,
    SkillWorkerError,
    Stale,
    TargetBusy,
)
from core.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Kind,
    Prepared,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    SubmitContext,
)
from core.ports import ChangeLog, Committer, Journal, NewId, Sleep
from core.review_policy import Decision, Policy, apply_all
from core.snapshots import request_digest, state_hash

log = structlog.get_logger(__name__)

MAX_PREPARES = 5
BUSY_WAITS = 40
BUSY_PAUSE_SECONDS = 0.25


@dataclass(frozen=True)
class GateDeps:
    """What the gate works with."""

    committers: Mapping[Kind, Committer]
    changes: ChangeLog
    journal: Journal
    new_id: NewId
    sleep: Sleep
    policy: Policy = apply_all


class ChangeGate:
    """prepare → policy → apply → record, for the agent, the command line and the console."""

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        """Carry a request through; see `core.ports.Gate` for the promises."""
        digest = request_digest(request)
        for _ in range(MAX_PREPARES):
            known = await self._deps.changes.find(context.key)
            try:
                if known is not None and known.status is not ChangeStatus.STALE:
                    return await self._again(known, digest, context)
                attempt = known.attempt + 1 if known else 1
                return await self._attempt(request, context, digest, attempt)
            except Stale:
                continue
        raise TargetBusy(
            f"the target kept moving: {MAX_PREPARES} preparations went stale",
            hint="it is tried again later",
        )

    async def finish(self, change: Change) -> Receipt:
        """Apply and record an open intent; repeating what was done already changes nothing.

        Raises Stale (recorded) when the target moved. Raises DependencyDown when it cannot be
        reached: the intent stays open, the attempt is on record, and calling again goes on.
        """
        try:
            await self._deps.committers[change.kind].apply(change)
            await self._record(change)
        except LeaseLost:
            raise
        except Stale as error:
            await self._close(change, ChangeStatus.STALE, error)
            raise
        except DependencyDown as error:
            async with self._deps.changes.settle(change) as settlement:
                await settlement.record(records.failed(change, self._deps.new_id(), error))
            raise
        except SkillWorkerError as error:
            await self._close(change, ChangeStatus.FAILED, error)
            return records.failed_receipt(change, error)
        return records.receipt_of(change.model_copy(update={"status": ChangeStatus.APPLIED}))

    async def revert(self, change_id: str, reason: str, *, context_key: str) -> Receipt:
        """Bring the target of an applied change back to what it was before.

        Raises NotFound; Refused where it is not applied or a later change stands in the way.
        """
        change = await self._deps.changes.get(change_id)
        if change.status is not ChangeStatus.APPLIED:
            raise Refused(
                f"change {change_id} is {change.status}, only an applied one can be reverted",
                hint="see `skill-worker changes list --status applied`",
            )
        request = RestoreRequest(
            operation=records.inverse(change.operation),
            target_kind=change.kind,
            target_id=change.target_id,
            state=change.before,
            expected_hash=state_hash(change.after),
            reverts=change.id,
            reason=reason,
        )
        return await self.submit(request, records.revert_context(change, context_key))

    async def sweep(self, older_than: float) -> int:
        """Finish intents that a dead run left behind; gives how many were settled."""
        settled = 0
        for change in await self._deps.changes.abandoned(older_than):
            try:
                await self.finish(change)
            except (Stale, LeaseLost):
                log.warning("change.left_behind", change_id=change.id)
            settled += 1
        return settled

    async def _again(self, known: Change, digest: str, context: SubmitContext) -> Receipt:
        """Answer a key that was used before: the same receipt, or the open intent finished."""
        if known.digest != digest:
            raise KeyReused(
                f"the key {known.key!r} belongs to another request",
                hint="submit a different request under a key of its own",
            )
        if known.status is ChangeStatus.APPLYING:
            epoch = context.fence.epoch if context.fence else None
            return await self.finish(known.model_copy(update={"epoch": epoch}))
        return records.receipt_of(known)

    async def _attempt(
        self, request: ChangeRequest, context: SubmitContext, digest: str, attempt: int
    ) -> Receipt:
        """Prepare and, unless the policy stops it, apply. Raises Stale where the target moved."""
        try:
            prepared = await self._prepare(request, context)
        except ArtifactInvalid as error:
            return await self._give_up(request, context, digest, attempt, error)
        except (Refused, InvalidInput, NotFound) as error:
            await self._deps.journal.emit(records.refused_event(request, context, error))
            return _refusal(request, error)
        new_id = self._deps.new_id()
        change = records.new_change(
            request, context, prepared, digest=digest, attempt=attempt, change_id=new_id
        )
        if state_hash(prepared.before) == state_hash(prepared.after):
            return records.known_receipt(change)
        if self._deps.policy(change) is Decision.STOP:
            return records.receipt_of(change)
        intent = change.model_copy(update={"status": ChangeStatus.APPLYING})
        await self._open(intent, prepared)
        return await self.finish(intent)

    async def _prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        if isinstance(request, RestoreRequest):
            return await self._prepare_restore(request, context)
        return await self._deps.committers[request.kind].prepare(request, context)

    async def _prepare_restore(self, request: RestoreRequest, context: SubmitContext) -> Prepared:
        committer = self._deps.committers[request.target_kind]
        before = await committer.current(context.tenant_id, request.target_id)
        if state_hash(before) != request.expected_hash:
            raise Refused(
                f"{request.target_kind} {request.target_id} has changed since",
                hint="revert the later change first (see `skill-worker changes list`)",
            )
        blobs = {}
        if request.state is not None and request.state.files is not None:
            blobs = dict(await self._deps.changes.blobs(list(request.state.files.values())))
        named = request.state or before
        return Prepared(
            kind=request.target_kind,
            target_id=request.target_id,
            target_name=named.name if named else request.target_id,
            operation=request.operation,
            before=before,
            after=request.state,
            base_hash=request.expected_hash,
            blobs=blobs,
            reverts=request.reverts,
        )

    async def _open(self, change: Change, prepared: Prepared) -> None:
        """Write the intent, waiting while another holds the target. Raises Stale, TargetBusy."""
        committer = self._deps.committers[change.kind]
        for _ in range(BUSY_WAITS):
            try:
                await self._deps.changes.open(change, prepared.blobs)
            except TargetBusy:
                await self._deps.sleep(BUSY_PAUSE_SECONDS)
            else:
                return
            now = await committer.current(change.tenant_id, change.target_id)
            if state_hash(now) != change.base_hash:
                raise Stale(f"{change.kind} {change.target_id} moved while this change waited")
        raise TargetBusy(f"{change.kind} {change.target_id} is held by another change")

    async def _give_up(
        self,
        request: ChangeRequest,
        context: SubmitContext,
        digest: str,
        attempt: int,
        error: ArtifactInvalid,
    ) -> Receipt:
        """Put on record a skill that its author never got right."""
        change = records.failed_change(
            request, context, digest=digest, attempt=attempt, change_id=self._deps.new_id()
        )
        if self._deps.policy(change) is Decision.APPLY:
            await self._deps.changes.open(change, {})
            await self._close(change, ChangeStatus.FAILED, error)
        return records.failed_receipt(change, error)

    async def _record(self, change: Change) -> None:
        async with self._deps.changes.settle(change) as settlement:
            await self._deps.committers[change.kind].record(change, settlement)
            await settlement.record(records.applied(change, self._deps.new_id()))
            await settlement.close(change.id, ChangeStatus.APPLIED)
            if change.reverts:
                await settlement.close(change.reverts, ChangeStatus.REVERTED)
            await settlement.emit(records.event("change.applied", change))

    async def _close(self, change: Change, status: ChangeStatus, error: SkillWorkerError) -> None:
        async with self._deps.changes.settle(change) as settlement:
            if status is ChangeStatus.FAILED:
                await settlement.record(records.failed(change, self._deps.new_id(), error))
            await settlement.close(change.id, status, error.message)
            await settlement.emit(records.event(f"change.{_PAST[status]}", change, error.message))


_PAST = {ChangeStatus.FAILED: "failed", ChangeStatus.STALE: "went_stale"}


def _refusal(request: ChangeRequest, error: SkillWorkerError) -> Receipt:
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    kind = request.target_kind if isinstance(request, RestoreRequest) else request.kind
    if isinstance(error, AlreadyExists):
        return records.exists_receipt(kind, request.operation, error)
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=message,
        kind=kind,
        operation=request.operation,
        target_id=request.target_id,
    )
