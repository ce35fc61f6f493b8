"""The single write path: every change is prepared, judged, applied and recorded here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog
from pydantic import JsonValue

from core.changes.cases.judging import Tried
from core.changes.cases.proposed import refuse_unfit
from core.changes.gate import drafts, receipts, records, sets
from core.changes.gate.decisions import Decisions
from core.changes.gate.deps import GateDeps
from core.changes.gate.drafts import locked, prepare, when_free
from core.changes.gate.records import finish, look_outside
from core.changes.gate.screening import codes_of, masked_request, screened
from core.changes.policy.review_policy import asked_change
from core.changes.said_order.settle import GONE, settle
from core.domain.errors import (
    AlreadyExists,
    ArtifactInvalid,
    InvalidInput,
    KeyReused,
    NotFound,
    PrepareFailed,
    Refused,
    SkillWorkerError,
    Stale,
    TargetBusy,
)
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Fence,
    Kind,
    LaterWord,
    MemoryRequest,
    Operation,
    Origin,
    Prepared,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.feedback import is_reserved, refuse_reserved

log = structlog.get_logger(__name__)
MAX_PREPARES = 5
_DONE_WITH = {ChangeStatus.STALE, ChangeStatus.FAILED}
_OVER = {ChangeStatus.REJECTED, ChangeStatus.REVERTED, ChangeStatus.FAILED}


def refuse_outsiders(request: ChangeRequest, context: SubmitContext) -> None:
    """Raise InvalidInput for whoever asks for a change under the worker's own id.

    The worker itself proposes new lessons, and what a person has approved a person may take back or
    bring back: nothing else, whichever way it came in.
    """
    if not is_reserved(context.agent_id):
        return
    is_new = isinstance(request, MemoryRequest) and request.operation is Operation.CREATE
    if context.origin is Origin.WORKER and is_new and not request.is_import:
        return
    if context.origin is Origin.PERSON and isinstance(request, RestoreRequest):
        return
    refuse_reserved(context.agent_id)


class ChangeGate:
    """prepare → policy → apply → record, for the agent, the command line and the console."""

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps
        self.decisions = Decisions(deps)
        self.is_dry_run = deps.dry_run

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        refuse_outsiders(request, context)
        request = await masked_request(request, self._deps.screen)
        digest = await drafts.digest(request)
        for tried in range(MAX_PREPARES):
            known = None
            # The first start of a candidate has used no key; if it has, that is Stale.
            if tried or context.fence is None or context.fence.epoch > 1:
                known = await self._deps.changes.find(context.key)
            try:
                if known is None or _may_retry(known):
                    attempt = known.attempt + 1 if known else 1
                    return await self._attempt(request, context, digest, attempt)
                if known.status is not ChangeStatus.PREPARED:
                    return await self._repeated(known, digest, context)
                await self._deps.target_locks.release(known.id)  # the lock of a run that died
            except Stale as stale:
                context = drafts.behind(context, stale)
        raise TargetBusy(
            Message("change.kept_moving", n=MAX_PREPARES),
            hint=Message("change.tried_later"),
        )

    def denies(self, context: SubmitContext, kind: Kind, operation: Operation) -> str | None:
        """Return why the policy refuses all changes of a kind and operation, None if it may not."""
        return self._deps.denies(asked_change(context, kind, operation), is_draft=True)

    async def submit_all(
        self, asked: Sequence[tuple[ChangeRequest, SubmitContext]]
    ) -> Sequence[Receipt | SkillWorkerError]:
        return await sets.submit_all(asked, self.submit, self._deps)

    async def masked(self, request: ChangeRequest) -> ChangeRequest:
        return await masked_request(request, self._deps.screen)

    async def resume(self, fence: Fence) -> int:
        open_intents = await self._deps.target_locks.unfinished(fence.candidate_id)
        for change in open_intents:
            await self._finished(change.model_copy(update={"epoch": fence.epoch}))
        return len(open_intents)

    async def sweep(self, older_than: float) -> int:
        """Finish intents abandoned by dead runs; return how many."""
        finished = 0
        for change in await self._deps.target_locks.abandoned(older_than):
            try:
                adopted = await self._deps.target_locks.adopt(change)
                if adopted is not None:
                    finished += await self._finished(adopted)
            except SkillWorkerError as error:  # one failure must not block the rest
                log.warning("change.left_behind", change_id=change.id, error=error.message)
        return finished

    async def revert(self, change_id: str, reason: str) -> Receipt:
        """Restore the target of an applied change to its state before it.

        Safe to call again after an interruption. Raises NotFound; Refused if it is not applied.
        """
        change = await self._deps.changes.get(change_id)
        if change.status is not ChangeStatus.APPLIED:
            raise Refused(
                Message("revert.not_applied", id=change_id, status=change.status),
                hint=Message("revert.see_applied"),
            )
        return await self.submit(drafts.revert_of(change, reason), drafts.revert_context(change))

    async def current(self, kind: Kind, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the current state of a target in its store."""
        return await self._deps.committers[kind].current(tenant_id, target_id)

    async def _finished(self, change: Change) -> bool:
        try:
            await finish(change, self._deps)
        except Stale:
            return False
        return True

    async def _repeated(self, known: Change, digest: str, context: SubmitContext) -> Receipt:
        """Answer a key that was used before: finish its open intent, or return the same receipt."""
        if known.digest != digest:
            raise KeyReused(
                Message("gate.key_reused", key=known.key),
                hint=Message("gate.key_of_its_own"),
            )
        if known.status is ChangeStatus.APPLYING:
            epoch = context.fence.epoch if context.fence else None
            return await finish(known.model_copy(update={"epoch": epoch}), self._deps)
        return receipts.receipt_of(known)

    async def _attempt(
        self, request: ChangeRequest, context: SubmitContext, digest: str, attempt: int
    ) -> Receipt:
        """Lock the target, prepare and, unless the policy holds it, apply. Raises Stale."""
        draft = drafts.draft(
            request, context, digest=digest, attempt=attempt, change_id=self._deps.new_id()
        )
        if why := self._deps.denies(draft, is_draft=True):
            return await self._denied(draft, _of_policy(draft, why))
        if self._deps.dry_run:
            return await self._prepared(draft, request, context)
        async with locked(draft, self._deps.target_locks, self._deps.sleep):
            await look_outside(draft, self._deps)
            return await self._prepared(draft, request, context)

    async def _prepared(
        self, draft: Change, request: ChangeRequest, context: SubmitContext
    ) -> Receipt:
        try:
            refuse_unfit(request)
            prepared = await prepare(request, context, self._deps)
        except PrepareFailed as error:
            return await self._put_on_record(draft, error)
        except ArtifactInvalid as error:
            return await self._give_up(draft, error)
        except (Refused, InvalidInput, NotFound) as error:
            await self._deps.journal.emit(records.refused_event(request, context, error))
            return _refusal(request, error)
        return await self._go_on(drafts.filled(draft, prepared), prepared, context)

    async def _go_on(self, change: Change, prepared: Prepared, context: SubmitContext) -> Receipt:
        """Apply what was prepared, unless it changes nothing or the policy holds it."""
        if state_hash(change.before) == state_hash(change.after) and not _pins(change):
            if not self._deps.dry_run:
                await self._note_repeated(change)
            return receipts.known_receipt(await self._said(change))
        blobs = prepared.blobs
        if words := await drafts.later_words(change, self._deps):
            placed = await settle(change, blobs, words, self._deps.steps, self._deps.changes)
            if placed.is_whole and placed.overtaken_by is not None:
                return await self._overtaken(change, placed.overtaken_by)
            change, blobs = placed.change, placed.blobs
        change = await screened(change, blobs, self._deps.screen, self._deps.changes)
        tried = await self._tried(change, blobs, context)
        if isinstance(tried, Receipt):
            return tried
        judged = await self._judged(tried.change, tried.reasons)
        if isinstance(judged, Receipt):
            return judged
        change = await self._said(judged)
        if self._deps.dry_run:
            self._deps.would_write(change)
            return receipts.receipt_of(change)
        if change.held:
            return await self._hold(change, blobs)
        intent = change.model_copy(update={"status": ChangeStatus.APPLYING})
        waited = await when_free(lambda: self._deps.changes.open(intent, blobs), self._deps.sleep)
        # The change it waited for may have moved the target since this one was prepared. A skill
        # that somebody else has made just so would pass for the own one, half finished before.
        is_in_doubt = waited or (intent.kind is Kind.SKILL and intent.before is None)
        return await finish(intent, self._deps, is_in_doubt=is_in_doubt)

    async def _said(self, change: Change) -> Change:
        """Return a change with its time: what a person does is said when it is done."""
        if change.said_at is not None or change.origin is not Origin.PERSON:
            return change
        now = await self._deps.reviews.now()
        return change.model_copy(update={"said_at": now, "heard_at": now})

    async def _tried(
        self, change: Change, blobs: Mapping[str, bytes], context: SubmitContext
    ) -> Tried | Receipt:
        """Return a change with its cases, or the receipt that names those that it would break.

        A run can mend it; what it insists on, and what a person asks for, waits with them beside.
        """
        if self._deps.cases is None:
            return Tried(change)
        tried = await self._deps.cases.judge(change, blobs)
        if not tried.broken:
            return tried
        is_told = context.told is None or context.told.issuperset(tried.tokens)
        await self._deps.journal.emit(records.cases_broken(tried, is_told=is_told))
        return tried if is_told else receipts.broken_receipt(tried)

    async def _judged(self, change: Change, broken: Sequence[str]) -> Change | Receipt:
        """Return the change with why it is held, or the receipt of one that is denied.

        The policy judges first; hooks are asked about what would be applied.
        """
        if why := self._deps.denies(change, is_draft=False):
            return await self._denied(change, _of_policy(change, why))
        change = change.model_copy(update={"held": drafts.held_because(change, self._deps, broken)})
        if change.held or self._deps.dry_run or self._deps.before_applied is None:
            return change
        answer = await self._deps.before_applied(change)
        if answer.denied:
            return await self._denied(change, answer.denied)
        return drafts.judged(change, answer)

    async def _denied(self, change: Change, message: str) -> Receipt:
        """Refuse what the policy or a hook does not let through; nothing of it is stored."""
        receipt = receipts.denied_receipt(change, message)
        if not self._deps.dry_run:
            # The name of a memory is its text, which is not to be kept.
            nameless = change.model_copy(update={"target_name": ""})
            told = records.event("change.refused", nameless, receipt.message)
            await self._deps.journal.emit(told)
        return receipt

    async def _note_repeated(self, change: Change) -> None:
        """Note that a piece repeats what is known: what was said before it changes that no more."""
        if change.feedback_id is None:
            return
        units = drafts.repeated(change)
        if units is None or units:
            await self._deps.duplicate_waiters.note(change, units)

    async def _overtaken(self, change: Change, word: LaterWord) -> Receipt:
        """Record that all of a change was overtaken by what was said later."""
        if not self._deps.dry_run:
            event = records.event(
                "change.overtaken", change, by=word.feedback_id, by_change=word.change_id
            )
            await self._deps.journal.emit(event)
            if change.feedback_id is not None and change.is_deletion:
                await self._deps.duplicate_waiters.note(change, [GONE])
        return receipts.overtaken_receipt(change, word)

    async def _hold(self, change: Change, blobs: Mapping[str, bytes]) -> Receipt:
        """Store a held change, with everything needed to apply it.

        If an identical change is held already, join that one instead.
        """
        if change.feedback_id is not None and not change.undoes:
            same = await self._deps.duplicate_waiters.join(change, drafts.repeated(change))
            if same is not None:
                return receipts.joined_receipt(same)
        waiting = change.model_copy(update={"status": ChangeStatus.HELD})
        told: dict[str, JsonValue] = {"because": [*waiting.held], **codes_of(waiting.findings)}
        event = records.event("change.held", waiting, None, **told)
        await self._deps.changes.store(waiting, blobs, event)
        return receipts.receipt_of(waiting)

    async def _give_up(self, draft: Change, error: ArtifactInvalid) -> Receipt:
        """Record the failure of a skill whose author never wrote a valid one."""
        before = None
        if draft.target_id:
            committer = self._deps.committers[draft.kind]
            before = await committer.current(draft.tenant_id, draft.target_id)
        return await self._failed(drafts.without_content(draft, before), {}, error)

    async def _put_on_record(self, draft: Change, error: PrepareFailed) -> Receipt:
        """Record content whose preparation failed; a transient cause is raised again."""
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
        if not self._deps.dry_run:
            history = records.failed(change, self._deps.new_id(), error)
            event = records.event("change.failed", change, error.message)
            await self._deps.changes.store(change, blobs, event, history)
        return receipts.failed_receipt(change, error)


def _pins(change: Change) -> bool:
    """Whether a change puts on record where a skill is from, though it may have all of it."""
    asked = change.request
    if not isinstance(asked, SkillRequest) or asked.operation is not Operation.UPDATE:
        return False
    return asked.published is not None


def _may_retry(known: Change) -> bool:
    """Whether a used key may start another attempt.

    A run gets the receipt of a person's decision; a person may request a revert again.
    """
    if known.undoes and known.status in _OVER:
        return True
    return known.status in _DONE_WITH and not known.held


def _of_policy(change: Change, why: str) -> str:
    return Message("policy.denied", kind=change.kind, operation=change.operation, why=why)


def _refusal(request: ChangeRequest, error: SkillWorkerError) -> Receipt:
    message = error.sentences
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
