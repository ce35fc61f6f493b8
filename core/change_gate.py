"""The waist: every change is prepared, judged, applied and recorded here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from core.errors import (
    AlreadyExists,
    ArtifactInvalid,
    DependencyDown,
    InvalidInput,
    KeyReused,
    LeaseLost,
    NotFound,
    PrepareFailed,
    Refused,
    SkillWorkerError,
    Stale,
    TargetBusy,
)
from core.gate import drafts, receipts, records
from core.gate.holding import held, when_free
from core.gate.looking_back import look_back
from core.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Fence,
    Kind,
    Prepared,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    SubmitContext,
)
from core.ports import ChangeLog, Committer, Journal, NewId, Sleep, Targets
from core.review_policy import Decision, Policy, apply_all
from core.snapshots import request_digest, state_hash

log = structlog.get_logger(__name__)

MAX_PREPARES = 5
_DONE_WITH = {ChangeStatus.STALE, ChangeStatus.FAILED}


@dataclass(frozen=True)
class GateDeps:
    """What the gate works with. `targets` is the change log's other face."""

    committers: Mapping[Kind, Committer]
    changes: ChangeLog
    targets: Targets
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
                if known is None or known.status in _DONE_WITH:
                    attempt = known.attempt + 1 if known else 1
                    return await self._attempt(request, context, digest, attempt)
                if known.status is not ChangeStatus.PREPARED:
                    return await self._again(known, digest, context)
                await self._deps.targets.release(known.id)  # the hold of a run that died
            except Stale as stale:
                context = drafts.behind(context, stale)
        raise TargetBusy(
            f"the target kept moving: {MAX_PREPARES} preparations went stale",
            hint="it is tried again later",
        )

    async def resume(self, fence: Fence) -> int:
        """Finish what earlier generations of a candidate left open; see `core.ports.Gate`."""
        open_intents = await self._deps.targets.unfinished(fence.candidate_id)
        for change in open_intents:
            await self._settled(change.model_copy(update={"epoch": fence.epoch}))
        return len(open_intents)

    async def sweep(self, older_than: float) -> int:
        """Finish intents that dead runs left behind; gives how many were settled."""
        settled = 0
        for change in await self._deps.targets.abandoned(older_than):
            try:
                adopted = await self._deps.targets.adopt(change)
                if adopted is not None:
                    settled += await self._settled(adopted)
            except SkillWorkerError as error:  # one that cannot be finished keeps no other
                log.warning("change.left_behind", change_id=change.id, error=error.message)
        return settled

    async def revert(self, change_id: str, reason: str) -> Receipt:
        """Bring the target of an applied change back to what it was before.

        Cut off and called again, it goes on. Raises NotFound; Refused where it is not applied.
        """
        change = await self._deps.changes.get(change_id)
        if change.status is not ChangeStatus.APPLIED:
            raise Refused(
                f"change {change_id} is {change.status}, only an applied one can be reverted",
                hint="see `skill-worker changes list --status applied`",
            )
        return await self.submit(drafts.revert_of(change, reason), drafts.revert_context(change))

    async def _settled(self, change: Change) -> bool:
        try:
            await self._finish(change)
        except Stale:
            return False
        return True

    async def _again(self, known: Change, digest: str, context: SubmitContext) -> Receipt:
        """Answer a key that was used before: the same receipt, or the open intent finished."""
        if known.digest != digest:
            raise KeyReused(
                f"the key {known.key!r} belongs to another request",
                hint="submit a different request under a key of its own",
            )
        if known.status is ChangeStatus.APPLYING:
            epoch = context.fence.epoch if context.fence else None
            return await self._finish(known.model_copy(update={"epoch": epoch}))
        return receipts.receipt_of(known)

    async def _attempt(
        self, request: ChangeRequest, context: SubmitContext, digest: str, attempt: int
    ) -> Receipt:
        """Hold, prepare and, unless the policy stops it, apply. Raises Stale."""
        draft = drafts.draft(
            request, context, digest=digest, attempt=attempt, change_id=self._deps.new_id()
        )
        if self._deps.policy(draft) is Decision.STOP:
            return await self._prepared(draft, request, context)
        async with held(draft, self._deps.targets, self._deps.sleep):
            return await self._prepared(draft, request, context)

    async def _prepared(
        self, draft: Change, request: ChangeRequest, context: SubmitContext
    ) -> Receipt:
        try:
            prepared = await self._prepare(request, context)
        except PrepareFailed as error:
            return await self._put_on_record(draft, error)
        except ArtifactInvalid as error:
            return await self._give_up(draft, error)
        except (Refused, InvalidInput, NotFound) as error:
            await self._deps.journal.emit(records.refused_event(request, context, error))
            return _refusal(request, error)
        return await self._go_on(drafts.filled(draft, prepared), prepared)

    async def _go_on(self, change: Change, prepared: Prepared) -> Receipt:
        """Apply what was prepared, unless it changes nothing or the policy stops it."""
        if state_hash(change.before) == state_hash(change.after):
            return receipts.known_receipt(change)
        if self._deps.policy(change) is Decision.STOP:
            return receipts.receipt_of(change)
        intent = change.model_copy(update={"status": ChangeStatus.APPLYING})
        waited = await when_free(
            lambda: self._deps.changes.open(intent, prepared.blobs), self._deps.sleep
        )
        if waited and await self._has_moved(intent):
            moved = Stale(f"{change.kind} {change.target_id!r} moved while this change waited")
            await self._close(intent, ChangeStatus.STALE, moved, tried=False)
            raise moved
        return await self._finish(intent)

    async def _prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        if not isinstance(request, RestoreRequest):
            return await self._deps.committers[request.kind].prepare(request, context)
        committer = self._deps.committers[request.target_kind]
        before = await committer.current(context.tenant_id, request.target_id)
        if state_hash(before) != request.expected_hash:
            raise Refused(
                f"{request.target_kind} {request.target_id} has changed since",
                hint="revert the later change first (see `skill-worker changes list`)",
            )
        files = (request.state.files if request.state else None) or {}
        blobs = await self._deps.changes.blobs(list(files.values())) if files else {}
        prepared = drafts.restored(request, before, blobs)
        warnings = await committer.vet(prepared, context)
        return prepared.model_copy(update={"warnings": tuple(warnings)})

    async def _finish(self, change: Change) -> Receipt:
        """Apply and record an open intent; repeating what was done already changes nothing.

        Raises LeaseLost where another has taken it over; a write of ours that the store let
        through all the same is on record then. Raises Stale (recorded) when the target moved, and
        DependencyDown when it cannot be reached: the intent stays open, the attempt is on record,
        and calling again goes on.
        """
        try:
            return await self._carried_out(change)
        except LeaseLost:
            deps = self._deps
            await look_back(change, deps.committers[change.kind], deps.targets, deps.journal)
            raise

    async def _carried_out(self, change: Change) -> Receipt:
        try:
            await self._deps.committers[change.kind].apply(change)
            await self._record(change)
        except LeaseLost:
            raise
        except Stale as error:
            # Only a skill has effects outside, which may have begun before it was seen to move.
            await self._close(change, ChangeStatus.STALE, error, tried=change.kind is Kind.SKILL)
            raise
        except DependencyDown as error:
            async with self._deps.changes.settle(change) as settlement:
                await settlement.record_knowledge_history(
                    records.failed(change, self._deps.new_id(), error)
                )
            raise
        except SkillWorkerError as error:
            await self._close(change, ChangeStatus.FAILED, error, tried=True)
            return receipts.failed_receipt(change, error)
        return receipts.receipt_of(change.model_copy(update={"status": ChangeStatus.APPLIED}))

    async def _has_moved(self, change: Change) -> bool:
        now = await self._deps.committers[change.kind].current(change.tenant_id, change.target_id)
        return state_hash(now) != change.base_hash

    async def _give_up(self, draft: Change, error: ArtifactInvalid) -> Receipt:
        """Put on record a skill that its author never got right."""
        before = None
        if draft.target_id:
            committer = self._deps.committers[draft.kind]
            before = await committer.current(draft.tenant_id, draft.target_id)
        return await self._failed(drafts.without_content(draft, before), {}, error)

    async def _put_on_record(self, draft: Change, error: PrepareFailed) -> Receipt:
        """Put on record content that could not be made ready; what may pass is raised again."""
        assert isinstance(error.prepared, Prepared)
        change = drafts.filled(draft, error.prepared)
        receipt = await self._failed(change, error.prepared.blobs, error.cause)
        if error.cause.retryable:
            raise error.cause
        return receipt

    async def _failed(
        self, draft: Change, blobs: Mapping[str, bytes], error: SkillWorkerError
    ) -> Receipt:
        change = draft.model_copy(update={"status": ChangeStatus.FAILED, "error": error.message})
        if self._deps.policy(change) is not Decision.STOP:
            history = records.failed(change, self._deps.new_id(), error)
            event = records.event("change.failed", change, error.message)
            await self._deps.changes.fail(change, blobs, history, event)
        return receipts.failed_receipt(change, error)

    async def _record(self, change: Change) -> None:
        async with self._deps.changes.settle(change) as settlement:
            await self._deps.committers[change.kind].record(change, settlement)
            await settlement.record_knowledge_history(records.applied(change, self._deps.new_id()))
            await settlement.close(change.id, ChangeStatus.APPLIED)
            if change.reverts:
                await settlement.close(change.reverts, ChangeStatus.REVERTED)
            await settlement.emit(records.event("change.applied", change))

    async def _close(
        self, change: Change, status: ChangeStatus, error: SkillWorkerError, *, tried: bool
    ) -> None:
        """End an intent that was not applied, with a history row where it was tried."""
        async with self._deps.changes.settle(change) as settlement:
            if tried:
                await settlement.record_knowledge_history(
                    records.failed(change, self._deps.new_id(), error)
                )
            await settlement.close(change.id, status, error.message)
            await settlement.emit(records.event(f"change.{_PAST[status]}", change, error.message))


_PAST = {ChangeStatus.FAILED: "failed", ChangeStatus.STALE: "went_stale"}


def _refusal(request: ChangeRequest, error: SkillWorkerError) -> Receipt:
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    kind = drafts.kind_of(request)
    if isinstance(error, AlreadyExists):
        return receipts.exists_receipt(kind, request.operation, error)
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=message,
        kind=kind,
        operation=request.operation,
        target_id=request.target_id,
    )
