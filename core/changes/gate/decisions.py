"""A reviewer's decisions on a held change: approve, reject, edit, prepare again."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import structlog

from core.changes.cases.judging import is_reason
from core.changes.gate import drafts, receipts, records
from core.changes.gate.deps import GateDeps
from core.changes.gate.drafts import apart_request, edit_request, when_free
from core.changes.gate.findings import Findings
from core.changes.gate.giving_up import judged_by_cases, retiring
from core.changes.gate.records import finish, has_moved, look_outside
from core.changes.gate.regrounding import Ground, NeedsModel, NothingLeft, Regrounding
from core.changes.gate.screening import found_in, masked_request, screened
from core.changes.gate.siblings import Relative, relatives
from core.changes.said_order.settle import named, settle
from core.changes.three_way_merge import Clash, State, rebased
from core.domain.errors import (
    ArtifactInvalid,
    Decided,
    DependencyDown,
    InvalidInput,
    NotFound,
    PrepareFailed,
    Refused,
    Repeated,
    SkillWorkerError,
    Stale,
    Unforeseen,
)
from core.domain.hashing import content_hash, state_hash
from core.domain.messages import Message, joined
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Edited,
    Kind,
    Origin,
    Prepared,
    Receipt,
    Relationship,
    RestoreRequest,
)

log = structlog.get_logger(__name__)
MOST_BESIDE = 300
_READY = ChangeStatus.PREPARED
_OPEN = {ChangeStatus.HELD, ChangeStatus.STALE}


class Decisions:
    """`by` is who decides, `seen` the content hash they reviewed, `known` the change if just read.

    What is approved is what is applied: if the change was edited, decided or overtaken since,
    the decision is refused and nothing happens. All methods raise NotFound, Decided and Stale.
    """

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps
        self.findings = Findings(deps)

    async def approve(
        self,
        change_id: str,
        *,
        by: str,
        seen: str | None = None,
        known: Change | None = None,
        allow: str = "",
        retire: str = "",
    ) -> Receipt:
        """Apply a held change as it stands, and prepare again what waits and concerns it.

        If its target has moved it is prepared again itself, and Stale says so. `allow` is why what
        the screen found in it is allowed, `retire` why the cases that it breaks are given up.
        Raises Refused where that is neither allowed yet nor said; DependencyDown: a worker finishes
        it later.
        """
        change = await self._waiting(change_id, seen, known)
        if change.contradicts is not None and seen is None:
            raise Refused(
                Message("review.unseen_choice", id=change.id),
                hint=Message("review.choose", id=change.id, seen=change.content_hash),
            )
        await look_outside(change, self._deps)
        await self._require_kind(change)
        if await self.is_outdated(change):
            raise await self._not_as_seen(change, frozenset())
        await self.findings.require(change, by=by, reason=allow)
        change = await self._retiring(change, retire)
        if self._deps.dry_run:
            return receipts.receipt_of(_as(change, ChangeStatus.PREPARED))
        await self._ask_before(change)
        event = records.approved(change, by)
        intent = change

        async def approve() -> None:
            nonlocal intent  # repeated while the target is locked: the last try counts
            intent = await self._deps.reviews.approve(change, by, event)

        try:
            await self._first(change_id, when_free(approve, self._deps.sleep))
            receipt = await finish(intent, self._deps)
        except (Repeated, Unforeseen) as error:
            arrived = {error.item_id} if isinstance(error, Repeated) else set[str]()
            raise await self._not_as_seen(change, frozenset(arrived), error.message) from error
        except Decided:
            raise
        except Stale as error:
            raise await self._not_as_seen(change, frozenset(), error.message) from error
        except DependencyDown as error:
            goes_on = Message("review.goes_on")
            error.hint = joined([goes_on, error.hint] if error.hint else [goes_on], " ")
            raise
        if receipt.status.is_outcome:
            await self._tell_others(intent)
        return receipts.with_findings(receipt, intent)

    async def reject(
        self,
        change_id: str,
        *,
        by: str,
        reason: str,
        seen: str | None = None,
        known: Change | None = None,
    ) -> Change:
        """Close a held change unapplied. Raises InvalidInput without a reason."""
        if not reason.strip():
            raise InvalidInput(Message("review.reason_needed"), hint=Message("review.say_why"))
        change = await self._waiting(change_id, seen, known)
        if not self._deps.dry_run:
            reason = self.findings.masked(reason)
            event = records.event("change.rejected", change, by=by)
            end = self._deps.reviews.end(change, ChangeStatus.REJECTED, by, reason, event)
            await self._first(change_id, end)
        return _as(change, ChangeStatus.REJECTED)

    async def edit(
        self, change_id: str, edited: Edited, *, by: str, seen: str | None = None
    ) -> Change:
        """Replace the content of a held change; it is checked and held again.

        Where its target has moved, what the person changed is done to what it is prepared to now.
        Raises InvalidInput and Refused if the checks reject it.
        """
        change = await self._waiting(change_id, seen)
        onto = change
        if await self.is_outdated(change):
            onto = await self._on_new_ground(change)
            edited = await self._carried_over(edited, change, onto)
        asked = await edit_request(onto, edited, self._deps.changes)
        request = await masked_request(asked, self._deps.screen)
        ground = Ground(request, await self._prepare(request, change))
        if state_hash(ground.prepared.before) == state_hash(ground.prepared.after):
            raise Refused(
                Message("review.already_said", kind=change.kind, name=ground.prepared.target_name),
                hint=Message("review.reject_it"),
            )
        proposed = change.proposed or (None if change.edited_by else change.after)
        fresh = onto.model_copy(update={"edited_by": by, "proposed": proposed})
        return await self._hold_again(change, fresh, ground, "change.edited", by=by)

    async def prepare_again(self, change_id: str, *, by: str) -> Change:
        """Prepare a change against the current state; it is held again.

        If that says all of it already it is ended, and if code cannot tell what becomes of it, it
        is decided again by the model, where there is one.
        """
        return await self._again(await self._waiting(change_id, None), frozenset(), by=by)

    async def keep_both(self, change_id: str, *, by: str, seen: str | None = None) -> Receipt:
        """Apply a held change that contradicts something as an item of its own beside it.

        Raises Refused where the two would be one thing: a table or a skill of the same name.
        """
        change = await self._waiting(change_id, seen)
        if change.contradicts is None:
            raise Refused(
                Message("review.no_choice", id=change.id),
                hint=Message("review.approve_or_reject"),
            )
        request = await apart_request(change, self._deps.changes)
        ground = Ground(request, await self._prepare(request, change))
        how = {"merge_mode": None, "relationship": Relationship.UNRELATED}
        told = {"by": by}
        if self._deps.dry_run:
            return receipts.receipt_of(_as(drafts.again(change, request, ground.prepared), _READY))
        apart = change.model_copy(update=how)
        fresh = await self._hold_again(change, apart, ground, "change.prepared_again", **told)
        return await self.approve(fresh.id, by=by, seen=fresh.content_hash)

    async def beside(self, change: Change) -> Sequence[Relative]:
        """Return the other changes that wait and concern one, contradictions first."""
        return relatives(change, [*await self._deps.reviews.beside(change, MOST_BESIDE)])

    async def _retiring(self, change: Change, reason: str) -> Change:
        """Return a change that retires the cases it breaks. Raises Refused, Stale."""
        try:
            return await retiring(change, self.findings.masked(reason.strip()), self._deps)
        except Stale as error:
            raise await self._not_as_seen(change, frozenset(), error.message) from error

    async def _require_kind(self, change: Change) -> None:
        """Raise Refused if the package of its kind is not there: what stands in for it says so."""
        if change.kind not in self._deps.committers:
            await self._deps.committers[change.kind].apply(change)

    async def _ask_before(self, change: Change) -> None:
        """Raise Refused if a hook denies it; a person has decided about what else it may say."""
        if self._deps.before_applied is not None:
            said = await self._deps.before_applied(change)
            if said.denied:
                raise Refused(said.denied, hint=Message("hook.hint_denied"))

    async def _tell_others(self, change: Change) -> None:
        """Prepare again what waits and concerns a change that was just applied.

        Nothing that goes wrong with another is told to who approved this one.
        """
        arrived = frozenset({change.target_id})
        for relative in await self.beside(change):
            other = relative.change
            try:
                if other.before is None or await has_moved(other, self._deps):
                    await self._again(other, arrived, because_of=change)
            except SkillWorkerError as error:  # it is prepared again when it is looked at
                log.warning("change.left_behind", change_id=other.id, error=error.message)
        asking = self._deps.ask_again
        if asking is not None and change.feedback_id is not None:
            await asking.passed_over(change.feedback_id)

    async def _again(
        self,
        change: Change,
        arrived: frozenset[str],
        *,
        by: str = "",
        because_of: Change | None = None,
    ) -> Change:
        """Prepare a change again, and return what became of it: held, or ended."""
        told: dict[str, str] = {"by": by} if by else {}
        told |= {"because_of": because_of.id} if because_of else {}
        grounds = Regrounding(change, self._deps, arrived)
        try:
            ground = await grounds.ground()
        except NothingLeft as end:
            return await self._ended_as_known(change, end.message, because_of)
        except (NeedsModel, Refused, InvalidInput, NotFound) as error:
            if await self._is_asked_again(change):
                return await self._deps.changes.get(change.id)
            if change.after is None or isinstance(change.request, RestoreRequest | None):
                raise await self._stale(change, _gone_stale(change)) from error
            ground = await grounds.instead(*_in_the_way(error))
        # Once it overrides something it goes on doing so, whatever else has changed since.
        by_change = because_of.id if because_of else ""
        update = {**ground.how, "contradicts": by_change if ground.differs else change.contradicts}
        if ground.differs:
            warned = (*ground.prepared.warnings, ground.differs)
            prepared = ground.prepared.model_copy(update={"warnings": warned})
            ground = replace(ground, prepared=prepared)
        fresh = change.model_copy(update=update)
        return await self._hold_again(change, fresh, ground, "change.prepared_again", **told)

    async def _is_asked_again(self, change: Change) -> bool:
        """Whether the model decides about the change's feedback once more; it is ended then.

        Stale first: what waits is told to the model as done, and feedback must not end meanwhile.
        """
        asking = self._deps.ask_again
        is_agents = change.origin is Origin.AGENT and change.edited_by is None
        if asking is None or change.feedback_id is None or not is_agents or self._deps.dry_run:
            return False
        await self._stale(change, _gone_stale(change))
        try:
            await asking.again(change.feedback_id)
        except (Refused, NotFound):  # it is at work again already
            return False
        waiters = await self._waiters(change)
        await self._end(change, Message("review.asked_again"), "change.asked_again")
        for feedback_id in waiters:
            with suppress(Refused, NotFound):
                await asking.again(feedback_id)
        return True

    async def _waiters(self, change: Change) -> Sequence[str]:
        """Return the feedback that asked for the same as a change that waits."""
        target = change.kind, change.tenant_id, change.target_id
        found = await self._deps.duplicate_waiters.at(*target)
        return [one.feedback_id for one in found if one.change_id == change.id]

    async def _ended_as_known(self, change: Change, why: str, because_of: Change | None) -> Change:
        if because_of is not None and not self._deps.dry_run:
            state = {"target_id": because_of.target_id, "after": because_of.after}
            for feedback_id in filter(None, (change.feedback_id, *await self._waiters(change))):
                said = change.model_copy(update={**state, "feedback_id": feedback_id})
                # Only of a table may a piece say a part; all else that it says is known by now.
                units = drafts.repeated(said) if said.kind is Kind.DMN_RULE else None
                await self._deps.duplicate_waiters.note(said, units, by=because_of.id)
        return await self._end(change, why, "change.known_by_now")

    async def _end(self, change: Change, why: str, event_name: str) -> Change:
        """End a change about which nothing is left to decide."""
        if not self._deps.dry_run:
            event = records.event(event_name, change, reason=why)
            await self._deps.reviews.end(change, ChangeStatus.REJECTED, "", why, event)
        ended = {"status": ChangeStatus.REJECTED, "decision": why}
        return change.model_copy(update=ended)

    async def _on_new_ground(self, change: Change) -> Change:
        """Return what a change is prepared to now, for an edit; itself if nothing is left of it."""
        grounds = Regrounding(change, self._deps, frozenset())
        try:
            ground = await grounds.ground()
        except (NothingLeft, NeedsModel, Refused, InvalidInput) as error:
            try:
                ground = await grounds.instead("", _in_the_way(error)[1])
            except NothingLeft:
                return change
        made = drafts.again(change, ground.request, ground.prepared)
        return made.model_copy(update=ground.how)

    async def _carried_over(self, edited: Edited, seen: Change, onto: Change) -> Edited:
        """Return an edit of what was seen as one of what it is prepared to now.

        Where the two touch the same lines the person's text stands as it is.
        """
        if edited.content is None or seen.kind in {Kind.SKILL, Kind.AGENT_SKILLS}:
            return edited
        states = [one.after.content if one.after else "" for one in (seen, onto)]
        before, there = (State(text, seen.target_name) for text in states)
        try:
            made = rebased(seen.kind, before, replace(before, text=edited.content), there)
        except Clash:
            return edited
        return edited.model_copy(update={"content": made.text})

    async def is_outdated(self, change: Change) -> bool:
        """Whether a change waits and its target has changed since; records nothing."""
        if change.status not in _OPEN or not change.held:
            return False
        return change.status is ChangeStatus.STALE or await has_moved(change, self._deps)

    async def has_moved(self, change: Change) -> bool:
        """Whether the target has changed since; records nothing."""
        return await has_moved(change, self._deps)

    async def _first(self, change_id: str, decision: Awaitable[object]) -> None:
        """Carry out a decision; if another came first, raise who made it, or that it was edited."""
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

    async def _not_as_seen(self, change: Change, arrived: frozenset[str], why: str = "") -> Stale:
        """Prepare a change again whose target has moved, and return the error that says so."""
        if self._deps.dry_run:
            return _gone_stale(change)
        present = await self._deps.changes.get(change.id)
        fresh = await self._again(present, arrived)
        if fresh.status is not ChangeStatus.HELD:
            return Stale(Message("review.ended_meanwhile", name=change.target_name))
        moved = Message("review.target_moved", kind=change.kind, name=change.target_name)
        return Stale(
            Message("review.prepared_again", why=why or moved),
            hint=Message("review.look_then_decide"),
        )

    async def _stale(self, change: Change, error: Stale) -> Stale:
        """Record that a change went stale, and return the error with what to do."""
        if not self._deps.dry_run:
            event = records.event("change.went_stale", change, error.message)
            await self._deps.reviews.end(change, ChangeStatus.STALE, "", error.message, event)
        error.hint = error.hint or Message("review.refresh", id=change.id)
        return error

    async def _prepare(self, request: ChangeRequest, change: Change) -> Prepared:
        try:
            return await drafts.prepare(request, drafts.context_of(change), self._deps)
        except PrepareFailed as error:
            raise error.cause from error
        except ArtifactInvalid as error:
            raise InvalidInput(error.message, hint=error.hint) from error

    async def _hold_again(
        self, seen: Change, change: Change, ground: Ground, event_name: str, **told: str
    ) -> Change:
        """Hold a change with what it was prepared to, in the place of what was seen."""
        began = await self._deps.reviews.now()
        fresh = drafts.again(change, ground.request, ground.prepared)
        # A person's words are said when they are given; preparing again says nothing new.
        is_edit = event_name == "change.edited"
        said = {"said_at": began, "heard_at": began} if is_edit else {}
        fresh = fresh.model_copy(
            update={
                "contradicts": None if is_edit else change.contradicts,
                "prepared_at": began,
                **said,
            }
        )
        fresh, blobs = await self._in_said_order(fresh, ground.prepared.blobs, began)
        fresh = await screened(fresh, blobs, self._deps.screen, self._deps.changes)
        tried = await judged_by_cases(fresh, blobs, self._deps)
        fresh = tried.change
        held = drafts.held_because(fresh, self._deps, tried.reasons) or _still_held(seen)
        fresh = fresh.model_copy(update={"held": held})
        if not self._deps.dry_run:
            event = records.event(event_name, fresh, **told)
            replaced = self._deps.reviews.replace(fresh, seen, blobs, event)
            await self._first(seen.id, replaced)
        return fresh

    async def _in_said_order(
        self, fresh: Change, blobs: Mapping[str, bytes], now: datetime
    ) -> tuple[Change, Mapping[str, bytes]]:
        """Return as much of a change as was not said anew since.

        Of what was overtaken as a whole a person decides: approved, it counts as said now.
        """
        words = await drafts.later_words(fresh, self._deps)
        if not words:
            return fresh, blobs
        placed = await settle(fresh, blobs, words, self._deps.steps, self._deps.changes)
        word = placed.overtaken_by
        if not placed.is_whole or word is None:
            return placed.change, placed.blobs
        warning = Message("review.overtaken", id=fresh.id, **named(word))
        update = {
            "contradicts": fresh.contradicts or word.change_id or "",
            "said_at": now,
            "heard_at": now,
            "warnings": (*fresh.warnings, warning),
        }
        made = fresh.model_copy(update=update)
        return made.model_copy(update={"content_hash": content_hash(made)}), blobs


def _in_the_way(error: Exception) -> tuple[str, str | None]:
    """Return why code cannot prepare a change again, and the item that it would override."""
    return (error.why, error.item_id) if isinstance(error, NeedsModel) else (str(error), None)


def _still_held(seen: Change) -> tuple[str, ...]:
    """Return why a change that waited goes on waiting, without what is no longer found in it."""
    gone = found_in(seen)
    stay = tuple(why for why in seen.held if why not in gone and not is_reason(why))
    return stay or (Message("screen.cleared"),)


def _edited(change_id: str) -> Stale:
    return Stale(
        Message("review.not_what_was_seen", id=change_id),
        hint=Message("review.look_then_decide"),
    )


def _gone_stale(change: Change) -> Stale:
    return Stale(
        Message("review.target_changed", kind=change.kind, name=change.target_name, id=change.id),
        hint=Message("review.refresh", id=change.id),
    )


def _decided(change: Change) -> Decided:
    if not change.held:
        return Decided(Message("review.waits_for_nobody", id=change.id, status=change.status))
    return Decided(Message("review.decided", id=change.id, how=_how(change), status=change.status))


def _how(change: Change) -> str:
    at = f"{change.decided_at:%Y-%m-%d %H:%M:%S %Z}" if change.decided_at else ""
    if change.decided_by and at:
        return Message("review.by_at", who=change.decided_by, time=at)
    if change.decided_by:
        return Message("review.by", who=change.decided_by)
    return Message("review.at", time=at) if at else ""


def _as(change: Change, status: ChangeStatus) -> Change:
    return change.model_copy(update={"status": status})
