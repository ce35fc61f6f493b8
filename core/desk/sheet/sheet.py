"""Puts a review sheet together; what cannot be looked up is said, and hides nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from core.app import App
from core.desk.sheet.diffs import diff_of
from core.desk.sheet.heads import ChangeHead, head_of
from core.desk.sheet.shown import Diff
from core.desk.sheet.similar import similar_to
from core.errors import SkillWorkerError
from core.models import Change, ChangeCost, ChangeStatus, Hit
from core.models.base import Model
from core.models.review import Cause, Matched, OpenedChange

LOOK_SECONDS = 2.0  # a search by meaning, or a skill, may be asked of somebody who is slow
T = TypeVar("T")


class Neighbours(Model):
    """A change among those that wait, the oldest first; `position` counts from 1.

    `next` leaves out what others look at just now, and comes round to the oldest at the end.
    """

    previous: str | None
    next: str | None
    position: int | None
    waiting: int


class Sheet(Model):
    """All that there is to look at before one decides.

    `moved` tells whether the target has changed since: then it is to be refreshed first. It is
    None where that could not be told; `problems` says what could not be looked up. `undone_by`
    is the change that took it back.
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
    problems: tuple[str, ...] = ()


async def make_sheet(opened: OpenedChange, following: str | None, app: App) -> Sheet:
    """Gather what belongs to a change that was opened."""
    change = opened.change
    problems: list[str] = []
    similar, moved, diff = await asyncio.gather(  # others are asked, then it is compared here
        _told(similar_to(change, app.search), problems, "similar items"),
        _told(_moved(change, app), problems, "the target as it is now"),
        diff_of(change, app.changes),
    )
    return Sheet(
        change=head_of(change),
        cause=opened.cause,
        matched=opened.matched,
        diff=diff,
        similar=tuple(similar or ()),
        moved=moved,
        cost=opened.cost,
        undone_by=opened.undone_by,
        neighbours=Neighbours(
            previous=opened.place.previous,
            next=following,
            position=opened.place.position,
            waiting=opened.place.waiting,
        ),
        problems=tuple(problems),
    )


async def _told(look: Awaitable[T], problems: list[str], what: str) -> T | None:
    """Give what a look gives; None, and say so, where it fails or takes too long."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return await look
    except TimeoutError:
        problems.append(f"{what}: no answer within {LOOK_SECONDS:g} s")
    except SkillWorkerError as error:
        problems.append(f"{what}: {error.message}")
    return None


async def _moved(change: Change, app: App) -> bool:
    """Tell whether the target has changed; only of what waits that says anything."""
    if change.status is ChangeStatus.STALE:
        return True
    if change.status is not ChangeStatus.HELD:
        return False
    return await app.gate.decisions.has_moved(change)
