"""Assembles a review view; what cannot be looked up is reported, and hides nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from core.app.program import App
from core.changes.gate.siblings import Relative
from core.decision_table import read_xml, search_text
from core.domain.errors import BundleInvalid, RuleInvalid, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Change, ChangeCost, ChangeStatus, Hit, Kind, KnownText, Snapshot
from core.domain.models.base import Model, Text
from core.domain.models.review import Cause, Matched, OpenedChange
from core.domain.ports import Search
from core.entrypoints.service.review_view.besides import (
    Beside,
    Opposite,
    beside_of,
    opposite_of,
)
from core.entrypoints.service.review_view.diffs import diff_of
from core.entrypoints.service.review_view.heads import ChangeHead, head_of
from core.entrypoints.service.review_view.shown import Diff
from core.knowledge.duplicates import Evidence, Known, compare
from core.skills.document.frontmatter import read_frontmatter

SHOWN = 3
# The subject of a text is at its beginning; more of it costs more than it finds.
_CHARS = 200
_EXCERPT_CHARS = 200


async def similar_to(change: Change, search: Search) -> tuple[Hit, ...]:
    """Return at most three items of the kind, the most similar first, except the target."""
    text = _words(change.kind, change.after or change.before)[:_CHARS]
    if change.kind is Kind.AGENT_SKILLS or not text.strip():
        return ()
    near = await search.near(
        text,
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        kind=change.kind,
        limit=SHOWN + 1,
    )
    items = {item.id: item for item in near.items if item.id != change.target_id}
    known = (Known(item.id, item.name, item.content[:_CHARS], item.kind) for item in items.values())
    found = [evidence for evidence in compare(text, known) if evidence.is_exact or evidence.shared]
    return tuple(_hit(evidence, items[evidence.known.id]) for evidence in found[:SHOWN])


def _hit(evidence: Evidence, item: KnownText) -> Hit:
    return Hit(
        id=item.id,
        kind=item.kind,
        name=item.name,
        excerpt=" ".join(item.content[:_EXCERPT_CHARS].split()),
        score=round(evidence.similarity, 4),
        agent_id=item.agent_id,
        why=evidence.why,
    )


def _words(kind: Kind, state: Snapshot | None) -> str:
    if state is None:
        return ""
    if kind is Kind.SKILL:
        return _description(state.content) or state.name
    if kind is not Kind.DMN_RULE:
        return state.content
    try:
        return search_text(read_xml(state.content))
    except RuleInvalid:
        return state.name


def _description(document: str) -> str:
    try:
        return read_frontmatter(document).description
    except BundleInvalid:
        return ""


LOOK_SECONDS = 2.0  # a search by meaning, or a skill, may depend on a slow server
T = TypeVar("T")


class Neighbours(Model):
    """The position of a change among those that wait, oldest first; `position` counts from 1.

    `next` skips what others are viewing, and wraps around to the oldest at the end.
    """

    previous: str | None
    next: str | None
    position: int | None
    waiting: int


class ReviewView(Model):
    """Everything to consider before deciding.

    `moved` says whether the target has changed since: then it has to be refreshed first. It is None
    if that is unknown; `problems` says what could not be looked up. `undone_by` is the change that
    reverted it. `beside` are other changes that wait and concern it, `opposite` is what it
    contradicts, `edits` what a person has made of what the agent wrote.
    """

    change: ChangeHead
    cause: Cause | None
    matched: Matched | None
    diff: Diff
    similar: tuple[Hit, ...]
    moved: bool | None
    cost: ChangeCost
    neighbours: Neighbours
    undone_by: str | None = None
    beside: tuple[Beside, ...] = ()
    opposite: Opposite | None = None
    edits: Diff | None = None
    problems: tuple[Text, ...] = ()


async def make_review_view(opened: OpenedChange, following: str | None, app: App) -> ReviewView:
    """Gather what belongs to a change that was opened."""
    found = await app.gate.decisions.findings.of(opened.change)
    change = opened.change.model_copy(update={"findings": found})
    problems: list[str] = []
    similar, moved, waiting, diff = await asyncio.gather(  # I/O runs meanwhile
        _attempt(similar_to(change, app.stores.search), problems, _SIMILAR),
        _attempt(_moved(change, app), problems, _TARGET),
        _attempt(_waiting(change, app), problems, _WAITING),
        diff_of(change, app.stores.changes),
    )
    return ReviewView(
        change=head_of(change),
        cause=opened.cause,
        matched=opened.matched,
        diff=diff,
        similar=tuple(similar or ()),
        moved=moved,
        cost=opened.cost,
        undone_by=opened.undone_by,
        beside=tuple(beside_of(relative) for relative in (waiting or ())[:MOST_BESIDE]),
        opposite=await opposite_of(change, app.stores.changes),
        edits=await _edits(change, app),
        neighbours=Neighbours(
            previous=opened.queue_position.previous,
            next=following,
            position=opened.queue_position.position,
            waiting=opened.queue_position.waiting,
        ),
        problems=tuple(problems),
    )


async def _waiting(change: Change, app: App) -> Sequence[Relative]:
    if change.status not in {ChangeStatus.HELD, ChangeStatus.STALE}:
        return ()
    return await app.gate.decisions.beside(change)


async def _edits(change: Change, app: App) -> Diff | None:
    """Return the difference between what the agent wrote and what a person made of it."""
    if change.proposed is None:
        return None
    return await diff_of(change.model_copy(update={"before": change.proposed}), app.stores.changes)


MOST_BESIDE = 20
_SIMILAR = Message("review.similar")
_WAITING = Message("review.waiting")
_TARGET = Message("review.target")


async def _attempt(look: Awaitable[T], problems: list[str], what: str) -> T | None:
    """Return the awaited result; None, with a problem added, if it fails or takes too long."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return await look
    except TimeoutError:
        why = Message("dependency.no_answer", seconds=LOOK_SECONDS)
        problems.append(Message("review.look_failed", what=what, why=why))
    except SkillWorkerError as error:
        failed = Message("review.look_failed", what=what, why=error.message)
        problems.append(failed)
    return None


async def _moved(change: Change, app: App) -> bool:
    """Whether the target has changed; meaningful only for a change that waits."""
    if change.status is ChangeStatus.STALE:
        return True
    if change.status is not ChangeStatus.HELD:
        return False
    return await app.gate.decisions.has_moved(change)
