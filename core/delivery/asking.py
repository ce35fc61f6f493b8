"""How a hook is asked: what it is given, what it may answer, and what its failure means."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

import structlog
from pydantic import JsonValue

from core.delivery.hooks import Hook, values_before
from core.domain.errors import NotFound, SkillWorkerError
from core.domain.hashing import state_hash, text_hash
from core.domain.messages import Message
from core.domain.models import Change, RunEvent
from core.domain.models.deliveries import (
    Decision,
    Delivery,
    DeliveryStatus,
    HookAnswer,
    Notice,
    Outcome,
    Sent,
)
from core.domain.ports.deliveries import BEFORE, Judged, Outbox
from core.domain.ports.plugins import Asker
from core.domain.retry_policy import may_pass
from core.domain.text import clean, shorten

log = structlog.get_logger(__name__)

NOTE_CHARS = 2_000
CONTENT_CHARS = 100_000
LEASE_SECONDS = 30.0  # beside the time-out: to write down how it ended
_WORDS = {
    "allow": Decision.ALLOW,
    "yes": Decision.ALLOW,
    "hold": Decision.HOLD,
    "no": Decision.HOLD,
    "deny": Decision.DENY,
}


def read_answer(text: str, *, prose: bool = True) -> HookAnswer:
    """Return what an answer in JSON says: `{"decision": "allow|hold|deny", "note": …}`.

    With `prose` any other text is a note; without, it says nothing.
    """
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return HookAnswer(note=_note(text)) if prose else HookAnswer()
    if not isinstance(data, dict):
        return HookAnswer(note=_note(text)) if prose and text.strip() else HookAnswer()
    word = data.get("decision", "allow")
    decision = _WORDS.get(word.strip().lower()) if isinstance(word, str) else None
    if decision is None:
        raise ValueError(Message("hook.no_decision", word=shorten(str(word), 40)))
    note = data.get("note")
    return HookAnswer(decision=decision, note=_note(note if isinstance(note, str) else ""))


def _note(text: str) -> str:
    return shorten(str(clean(text.strip())), NOTE_CHARS)


@dataclass(frozen=True)
class HookTarget:
    """A hook as a target of deliveries, and as one that is asked at once.

    `change_of` reads a change whose words a hook wants; links lead to `console`.
    """

    hook: Hook
    asker: Asker
    change_of: Callable[[str], Awaitable[Change]]
    console: str = ""

    @property
    def digest(self) -> str:
        """The digest of the hook."""
        return self.hook.digest

    @property
    def lease(self) -> float:
        """The hook's time, and some to record how it ended."""
        return self.hook.timeout + LEASE_SECONDS

    async def deliver(self, delivery: Delivery) -> Sent:
        event = delivery.payload
        data = _data_of(event) | self._link(event.change_id, event.feedback_id)
        if event.change_id is not None and (self.hook.has_content or self.hook.notify):
            try:
                change = await self.change_of(event.change_id)
                data |= _words_of(change) if self.hook.has_content else _reasons_of(change, data)
            except NotFound:  # of a change that was never stored, such as one that was refused
                log.debug("delivery.without_content", delivery_id=delivery.id)
        at = event.at or delivery.created_at
        return await self.ask(Notice(delivery.id, delivery.event, at, delivery.tenant_id, data))

    async def before(self, change: Change, delivery: Delivery) -> Sent:
        """Ask about a change that is about to be applied."""
        data: dict[str, JsonValue] = {**values_before(change), **self._link(change.id, None)}
        if self.hook.content is not False:
            data |= _words_of(change)
        return await self.ask(
            Notice(delivery.id, BEFORE, delivery.created_at, change.tenant_id, data)
        )

    async def ask(self, notice: Notice) -> Sent:
        """Ask within the hook's time; whatever goes wrong is how it ended."""
        limit = asyncio.timeout(self.hook.timeout)
        try:
            async with limit:
                return await self.asker.ask(notice)
        except TimeoutError:
            if not limit.expired():
                return Sent(outcome=Outcome.LATER, status="error", error=Message("hook.cut_off"))
            why = Message("hook.too_slow", seconds=self.hook.timeout)
            return Sent(outcome=Outcome.LATER, status="timeout", error=why)
        except SkillWorkerError as error:
            outcome = Outcome.LATER if may_pass(error) else Outcome.NEVER
            return Sent(outcome=outcome, status=error.kind, error=error.advice)
        except Exception as error:  # a defect in a hook must not stop the others
            log.exception("hook.broke", hook=self.hook.name)
            why = Message("hook.broke", type=type(error).__name__)
            return Sent(outcome=Outcome.LATER, status="error", error=why)

    def _link(self, change_id: str | None, feedback_id: str | None) -> dict[str, JsonValue]:
        """Return where people look: at the review of a change, or at the run of a piece."""
        page, found = ("review", change_id) if change_id else ("feedback/run", feedback_id)
        if found is None or not self.console:
            return {}
        return {"url": f"{self.console}/{page}?{urlencode({'id': found})}"}


def _data_of(event: RunEvent) -> dict[str, JsonValue]:
    ids = {"tenant_id", "feedback_id", "candidate_id", "change_id"}
    return {
        **event.data,
        **event.model_dump(include=ids, exclude_none=True),
        "state": event.state.model_dump(mode="json", exclude_none=True),
    }


def _words_of(change: Change) -> dict[str, JsonValue]:
    """Return what a change says before and after, and the words of its feedback."""
    before, after = change.before, change.after
    return {
        "agent_id": change.agent_id,
        "before": shorten(before.content, CONTENT_CHARS) if before else None,
        "after": shorten(after.content, CONTENT_CHARS) if after else None,
        "files": [*sorted((after.files if after else None) or {})],
        "feedback": shorten(change.feedback_content, CONTENT_CHARS),
        "reason": str(change.reason),
    }


def _reasons_of(change: Change, data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what an event says of a change in a form that can be told in other languages."""
    told: dict[str, JsonValue] = {"because": [*change.held]} if change.held else {}
    return told | ({"error": change.error} if change.error and "error" in data else {})


@dataclass(frozen=True)
class AskedBefore:
    """The hooks on `before.change_applied` (the port `BeforeApplied`), asked all at once."""

    targets: Sequence[HookTarget]
    outbox: Outbox
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    async def __call__(self, change: Change) -> Judged:
        """Ask, record what was said, and return what it comes to."""
        values = values_before(change)
        targets = [target for target in self.targets if target.hook.matches(values)]
        told = await asyncio.gather(*(self._one(target, change) for target in targets))
        fresh = [answer for answer in told if answer.seconds is not None]
        if fresh:
            await self.outbox.record([(a.delivery, a.sent, a.seconds or 0.0) for a in fresh])
        return _judged([(target.hook, a.sent) for target, a in zip(targets, told, strict=True)])

    async def _one(self, target: HookTarget, change: Change) -> _Answered:
        hook = target.hook
        delivery = Delivery(
            id=f"dlv_{self.new_id()}",
            tenant_id=change.tenant_id,
            target=hook.name,
            event=BEFORE,
            subject=_matter(change) if hook.once else "",
            feedback_id=change.feedback_id,
            change_id=change.id,
            payload=RunEvent(name=BEFORE, tenant_id=change.tenant_id, change_id=change.id),
            created_at=self.clock(),
        )
        if hook.once:
            known = await self.outbox.answered(hook.name, delivery.subject)
            if known is not None:
                return _Answered(delivery, Sent(outcome=Outcome.DONE, answer=known), None)
        began = time.monotonic()
        sent = await target.before(change, delivery)
        ended = DeliveryStatus.DELIVERED if sent.outcome is Outcome.DONE else DeliveryStatus.FAILED
        delivery = delivery.model_copy(update={"status": ended})
        return _Answered(delivery, sent, time.monotonic() - began)


def _matter(change: Change) -> str:
    """Return what names that a target is to become this, whatever has been noted about it since."""
    parts = (BEFORE, change.kind, change.tenant_id, change.target_id, change.base_hash)
    return text_hash("\0".join((*parts, state_hash(change.after))))


@dataclass(frozen=True)
class _Answered:
    """How one was asked; `seconds` is None where it had answered before."""

    delivery: Delivery
    sent: Sent
    seconds: float | None


def _judged(told: Sequence[tuple[Hook, Sent]]) -> Judged:
    denied, held, notes = "", [], []
    for hook, sent in told:
        if sent.outcome is not Outcome.DONE:
            why = sent.error or sent.status
            log.warning("hook.failed", hook=hook.name, status=sent.status, required=hook.required)
            if hook.required:
                held.append(Message("hook.required_failed", name=hook.name, why=why))
            else:
                notes.append(Message("hook.unanswered", name=hook.name, why=why))
            continue
        answer = sent.answer or HookAnswer()
        why = answer.note or Message("hook.no_reason")
        if answer.decision is Decision.DENY:
            denied = denied or Message("hook.denies", name=hook.name, why=why)
        elif answer.decision is Decision.HOLD:
            held.append(Message("hook.holds", name=hook.name, why=why))
        elif answer.note:
            notes.append(Message("hook.says", name=hook.name, text=answer.note))
    return Judged(denied, tuple(held), tuple(notes))
