"""Deliveries: what goes out to others when something happens, and how each attempt ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import JsonValue

from core.domain.models.base import Model, Text
from core.domain.models.events import RunEvent
from core.domain.text import clean


class DeliveryStatus(StrEnum):
    """The state of a delivery; all but the first are final.

    `skipped` was left out, whole or in part, since its target has no place for it. `failed` was
    refused for good, `dead` has used up its attempts.
    """

    WAITING = "waiting"
    DELIVERED = "delivered"
    SKIPPED = "skipped"
    FAILED = "failed"
    DEAD = "dead"


class Decision(StrEnum):
    """What a hook thinks of something."""

    ALLOW = "allow"
    HOLD = "hold"
    DENY = "deny"


class HookAnswer(Model):
    """What a hook said: whether it agrees, and a note for people."""

    decision: Decision = Decision.ALLOW
    note: str = ""


@dataclass(frozen=True)
class Notice:
    """What a hook is given: the same id at each attempt, so that a receiver can tell repeats."""

    id: str
    type: str
    at: datetime
    tenant_id: str
    data: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def value(self) -> dict[str, JsonValue]:
        """The notice in the form of Standard Webhooks."""
        return {"type": self.type, "timestamp": self.at.isoformat(), "data": {**self.data}}

    @property
    def body(self) -> str:
        """The value as JSON."""
        return json.dumps(clean(self.value), ensure_ascii=False, separators=(",", ":"))


class Route(NamedTuple):
    """Where an event goes out to, under which name.

    What has the same `subject` arrives in order. Of routes of one target with the same `once_key`
    only the first is written.
    """

    target: str
    event: str
    subject: str
    once_key: str | None = None


class Delivery(Model):
    """One event on its way to one target; `attempts` counts those that were begun."""

    id: str
    tenant_id: str
    target: str
    event: str
    subject: str = ""
    status: DeliveryStatus = DeliveryStatus.WAITING
    attempts: int = 0
    feedback_id: str | None = None
    change_id: str | None = None
    payload: RunEvent
    created_at: datetime
    due_at: datetime | None = None
    ended_at: datetime | None = None
    error: Text | None = None
    answer: HookAnswer | None = None


class Attempt(Model):
    """How one attempt ended: a word or number of the target's, and how long it took. No content."""

    ordinal: int
    at: datetime
    status: str
    seconds: float
    error: Text | None = None


class Delivered(Model):
    """A delivery with its attempts, oldest first."""

    delivery: Delivery
    attempts: tuple[Attempt, ...] = ()


class DeliveryFilter(Model):
    """Which deliveries are wanted; unset fields filter nothing."""

    statuses: tuple[DeliveryStatus, ...] = ()
    tenant_id: str | None = None
    target: str | None = None
    feedback_id: str | None = None
    change_id: str | None = None


class Outcome(StrEnum):
    """How an attempt ended.

    Done; left out for a reason; to be repeated; refused for good; or not wanted any more.
    """

    DONE = "done"
    SKIPPED = "skipped"
    LATER = "later"
    NEVER = "never"
    GONE = "gone"


class Sent(Model):
    """The end of one attempt; `status` is a word or number of the target's.

    `retry_after` is how many seconds the target asks to be left alone.
    """

    outcome: Outcome
    status: str = ""
    error: Text | None = None
    retry_after: float | None = None
    answer: HookAnswer | None = None


class Settled(NamedTuple):
    """What becomes of a delivery after an attempt.

    `rests_until` is when its target is to be tried again at the earliest.
    """

    status: DeliveryStatus
    sent: Sent
    began: datetime
    seconds: float
    due_at: datetime | None = None
    rests_until: datetime | None = None


class HookSaid(Model):
    """What a hook said about feedback or one of its changes, or why it could not."""

    hook: str
    event: str
    at: datetime
    change_id: str | None = None
    decision: Decision | None = None
    note: str = ""
    error: Text | None = None


class TargetState(Model):
    """A target that is in trouble: failures in a row, and since when nothing is sent to it."""

    name: str
    failures: int = 0
    open_until: datetime | None = None
    disabled_at: datetime | None = None
    error: Text | None = None
    digest: str = ""


class SkillListState(Model):
    """A list of skills as it was when it was last compared with the platform's.

    `agent_id` is "" for the tenant's list. `ours` is what the list was here, `theirs` what it was
    there, `left` what differs since the platform's own change was not taken. `adding` and
    `removing` is what is being written there, `coming` what is being brought back: whether it has
    been nobody knows yet.
    """

    tenant_id: str
    agent_id: str
    ours: frozenset[str] = frozenset()
    theirs: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    adding: frozenset[str] = frozenset()
    removing: frozenset[str] = frozenset()
    coming: frozenset[str] = frozenset()
    revision: int = 0
