"""Cases in figures, read from PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.adapters.postgres.queries import Pool, fetch_all
from core.domain.models.case_figures import CaseWeek
from core.domain.models.cases import CaseCounts, CaseFilter


class PostgresCaseFigures:
    """The `CaseFigures` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def totals(self, wanted: CaseFilter) -> CaseCounts:
        given = wanted.model_dump(exclude={"status"})
        (row,) = await fetch_all(self._pool, "case_figures.totals", **given)
        return CaseCounts.model_validate(row)

    async def weeks(self, wanted: CaseFilter, *, until: datetime, weeks: int) -> Sequence[CaseWeek]:
        whose = wanted.picked("tenant_id", "agent_id", "kind")
        rows = await fetch_all(self._pool, "case_figures.weeks", **whose, until=until, weeks=weeks)
        return [CaseWeek.model_validate(row) for row in rows]
