"""A reviewer's day: forty pieces that all wait come to what they come to without review."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.app.program import App, open_app
from core.domain.models import (
    Agent,
    Change,
    ChangeFilter,
    ChangeStatus,
    Edited,
    FeedbackFilter,
    FeedbackStatus,
    NewFeedback,
)
from tests.support.api import settings_of
from tests.support.databases import fresh_database
from tests.support.reviewers_day import (
    AGENT,
    PUT_OTHERWISE,
    REFUSED,
    SUBJECTS,
    TENANT,
    known,
    pieces,
)
from tests.support.waiting import AT_LAST

WAITING = ChangeFilter(statuses=(ChangeStatus.HELD, ChangeStatus.STALE))
MOST_DECISIONS = 100


async def work(app: App, concurrency: int = 1) -> None:
    await asyncio.wait_for(app.run(True, concurrency, asyncio.Event(), lambda _: None), AT_LAST)


async def without_review(
    database: str, home: Path, said: list[NewFeedback]
) -> dict[str, list[str]]:
    async with open_app(settings_of(database, home), model=True, offline=True) as app:
        await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="주문 담당"))
        await app.stores.inbox.add("test", said)
        await work(app)
        return await known(app)


@asynccontextmanager
async def under_review(
    server: str, template: str, home: Path, said: list[NewFeedback]
) -> AsyncIterator[App]:
    """Open a program in which all that comes of what was said waits."""
    with fresh_database(server, template) as database:
        settings = settings_of(database, home, review_policy="all")
        async with open_app(settings, model=True, offline=True) as app:
            await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="주문 담당"))
            await app.stores.inbox.add("test", said)
            await work(app, 4)
            yield app


class Reviewer:
    """Decides about what waits, in any order; of two that contradict each other the later wins."""

    def __init__(self, app: App, rng: random.Random) -> None:
        self._app, self._rng = app, rng
        self._decisions = app.gate.decisions
        self._said: dict[str, tuple[int, str]] = {}
        self.chosen = 0

    async def decide_all(self) -> None:
        for _ in range(MOST_DECISIONS):
            waiting, _ = await self._app.stores.reader.changes(WAITING, limit=200, cursor=None)
            if not waiting:
                return
            found, _ = await self._app.stores.reader.feedback(
                FeedbackFilter(), limit=100, cursor=None
            )
            self._said = {one.id: (int(one.source_id[1:]), one.content) for one in found}
            await self._decide(self._next(sorted(waiting, key=self._place)))
            if FeedbackStatus.QUEUED in await self._app.stores.reader.counts():
                await work(self._app)  # what only the model can put together is decided again
        raise AssertionError("the queue never ended")

    def _place(self, change: Change) -> int:
        return self._said[change.feedback_id or ""][0]

    def _next(self, waiting: list[Change]) -> Change:
        """Return any; of the ranges of amounts, what was said first.

        They overlap. A wider one that was said later and is approved first sets all that it covers:
        the narrower one that was said earlier gives way to it, on record.
        """
        ranges = [one for one in waiting if "금액" in one.target_name]
        return self._rng.choice([one for one in waiting if one not in ranges[1:]])

    async def _decide(self, change: Change) -> None:
        """Decide as the page offers it; no approval is refused."""
        text, seen = self._said[change.feedback_id or ""][1], change.content_hash
        if text in REFUSED:
            await self._decisions.reject(change.id, by="kim", reason="not so", seen=seen)
            return
        if text in PUT_OTHERWISE and change.edited_by is None:
            edited = Edited(content=PUT_OTHERWISE[text])
            await self._decisions.edit(change.id, edited, by="kim", seen=seen)
            return
        if change.contradicts:
            self.chosen += 1
            other = await self._app.stores.changes.get(change.contradicts)
            if self._place(other) > self._place(change):
                await self._decisions.reject(change.id, by="kim", reason="the other", seen=seen)
                return
        receipt = await self._decisions.approve(change.id, by="kim", seen=seen)
        assert receipt.status.is_outcome, receipt


# Each run takes all forty pieces once; the night decides about them in other orders.
@pytest.mark.parametrize(
    ("seed", "subjects"),
    [
        pytest.param(0, (*SUBJECTS,), id="ci"),
        *(pytest.param(seed, (*SUBJECTS,), marks=pytest.mark.nightly) for seed in range(1, 20)),
    ],
)
async def test_what_is_reviewed_comes_to_what_it_comes_to_without_review(
    server: str, template: str, tmp_path: Path, seed: int, subjects: Sequence[str]
) -> None:
    said = pieces(subjects)
    accepted = [
        piece.model_copy(update={"content": PUT_OTHERWISE.get(piece.content, piece.content)})
        for piece in said
        if piece.content not in REFUSED
    ]
    with fresh_database(server, template) as database:
        expected = await without_review(database, tmp_path, accepted)
    async with under_review(server, template, tmp_path, said) as app:
        reviewer = Reviewer(app, random.Random(seed))
        await reviewer.decide_all()
        found = await known(app)
        for kind, lines in expected.items():
            assert found.pop(kind) == lines
        assert not found
        assert reviewer.chosen >= 3


class InOrder(Reviewer):
    """Decides first about what was said at these places."""

    def __init__(self, app: App, first: Sequence[int]) -> None:
        super().__init__(app, random.Random(0))
        self._first = [*first]

    def _next(self, waiting: list[Change]) -> Change:
        places = {self._place(change): change for change in waiting}
        found = next((places[at] for at in self._first if at in places), None)
        return found or waiting[0]


async def test_what_repeats_a_row_holds_no_rows_of_others(
    server: str, template: str, tmp_path: Path
) -> None:
    said = pieces(["approval"])
    with fresh_database(server, template) as database:
        expected = await without_review(database, tmp_path, said)
    async with under_review(server, template, tmp_path, said) as app:
        await InOrder(app, (1, 5, 0, 2)).decide_all()
        assert await known(app) == expected
