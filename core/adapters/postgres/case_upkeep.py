"""What is done about cases beside the work: items that have none get some, all are run in turn."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.cases import put_case
from core.adapters.postgres.job_sweep import is_due, try_lock
from core.adapters.postgres.queries import Pool, fetch_all, transaction
from core.domain.models.cases import BareItem, Case


class PostgresCaseUpkeep:
    """The `CaseUpkeep` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def bare(self, after: int, limit: int) -> Sequence[BareItem]:
        rows = await fetch_all(self._pool, "case_upkeep.bare", after=after, limit=limit)
        return [BareItem.model_validate(row) for row in rows]

    async def keep(self, cases: Sequence[Case]) -> None:
        async with transaction(self._pool) as conn:
            for case in cases:
                await put_case(conn, case)

    async def is_due(self, every: float) -> bool:
        async with transaction(self._pool) as conn:
            return await try_lock(conn, "cases") and await is_due(conn, "cases", every)
