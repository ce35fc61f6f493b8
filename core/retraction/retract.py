"""Takes back what a piece of feedback taught, through the gate, or says what is in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import Decided, InvalidInput, NotFound, Stale
from core.gate.decisions import Decisions
from core.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
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
from core.models.base import Model
from core.ports import ChangeLog, Gate, Steps
from core.rebasing.states import State
from core.retraction.replay import Standing, without
from core.retraction.steps import read_steps, undone
from core.skill_bundle import file_refs
from core.snapshots import state_hash, text_hash


class Standpoint(Model):
    """A later change that cannot be kept without what is to be taken back."""

    change_id: str
    feedback_id: str | None
    kind: Kind
    target_id: str
    target_name: str
    why: str


class Effect(Model):
    """What is done to one target. `said_too` are pieces of feedback that say the same."""

    kind: Kind
    target_id: str
    target_name: str
    operation: Operation | None
    said_too: tuple[str, ...] = ()
    receipt: Receipt | None = None


class Retraction(Model):
    """What retracting came to. Where something stands in the way, nothing was done."""

    feedback_id: str
    effects: tuple[Effect, ...] = ()
    rejected: tuple[str, ...] = ()
    in_the_way: tuple[Standpoint, ...] = ()

    @property
    def is_done(self) -> bool:
        """True where nothing stood in the way and nothing was refused."""
        refused = {ReceiptStatus.REFUSED, ReceiptStatus.FAILED}
        found = {effect.receipt.status for effect in self.effects if effect.receipt}
        return not self.in_the_way and not found & refused


@dataclass(frozen=True, kw_only=True)
class Retractor:
    """In a dry run the gate stops at what would be done."""

    gate: Gate
    decisions: Decisions
    changes: ChangeLog
    steps: Steps
    dry_run: bool = False

    async def retract(self, feedback: Feedback, *, by: str) -> Retraction:
        """Bring every target to where it would be without this feedback.

        What was learnt later stays. Cut off and called again, it goes on. Raises InvalidInput
        while the feedback is worked on, NotFound where it has taught nothing.
        """
        if not feedback.status.is_end:
            raise InvalidInput(
                f"feedback {feedback.id} is {feedback.status}: it may teach something yet",
                hint="cancel it first with `skill-worker feedback cancel`, or wait for its end",
            )
        made = await self.steps.of_feedback(feedback.id)
        if not made and not await self._unsaid(feedback.id):
            raise NotFound(f"feedback {feedback.id} has changed nothing")
        waiting = [change for change in made if change.status is not ChangeStatus.APPLIED]
        targets = dict.fromkeys(
            (change.kind, change.tenant_id, change.target_id)
            for change in reversed(made)
            if change.status is ChangeStatus.APPLIED
        )
        plans = [await self._plan(feedback.id, *target) for target in targets]
        in_the_way = tuple(plan for plan in plans if isinstance(plan, Standpoint))
        if in_the_way:
            return Retraction(feedback_id=feedback.id, in_the_way=in_the_way)
        for change in waiting:
            await self._reject(change, by)
        effects = [await self._do(plan, feedback) for plan in plans if isinstance(plan, _Plan)]
        await self._unsaid(feedback.id)
        rejected = [change.id for change in waiting]
        return Retraction(feedback_id=feedback.id, effects=tuple(effects), rejected=tuple(rejected))

    async def _plan(
        self, feedback_id: str, kind: Kind, tenant_id: str, target_id: str
    ) -> _Plan | Standpoint:
        """Work out where a target would be."""
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
        found = without(kind, await read_steps(chain, self.changes), lambda c: c.id in gone)
        last = chain[-1]
        if isinstance(found, Standing):
            change = found.change
            return Standpoint(
                change_id=change.id,
                feedback_id=change.feedback_id,
                kind=kind,
                target_id=target_id,
                target_name=last.target_name,
                why=found.why,
            )
        return _Plan(last, found, tuple(its), tuple(dict.fromkeys(said_too.values())))

    async def _said_too(self, feedback_id: str, chain: Sequence[Change]) -> Mapping[str, str]:
        """Give which of this feedback's changes another piece has said again, and which piece.

        Had the first not been there, the other would have taught it.
        """
        last = chain[-1]
        echoes = await self.steps.echoes(last.kind, last.tenant_id, last.target_id)
        return {
            change.id: echo.feedback_id
            for change in chain
            for echo in echoes
            if change.feedback_id == feedback_id != echo.feedback_id
            and echo.hash == state_hash(change.after)
        }

    async def _do(self, plan: _Plan, feedback: Feedback) -> Effect:
        last = plan.last
        wanted, folder = _snapshot(plan.wanted)
        effect = Effect(
            kind=last.kind,
            target_id=last.target_id,
            target_name=last.target_name,
            operation=None,
            said_too=plan.said_too,
        )
        if state_hash(wanted) == state_hash(last.after):
            await self._note(plan.its)
            return effect
        operation = _operation(last.after, wanted)
        request = RestoreRequest(
            operation=operation,
            target_kind=last.kind,
            target_id=last.target_id,
            state=wanted,
            folder=folder,
            expected_hash=state_hash(last.after),
            retracts=plan.its,
            reason=f"retracts feedback {feedback.id}",
        )
        receipt = await self.gate.submit(request, _context(last, feedback, wanted))
        return effect.model_copy(update={"operation": operation, "receipt": receipt})

    async def _note(self, change_ids: Sequence[str]) -> None:
        """Remember that changes are taken back of which nothing was left."""
        if not self.dry_run:
            await self.steps.take_back(change_ids)

    async def _unsaid(self, feedback_id: str) -> bool:
        """Forget that the feedback said again what was known; False where it did not."""
        return not self.dry_run and await self.steps.forget_echoes(feedback_id) > 0

    async def _reject(self, change: Change, by: str) -> None:
        try:
            await self.decisions.reject(change.id, by=by, reason="its feedback was retracted")
        except Decided:
            raise Stale(
                f"change {change.id} of this feedback was decided at the same time",
                hint="retract the feedback again",
            ) from None


@dataclass(frozen=True)
class _Plan:
    """The newest change of a target, and where the target would be without the feedback."""

    last: Change
    wanted: State | None
    its: tuple[str, ...]
    said_too: tuple[str, ...]


def _snapshot(
    state: State | None,
) -> tuple[Snapshot | None, Mapping[str, SkillFile] | None]:
    """Give a state as it is restored, and the whole folder of a skill."""
    if state is None:
        return None, None
    if state.files is None:
        return Snapshot(content=state.text, name=state.name), None
    document = SkillFile(data=state.text.encode(), executable=state.runs)
    folder = {**state.files, SKILL_MD: document}
    refs = file_refs(Bundle(name=state.name, files=folder))
    return Snapshot(content=state.text, name=state.name, files=refs), folder


def _operation(now: Snapshot | None, wanted: Snapshot | None) -> Operation:
    if wanted is None:
        return Operation.DELETE
    return Operation.CREATE if now is None else Operation.UPDATE


def _context(last: Change, feedback: Feedback, wanted: Snapshot | None) -> SubmitContext:
    """Submit on behalf of the agent whose change it takes back, under one key for one effect."""
    way = text_hash(f"{last.id} {state_hash(wanted)}")
    return SubmitContext(
        key=f"retract:{feedback.id}:{last.kind}:{last.target_id}:{way}",
        tenant_id=last.tenant_id,
        agent_id=last.agent_id,
        feedback_id=feedback.id,
        feedback_content=feedback.content,
        origin=Origin.PERSON,
    )
