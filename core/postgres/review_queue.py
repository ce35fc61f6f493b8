"""The line of changes that wait for a person, read from the table in one statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg.rows import DictRow

from core.errors import NotFound
from core.models.costs import ChangeCost
from core.models.review import Cause, Matched, OpenedChange, QueuePlace
from core.ports.review_queue import AHEAD
from core.postgres.changelog import change_of
from core.postgres.queries import Pool, fetch_all, fetch_one, joined
from core.postgres.rows import usage_of

_BESIDE = ("cause", "matched", "place", "cost", "undone_by")


class PostgresReviewQueue:
    """The `ReviewQueue` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def look(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        """Give a change with its feedback and its place in the line. Raises NotFound."""
        scope = _scope(tenant_id, but)
        row = await fetch_one(self._pool, "review_queue.look", id=change_id, **scope)
        if row is None:
            raise NotFound(
                f"there is no change {change_id!r}", hint="see `skill-worker changes list`"
            )
        return _opened(row)

    async def first(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        """Give the ids of those that wait longest, those in `but` left out."""
        scope = _scope(tenant_id, but)
        return [row["id"] for row in await fetch_all(self._pool, "review_queue.first", **scope)]


def _scope(tenant_id: str | None, but: Collection[str]) -> dict[str, object]:
    return {"tenant_id": tenant_id, "but": joined(but), "ahead": AHEAD}


def _opened(row: DictRow) -> OpenedChange:
    cause, matched, place, cost, undone_by = (row.pop(name) for name in _BESIDE)
    following = (*row.pop("later"), *row.pop("earlier"))[:AHEAD]
    return OpenedChange(
        change=change_of(row),
        cause=Cause.model_validate(cause) if cause else None,
        matched=_matched(matched) if matched else None,
        place=QueuePlace.model_validate({**place, "following": following}),
        cost=ChangeCost.model_validate(cost),
        undone_by=undone_by,
    )


def _matched(row: DictRow) -> Matched:
    known = {key: row[key] for key in ("agent_name", "content", "intent_hint")}
    return Matched(**known, usage=usage_of(row))
