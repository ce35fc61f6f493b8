"""What reached agents and what came of it: the log, its figures, and what a look back needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import LiteralString

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Pool, connection, execute, fetch_all, sql
from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models.effect import (
    Complaint,
    EffectCounts,
    EffectDay,
    EffectFilter,
    Ended,
    EndedPiece,
    ItemEffect,
    Lesson,
    Only,
    Proposal,
    ProposalStatus,
)
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.knowledge import Kind
from core.domain.models.uses import Arm, OutcomeReport, UseCount
from core.knowledge.usage.trial import best_trial

_AFTER = ("tenant", "agent", "kind", "item")


class PostgresUseLog:
    """The `UseLog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, counts: Sequence[UseCount]) -> None:
        stored = Jsonb([count.model_dump(mode="json") for count in counts])
        await execute(self._pool, "uses.add", counts=stored)

    async def draw(self, arms: Sequence[Arm], since: datetime) -> Sequence[str]:
        drawn = Jsonb([arm.model_dump(mode="json") for arm in arms])
        rows = await fetch_all(self._pool, "uses.draw", arms=drawn, since=since)
        return [row["item_id"] for row in rows]

    async def add_outcome(self, outcome: OutcomeReport, since: datetime) -> Sequence[str]:
        rows = await fetch_all(
            self._pool,
            "uses.add_outcome",
            **outcome.model_dump(exclude={"used"}),
            used=Jsonb([item.model_dump() for item in outcome.used]),
            since=since,
        )
        return [row["item_id"] for row in rows]


class PostgresEffects:
    """The `Effects` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def items(
        self, wanted: EffectFilter, *, after: tuple[str, str, str, str] | None, limit: int
    ) -> Sequence[ItemEffect]:
        query = sql("effect.page").replace("true /* only */", _only(wanted.only))
        params = dict(zip(_AFTER, after or ("", "", "", ""), strict=True))
        rows = await self._rows(query, wanted, **params, limit=limit)
        return [_item(row) for row in rows]

    async def counts(self, wanted: EffectFilter) -> EffectCounts:
        (row,) = await self._rows(sql("effect.counts"), wanted)
        return EffectCounts.model_validate(row)

    async def days(
        self, wanted: EffectFilter, *, until: datetime, days: int
    ) -> Sequence[EffectDay]:
        rows = await self._rows(sql("effect.days"), wanted, until=until.date(), days=days)
        return [EffectDay.model_validate(row) for row in rows]

    async def proposals(self, wanted: EffectFilter, *, limit: int) -> Sequence[Proposal]:
        status = ProposalStatus.WAITING
        rows = await self._rows(
            sql("effect.proposals"), wanted, id=None, status=status, limit=limit
        )
        return [Proposal.model_validate(row) for row in rows]

    async def proposal(self, proposal_id: str) -> Proposal:
        rows = await self._rows(
            sql("effect.proposals"), EffectFilter(), id=proposal_id, status=None, limit=1
        )
        if not rows:
            raise NotFound(
                Message("no.thing", what=Message("thing.proposal"), id=proposal_id),
                hint=Message("see.proposals"),
            )
        return Proposal.model_validate(rows[0])

    async def decide(self, proposal: Proposal) -> bool:
        decided = proposal.picked(
            "id", "status", "decided_at", "decided_by", "change_id", "feedback_id"
        )
        return await execute(self._pool, "effect.decide", **decided) > 0

    async def _rows(
        self, query: LiteralString, wanted: EffectFilter, **params: object
    ) -> list[DictRow]:
        query = query.replace("/* known */", sql("effect.known"))
        whose = {"tenant_id": wanted.tenant_id, "agent_id": wanted.agent_id}
        async with connection(self._pool) as conn:
            return await (await conn.execute(query, {**whose, **params})).fetchall()


def _only(only: Only | None) -> LiteralString:
    """Return the condition of a list; of the judged those that have enough tasks to tell."""
    if only is None:
        return "true"
    if only is Only.UNREACHED:
        return "NOT " + sql("effect.reached")
    return sql("effect.back") if only is Only.BACK else "(" + sql("effect.judged") + ")"


def _item(row: DictRow) -> ItemEffect:
    def ended(name: str) -> Ended:
        return Ended(success=row.pop(f"{name}success"), failure=row.pop(f"{name}failure"))

    arms = ended("given_"), ended("left_")
    given, without = ended(""), ended("without_")
    trial = best_trial(arms, (given, without))
    return ItemEffect.model_validate({**row, "used": given.total, "ended": given, "trial": trial})


class PostgresLookBack:
    """The `LookBack` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def ended(self, now: datetime, *, limit: int) -> Sequence[EndedPiece]:
        rows = await fetch_all(self._pool, "effect.ended", now=now, limit=limit)
        return [EndedPiece.model_validate(row) for row in rows]

    async def looked(self, until: datetime, found: Sequence[Complaint]) -> None:
        stored = Jsonb([one.model_dump(mode="json") for one in found])
        await execute(self._pool, "effect.looked", until=until, found=stored)

    async def lessons(
        self, tenant_id: str, agent_id: str, items: Sequence[tuple[Kind, str]]
    ) -> Sequence[Lesson]:
        rows = await fetch_all(
            self._pool,
            "effect.lessons",
            tenant_id=tenant_id,
            agent_id=agent_id,
            kinds=[kind.value for kind, _ in items],
            ids=[item_id for _, item_id in items],
        )
        return [Lesson.model_validate(row) for row in rows]

    async def taught_by(self, feedback_id: str, agent_id: str) -> Sequence[Lesson]:
        rows = await fetch_all(
            self._pool, "effect.taught_by", feedback_id=feedback_id, agent_id=agent_id
        )
        return [Lesson.model_validate(row) for row in rows]

    async def earlier(
        self, piece: EndedPiece, agent_id: str, *, within: timedelta, limit: int
    ) -> Sequence[EndedPiece]:
        rows = await fetch_all(
            self._pool,
            "effect.earlier",
            **piece.picked("id", "tenant_id", "said_at"),
            agent_id=agent_id,
            seconds=within.total_seconds(),
            limit=limit,
        )
        return [EndedPiece.model_validate(row) for row in rows]

    async def propose(self, now: datetime, *, unused_days: int, recurring: int) -> int:
        return await execute(
            self._pool,
            "effect.propose",
            now=now,
            unused_days=unused_days,
            recurring=recurring,
            worker=WORKER_AGENT,
        )

    async def fold(self, before: date, *, limit: int) -> int:
        (row,) = await fetch_all(self._pool, "uses.fold", before=before, limit=limit)
        folded: int = row["folded"]
        return folded
