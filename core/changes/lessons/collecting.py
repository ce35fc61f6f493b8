"""What counts as evidence for a lesson, and which lesson it speaks for; no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from core.changes.lessons.wording import (
    Words,
    shape_of_edit,
    without_harm,
    words_of_change,
    words_of_run,
)
from core.changes.review_sweep import EXPIRY
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import ChangeStatus, Operation, Origin, Relationship
from core.domain.models.audit import ERASED
from core.domain.models.feedback import is_reserved
from core.domain.models.lessons import ChangeFact, Evidence, EvidenceKind, RunFact
from core.domain.text import normal_form

# What is overridden so soon was learnt too early; later a rule may just have changed.
SOON = timedelta(days=14)
_OVERRIDES = {Relationship.CONFLICTS, Relationship.SUPERSEDES}
# Without a reason in words one case says little: so many alike make a lesson.
ALIKE = 2
# What code says where no person gave a reason.
_NO_REASONS = {"", ERASED, Message("review.feedback_retracted")}


def kind_of(fact: ChangeFact) -> EvidenceKind | None:
    """Return what a decided change is evidence of, None if of nothing.

    Decisions about lessons are none: the worker would learn about its learning. What is for one end
    user alone is none either, since all runs of the tenant are shown what is made of it.
    """
    if is_reserved(fact.agent_id) or fact.is_personal or fact.feedback_id is None:
        return None
    if fact.undoes:
        return EvidenceKind.RETRACTED if fact.status is ChangeStatus.APPLIED else None
    if fact.origin is not Origin.AGENT:
        return None
    if fact.status is ChangeStatus.REJECTED:
        is_persons = fact.decided_by not in {"", EXPIRY} and fact.decision not in _NO_REASONS
        return EvidenceKind.REJECTED if is_persons else None
    if fact.status is not ChangeStatus.APPLIED:
        return None
    if fact.is_edited and fact.proposed is not None and fact.proposed != fact.after:
        return EvidenceKind.EDITED
    return EvidenceKind.OVERRIDDEN if _is_overriding(fact) else None


def _is_overriding(fact: ChangeFact) -> bool:
    if fact.learnt_at is None or fact.at - fact.learnt_at > SOON:
        return False
    is_deleted = fact.operation is Operation.DELETE
    is_replaced = fact.operation is Operation.UPDATE and fact.relationship in _OVERRIDES
    return is_deleted or is_replaced


def evidence_of_change(fact: ChangeFact, kind: EvidenceKind) -> tuple[Evidence, Words]:
    """Return a change as evidence under a key of its own, and what it says."""
    words = words_of_change(kind, fact)
    grouped = words.why if is_explicit(kind, words) else _group(kind, fact)
    made = Evidence(
        id=f"{kind}:{fact.id}",
        tenant_id=fact.tenant_id,
        key=_key(fact.tenant_id, kind, fact.kind, fact.operation, normal_form(grouped)),
        kind=kind,
        about=fact.kind.value,
        operation=fact.operation.value,
        change_id=fact.id,
        feedback_id=fact.feedback_id,
        candidate_id=fact.candidate_id,
        at=fact.at,
    )
    return _judged(made, words)


def evidence_of_run(fact: RunFact) -> tuple[Evidence, Words]:
    """Return a run that went right after a failed one as evidence, and what it says."""
    why = fact.error.partition(":")[0].strip() or "failed"
    made = Evidence(
        id=f"{EvidenceKind.RECOVERED}:{fact.candidate_id}:{fact.failed_id}",
        tenant_id=fact.tenant_id,
        key=_key(fact.tenant_id, EvidenceKind.RECOVERED, why),
        kind=EvidenceKind.RECOVERED,
        about=why,
        operation="",
        feedback_id=fact.feedback_id,
        candidate_id=fact.candidate_id,
        at=fact.at,
    )
    return _judged(made, words_of_run(fact))


def is_explicit(kind: EvidenceKind, words: Words) -> bool:
    """Whether a person said why: one such piece makes a lesson, and likeness is by these words."""
    return kind in {EvidenceKind.REJECTED, EvidenceKind.RETRACTED} and bool(words.why)


def needed(kind: EvidenceKind, said: Sequence[Words]) -> int:
    """Return how many pieces a lesson needs."""
    return 1 if any(is_explicit(kind, words) for words in said) else ALIKE


def _judged(made: Evidence, words: Words) -> tuple[Evidence, Words]:
    kept = without_harm(words)
    if kept is None:
        return made.model_copy(update={"refused": Message("lesson.refused_words")}), words
    return made, kept


def _group(kind: EvidenceKind, fact: ChangeFact) -> str:
    return shape_of_edit(fact) if kind is EvidenceKind.EDITED else ""


def _key(tenant_id: str, *parts: str) -> str:
    """Return the key of a lesson, which no other tenant has: keys of changes are common."""
    return text_hash("\0".join((tenant_id, *parts)))[:32]
