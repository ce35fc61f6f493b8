"""Installed skills in PostgreSQL: read from the changes that installed them."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.queries import Pool, fetch_all
from core.domain.models.installed import InstalledSkill


class PostgresInstalledSkills:
    """The `InstalledSkills` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def list(self, tenant_id: str, name: str | None = None) -> Sequence[InstalledSkill]:
        rows = await fetch_all(self._pool, "installed.of_tenant", tenant_id=tenant_id, name=name)
        return [InstalledSkill.model_validate(row) for row in rows]
