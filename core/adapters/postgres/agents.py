"""Agents and their lists of skills, stored as rows."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import Agent
from core.domain.models.feedback import refuse_reserved
from core.domain.tasks import over_all_tenants
from core.safety.masking import mask

_SAID = {"name", "role", "goal", "persona"}


class PostgresAgents:
    """The `Agents` port. With `sets_up_new`, new agents await their setup.

    Secrets in what is said of an agent are masked, unless `keeps_raw`.
    """

    def __init__(self, pool: Pool, *, sets_up_new: bool = False, keeps_raw: bool = False) -> None:
        self._pool = pool
        self._keeps_raw = keeps_raw
        self._sets_up_new = sets_up_new

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        refuse_reserved(agent_id)
        row = await fetch_one(self._pool, "agents.get", tenant_id=tenant_id, id=agent_id)
        if row is None:
            raise NotFound(
                Message("no.agent_of_tenant", tenant=tenant_id, agent=agent_id),
                hint=Message("see.agents"),
            )
        return _agent(row)

    async def of_id(self, agent_id: str) -> Sequence[Agent]:
        refuse_reserved(agent_id)
        return [_agent(row) for row in await fetch_all(self._pool, "agents.of_id", id=agent_id)]

    async def having(self, tenant_id: str, skill: str) -> Sequence[Agent]:
        rows = await fetch_all(self._pool, "agents.having", tenant_id=tenant_id, name=skill)
        return [_agent(row) for row in rows]

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        rows = await fetch_all(self._pool, "agents.list", tenant_id=tenant_id)
        return [_agent(row) for row in rows]

    async def save(self, agent: Agent) -> bool:
        refuse_reserved(agent.id)
        if not self._keeps_raw:
            said = agent.model_dump(include=_SAID)
            agent = agent.model_copy(update={name: mask(said[name]).text for name in _SAID})
        with over_all_tenants():  # whether its id is the first of all tenants counts as well
            row = await fetch_one(
                self._pool,
                "agents.save",
                **agent.model_dump(exclude={"skills"}),
                skills=list(agent.skills),
                sets_up_new=self._sets_up_new,
            )
        assert row is not None
        return bool(row["is_new"])

    async def awaiting_setup(self, limit: int) -> Sequence[Agent]:
        rows = await fetch_all(self._pool, "agents.awaiting_setup", limit=limit)
        return [_agent(row) for row in rows]

    async def setup_begun(self, tenant_id: str, agent_id: str) -> None:
        await execute(self._pool, "agents.setup_begun", tenant_id=tenant_id, id=agent_id)


def _agent(row: DictRow) -> Agent:
    return Agent.model_validate(dict(row))
