"""The inbox: feedback as rows, each unfinished one with a job, always in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from psycopg.types.json import Jsonb

from core.errors import InvalidInput, LeaseLost, NotFound, Refused
from core.intake.digest import feedback_digest
from core.models import Feedback, NewFeedback, Outcome
from core.ports import NewId
from core.postgres.jobs import Jobs
from core.postgres.queries import Connection, Pool, execute, fetch_one, sql, transaction
from core.postgres.rows import feedback_of
from core.reply_keys import matching_prefix

_Piece: TypeAlias = dict[str, object]


class PostgresInbox:
    """The `Inbox` port."""

    def __init__(self, pool: Pool, jobs: Jobs, new_id: NewId) -> None:
        self._pool = pool
        self._jobs = jobs
        self._new_id = new_id

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        """Store pieces with a job for each new one. Raises InvalidInput on other content."""
        rows = [self._row(place, piece) for place, piece in enumerate(pieces)]
        async with transaction(self._pool) as conn:
            params = {"source": source, "pieces": Jsonb(rows)}
            inserted = await (await conn.execute(sql("inbox.add"), params)).fetchall()
            new = {row["id"] for row in inserted}
            await self._defer(conn, [str(row["id"]) for row in rows if row["id"] in new])
            known = await _known(conn, source, [row for row in rows if row["id"] not in new])
        ids = [str(row["id"]) for row in rows]
        sources = [str(row["source_id"]) for row in rows]
        return [(known.get(key, id_), id_ in new) for key, id_ in zip(sources, ids, strict=True)]

    async def get(self, feedback_id: str) -> Feedback:
        """Give one piece. Raises NotFound."""
        row = await fetch_one(self._pool, "inbox.get", id=feedback_id)
        if row is None:
            raise _not_found(feedback_id)
        return feedback_of(row)

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: attempts and epoch + 1. None where it has ended or is gone."""
        row = await fetch_one(self._pool, "inbox.claim", id=feedback_id)
        return feedback_of(row) if row else None

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        """Queue it again in `delay` seconds with a new job. Raises LeaseLost."""
        params = {"id": claimed.id, "epoch": claimed.epoch, "error": error, "delay": delay}
        async with transaction(self._pool) as conn:
            given = await conn.execute(sql("inbox.give_back"), {**params, "counts": counts})
            if not given.rowcount:
                raise _lease_lost(claimed)
            await self._defer(conn, [claimed.id], delay=delay)

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        """Record the end of a piece and all that was spent on it. Raises LeaseLost."""
        ended = await execute(
            self._pool,
            "inbox.finish",
            id=claimed.id,
            epoch=claimed.epoch,
            status=outcome.status,
            error=outcome.error,
            matching=matching_prefix(claimed.id),
        )
        if not ended:
            raise _lease_lost(claimed)

    async def revive(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again under the next generation. Raises NotFound, Refused."""
        params = {"id": feedback_id}
        async with transaction(self._pool) as conn:
            row = await (await conn.execute(sql("inbox.revive"), params)).fetchone()
            if row is not None:
                await conn.execute(sql("inbox.reset_verdicts"), params)
                await self._defer(conn, [feedback_id])
                return feedback_of(row)
        found = await self.get(feedback_id)
        raise Refused(
            f"feedback {feedback_id} has not ended: it is {found.status}",
            hint="only feedback that has ended can be tried again",
        )

    async def _defer(
        self, conn: Connection, feedback_ids: Sequence[str], *, delay: float = 0
    ) -> None:
        if delay > 0:
            job_ids = [await self._jobs.defer(conn, key, delay=delay) for key in feedback_ids]
        else:
            job_ids = await self._jobs.defer_many(conn, feedback_ids)
        if job_ids:
            params = {"feedback_ids": list(feedback_ids), "job_ids": job_ids}
            await conn.execute(sql("inbox.set_jobs"), params)

    def _row(self, place: int, piece: NewFeedback) -> _Piece:
        feedback_id = self._new_id()
        return {
            **piece.model_dump(exclude={"id"}),
            "id": feedback_id,
            "source_id": feedback_id if piece.id is None else piece.id,
            "digest": feedback_digest(piece),
            "place": place,
        }


async def _known(conn: Connection, source: str, rows: Sequence[_Piece]) -> Mapping[str, str]:
    """Give the ids under which pieces were known, once they are seen to say the same."""
    if not rows:
        return {}
    params = {"source": source, "source_ids": [row["source_id"] for row in rows]}
    stored = await (await conn.execute(sql("inbox.known"), params)).fetchall()
    found = {row["source_id"]: row for row in stored}
    for row in rows:
        if found[row["source_id"]]["digest"] != row["digest"]:
            raise InvalidInput(
                f"feedback {row['source_id']!r} of source {source!r} is known with other content",
                hint="give changed feedback an id of its own",
            )
    return {source_id: str(row["id"]) for source_id, row in found.items()}


def _lease_lost(claimed: Feedback) -> LeaseLost:
    return LeaseLost(f"feedback {claimed.id} has ended or was taken up by another worker")


def _not_found(feedback_id: str) -> NotFound:
    return NotFound(
        f"there is no feedback {feedback_id!r}", hint="see `skill-worker feedback list`"
    )
