"""Retract what a piece of feedback taught, through the gate, or report what depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.changes.gate.change_gate import ChangeGate
from core.changes.retraction.replay import Standing, followed, undone, without
from core.changes.steps import read_steps, to_snapshot
from core.changes.three_way_merge import State
from core.domain.errors import Decided, InvalidInput, NotFound, Stale
from core.domain.hashing import state_hash, text_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeStatus,
    DuplicateWaiter,
    Feedback,
    Kind,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    SkillFile,
    Snapshot,
    SubmitContext,
)
from core.domain.models.base import Model, Text
from core.domain.ports import ChangeLog, DuplicateWaiters, Steps


class Standpoint(Model):
    """A later change that depends on what is to be retracted.

    Without a change id: the target was changed outside the worker.
    """

    change_id: str | None
    feedback_id: str | None
    kind: Kind
    target_id: str
    target_name: str
    why: Text


class Effect(Model):
    """The effect on one target. `said_too` are other pieces of feedback that say the same.

    `change_id` is a held change that stays held on their behalf.
    """

    kind: Kind
    target_id: str
    target_name: str
    operation: Operation | None
    said_too: tuple[str, ...] = ()
    receipt: Receipt | None = None
    change_id: str | None = None


class Retraction(Model):
    """The result of a retraction. If anything is `in_the_way`, nothing was done.

    `unsaid` are the items taught by others that this feedback no longer counts as repeating.
    """

    feedback_id: str
    effects: tuple[Effect, ...] = ()
    rejected: tuple[str, ...] = ()
    unsaid: tuple[DuplicateWaiter, ...] = ()
    in_the_way: tuple[Standpoint, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether nothing was in the way and nothing was refused."""
        refused = {ReceiptStatus.REFUSED, ReceiptStatus.FAILED}
        found = {effect.receipt.status for effect in self.effects if effect.receipt}
        return not self.in_the_way and not found & refused


_PAST_US = Message("retract.past_us")


@dataclass(frozen=True, kw_only=True)
class Retractor:
    """Retract feedback; with a dry-run gate, only show the effects."""

    gate: ChangeGate
    changes: ChangeLog
    steps: Steps
    duplicate_waiters: DuplicateWaiters

    async def retract(self, feedback: Feedback, *, by: str) -> Retraction:
        """Bring every target to the state it would have without this feedback.

        What was learnt later stays. Safe to call again after an interruption. Raises InvalidInput
        while the feedback is in progress, NotFound if it has changed nothing.
        """
        if not feedback.status.is_end:
            raise InvalidInput(
                Message("retract.not_ended", id=feedback.id, status=feedback.status),
                hint=Message("retract.end_first"),
            )
        made = await self.steps.of_feedback(feedback.id)
        unsaid = await self.duplicate_waiters.of_feedback(feedback.id)
        if not made and not unsaid:
            raise NotFound(Message("retract.changed_nothing", id=feedback.id))
        plans = [await self._plan(feedback.id, *target) for target in _targets(made)]
        in_the_way = tuple(plan for plan in plans if isinstance(plan, Standpoint))
        if in_the_way:
            return Retraction(feedback_id=feedback.id, in_the_way=in_the_way)
        waiting = [change for change in made if change.status is not ChangeStatus.APPLIED]
        shared = [effect for change in waiting if (effect := await self._shared(change))]
        still_held = {effect.change_id for effect in shared}
        alone = [change for change in waiting if change.id not in still_held]
        # Rejected first: a decision made meanwhile raises Stale before anything is undone.
        for change in alone:
            await self._reject(change, by)
        effects = [await self._do(plan, feedback) for plan in plans if isinstance(plan, _Plan)]
        if not self.gate.is_dry_run:
            await self.duplicate_waiters.forget(feedback.id)
        return Retraction(
            feedback_id=feedback.id,
            effects=(*effects, *shared),
            rejected=tuple(change.id for change in alone),
            unsaid=tuple(unsaid),
        )

    async def _plan(
        self, feedback_id: str, kind: Kind, tenant_id: str, target_id: str
    ) -> _Plan | Standpoint:
        """Compute the state of a target without the feedback, or what prevents it."""
        chain = await self.steps.chain(kind, tenant_id, target_id)
        said_too = await self._said_too(feedback_id, chain)
        its = [
            change.id
            for change in chain
            if change.feedback_id == feedback_id
            and change.status is ChangeStatus.APPLIED
            and change.id not in said_too
            and not change.retracts
            and change.reverts is None
        ]
        gone = undone(chain) | {*its}
        now = await self.gate.current(kind, tenant_id, target_id)
        steps = await read_steps(chain, self.changes)
        if kind is Kind.AGENT_SKILLS:
            steps = followed(steps, now)
        found = without(kind, steps, lambda c: c.id in gone)
        if kind is Kind.AGENT_SKILLS and isinstance(found, State):
            found = await self._that_exist(found, now, tenant_id)
        last = chain[-1]
        if isinstance(found, Standing):
            return _standpoint(last, found.change, found.why)
        known = now if kind is Kind.AGENT_SKILLS else last.after
        wanted, folder = to_snapshot(found) if found else (None, None)
        plan = _Plan(last, known, wanted, folder, tuple(its), tuple(said_too.values()))
        if plan.changes_anything and state_hash(now) != state_hash(known):
            return _standpoint(last, None, _PAST_US)
        return plan

    async def _that_exist(self, wanted: State, now: Snapshot | None, tenant_id: str) -> State:
        """Return a list without what would come back to it but has been deleted since."""
        listed = set(now.content.splitlines()) if now else set()
        names = [
            name
            for name in wanted.text.splitlines()
            if name in listed or await self.gate.current(Kind.SKILL, tenant_id, name) is not None
        ]
        return replace(wanted, text="\n".join(names))

    async def _said_too(self, feedback_id: str, chain: Sequence[Change]) -> Mapping[str, str]:
        """Return which of this feedback's changes another piece repeated, and which piece.

        Without the first the other would have taught it, so the change stays.
        """
        last = chain[-1]
        duplicate_waiters = await self.duplicate_waiters.at(
            last.kind, last.tenant_id, last.target_id
        )
        return {
            change.id: waiter.feedback_id
            for change in chain
            for waiter in duplicate_waiters
            if change.feedback_id == feedback_id != waiter.feedback_id
            and (waiter.change_id == change.id or waiter.hash == state_hash(change.after))
        }

    async def _shared(self, change: Change) -> Effect | None:
        """Return the effect of a held change that other feedback also waits for: it stays held."""
        said_too = await self._said_too(change.feedback_id or "", [change])
        if not said_too:
            return None
        return Effect(
            kind=change.kind,
            target_id=change.target_id,
            target_name=change.target_name,
            operation=None,
            said_too=tuple(said_too.values()),
            change_id=change.id,
        )

    async def _do(self, plan: _Plan, feedback: Feedback) -> Effect:
        last, wanted = plan.last, plan.wanted
        effect = Effect(
            kind=last.kind,
            target_id=last.target_id,
            target_name=last.target_name,
            operation=None,
            said_too=tuple(dict.fromkeys(plan.said_too)),
        )
        if not plan.changes_anything:
            await self._note(plan.its)
            return effect
        operation = _operation(plan.known, wanted)
        request = RestoreRequest(
            operation=operation,
            target_kind=last.kind,
            target_id=last.target_id,
            state=wanted,
            folder=plan.folder,
            expected_hash=state_hash(plan.known),
            retracts=plan.its,
            reason=Message("retract.reason", id=feedback.id),
        )
        receipt = await self.gate.submit(request, _context(plan, feedback))
        return effect.model_copy(update={"operation": operation, "receipt": receipt})

    async def _note(self, change_ids: Sequence[str]) -> None:
        """Record as undone changes that left nothing to undo."""
        if not self.gate.is_dry_run:
            await self.steps.take_back(change_ids)

    async def _reject(self, change: Change, by: str) -> None:
        try:
            await self.gate.decisions.reject(
                change.id,
                by=by,
                reason=Message("review.feedback_retracted"),
            )
        except Decided:
            raise Stale(
                Message("retract.decided_meanwhile", id=change.id),
                hint=Message("retract.again"),
            ) from None


@dataclass(frozen=True)
class _Plan:
    """The wanted state of a target, and the known state it is reached from."""

    last: Change
    known: Snapshot | None
    wanted: Snapshot | None
    folder: Mapping[str, SkillFile] | None
    its: tuple[str, ...]
    said_too: tuple[str, ...]

    @property
    def changes_anything(self) -> bool:
        """Whether there is anything to undo."""
        return state_hash(self.known) != state_hash(self.wanted)


def _targets(made: Sequence[Change]) -> list[tuple[Kind, str, str]]:
    """Return the changed targets, newest first; skill lists before skills, which alter them."""
    found = dict.fromkeys(
        (change.kind, change.tenant_id, change.target_id)
        for change in reversed(made)
        if change.status is ChangeStatus.APPLIED
    )
    return sorted(found, key=lambda target: target[0] is not Kind.AGENT_SKILLS)


def _standpoint(last: Change, standing: Change | None, why: str) -> Standpoint:
    return Standpoint(
        change_id=standing.id if standing else None,
        feedback_id=standing.feedback_id if standing else None,
        kind=last.kind,
        target_id=last.target_id,
        target_name=last.target_name,
        why=why,
    )


def _operation(now: Snapshot | None, wanted: Snapshot | None) -> Operation:
    if wanted is None:
        return Operation.DELETE
    return Operation.CREATE if now is None else Operation.UPDATE


def _context(plan: _Plan, feedback: Feedback) -> SubmitContext:
    """Return the context of the agent whose change is undone, with one key per effect."""
    last = plan.last
    way = text_hash(f"{last.id} {state_hash(plan.known)} {state_hash(plan.wanted)}")
    return SubmitContext(
        key=f"retract:{feedback.id}:{last.kind}:{last.target_id}:{way}",
        tenant_id=last.tenant_id,
        agent_id=last.agent_id,
        feedback_id=feedback.id,
        feedback_content=feedback.content,
        origin=Origin.PERSON,
    )
