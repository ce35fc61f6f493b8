"""Lessons of the worker: what counts as evidence, and how far each lesson has come."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from core.domain.models.base import Model, Text
from core.domain.models.changes import ChangeStatus, Origin
from core.domain.models.knowledge import Kind, Operation, Relationship


class EvidenceKind(StrEnum):
    """What can teach the worker something about its own work."""

    REJECTED = "rejected"
    EDITED = "edited"
    RETRACTED = "retracted"
    OVERRIDDEN = "overridden"
    RECOVERED = "recovered"


class ChangeFact(Model):
    """A decided change as far as it can be evidence; contents are cut.

    `learnt_at` is when other feedback had last changed its target. `is_personal`: a state of it is
    for one end user alone. `undoes`: it takes another change back, `names_one` by its id.
    """

    id: str
    tenant_id: str
    agent_id: str
    kind: Kind
    operation: Operation
    target_name: str
    status: ChangeStatus
    origin: Origin
    feedback_id: str | None
    candidate_id: str | None
    reason: str
    decision: str
    decided_by: str
    relationship: Relationship | None
    is_edited: bool
    is_personal: bool
    undoes: bool
    names_one: bool
    before: str | None
    after: str | None
    proposed: str | None
    at: datetime
    learnt_at: datetime | None


class RunFact(Model):
    """A run that went right after one of the same feedback had failed; `made` is what it did."""

    candidate_id: str
    feedback_id: str
    tenant_id: str
    agent_id: str
    content: str
    error: str
    failed_id: int
    made: tuple[str, ...]
    at: datetime


class Evidence(Model):
    """A piece of evidence as stored: whose words it has is read where they are, when needed.

    `key` names the lesson that it speaks for; `refused` is why it does not count.
    """

    id: str
    tenant_id: str
    key: str
    kind: EvidenceKind
    about: str
    operation: str
    change_id: str | None = None
    feedback_id: str | None = None
    candidate_id: str | None = None
    at: datetime
    refused: Text | None = None


class LessonState(Model):
    """How far a lesson has come: its evidence that counts, and what became of its proposals.

    `latest` is the newest evidence; `status` and `ended_at` are of the last proposal, None where
    there is none or nothing was stored of it. `setbacks` counts proposals that people rejected, or
    took back once they were learnt.
    """

    tenant_id: str
    key: str
    kind: EvidenceKind
    about: str
    operation: str
    pieces: int
    latest: datetime
    proposals: int
    setbacks: int
    change_id: str | None = None
    item_id: str | None = None
    status: ChangeStatus | None = None
    proposed_at: datetime | None = None
    ended_at: datetime | None = None
    refused: Text | None = None


class ShownLesson(Model):
    """A lesson that a run was shown."""

    candidate_id: str
    tenant_id: str
    item_id: str
    version: int
