"""Determine the owner of a line: its own agents and tenant, or those set for all (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.domain.errors import InvalidInput
from core.domain.input_formats.knowledge import KnowledgeEntry
from core.domain.messages import Message
from core.domain.models import Kind
from core.domain.models.feedback import refuse_reserved


@dataclass(frozen=True)
class Owner:
    """A tenant, the agent that gets the item ("" for a skill without one), and further agents."""

    tenant_id: str
    agent_id: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Owners:
    """Determine owners; `agent_id` and `tenant_id`, if set, override those of the lines.

    `tenants` are those that have an agent of an id.
    """

    tenants: Mapping[str, Collection[str]]
    tenant_id: str | None = None
    agent_id: str | None = None

    def of(self, entry: KnowledgeEntry) -> Owner:
        """Return the owner of a line. Raises InvalidInput if it is missing or unknown."""
        agent_id = self.agent_id or entry.agent_id
        others = () if self.agent_id else entry.other_agent_ids
        if agent_id is None:
            return self._nobodys(entry, others)
        tenant_id = self.tenant_id or (None if self.agent_id else entry.tenant_id)
        tenant_id = tenant_id or self._only_tenant(agent_id)
        for name in (agent_id, *others):
            if tenant_id not in self._tenants(name):
                raise InvalidInput(Message("agents.not_of_tenant", agent=name, tenant=tenant_id))
        return Owner(tenant_id, agent_id, tuple(name for name in others if name != agent_id))

    def _nobodys(self, entry: KnowledgeEntry, others: tuple[str, ...]) -> Owner:
        """Return the owner of a skill that belongs to its tenant alone."""
        tenant_id = self.tenant_id or entry.tenant_id
        if entry.kind is not Kind.SKILL or others:
            raise InvalidInput(Message("import.no_agent"))
        if tenant_id is None:
            raise InvalidInput(Message("import.no_tenant"))
        return Owner(tenant_id, "")

    def _only_tenant(self, agent_id: str) -> str:
        tenants = sorted(self._tenants(agent_id))
        if len(tenants) > 1:
            raise InvalidInput(
                Message("agents.of_several", id=agent_id, tenants=", ".join(map(repr, tenants))),
                hint=Message("import.hint_owner"),
            )
        return tenants[0]

    def _tenants(self, agent_id: str) -> Collection[str]:
        refuse_reserved(agent_id)
        tenants = self.tenants.get(agent_id)
        if tenants is None:
            raise InvalidInput(Message("no.agent", id=agent_id), hint=Message("import.hint_agent"))
        return tenants
