"""What an agent knows, for files: all of it, why it is so, and what people changed in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from core.delivery.files.edits import Edit
from core.delivery.files.knowing import Known, known_to
from core.delivery.files.outline import Key
from core.delivery.files.sync import Cause
from core.domain.models import Agent, ChangeFilter, ChangeStatus, Kind, Operation
from core.domain.models.access import Role
from core.entrypoints.service.feedback import FeedbackService, Taken
from core.entrypoints.service.session import Session

_TASK = "The agent's knowledge, in the files of a coding tool"


@dataclass(frozen=True)
class AgentFiles:
    """One agent's knowledge; `user` is the end user whose own knowledge is in the files too.

    Raises Forbidden without the role.
    """

    session: Session
    agent: Agent
    user: str | None = None

    async def known(self) -> Known:
        """Return all that the agent knows now. Raises NotFound, DependencyDown."""
        self.session.require(Role.READ)
        stores = self.session.stores
        return await known_to(stores.agents, stores.knowledge, stores.skills, self.agent, self.user)

    async def cause_of(self, key: Key) -> Cause | None:
        """Return the last change of an item, or of the agent's list if that took a skill off it."""
        self.session.require(Role.READ)
        tenant = self.agent.tenant_id
        made = await self.session.stores.lineage.made(
            key.kind, tenant, key.id, limit=1, max_bytes=0
        )
        by = made[-1].by if made else None
        is_gone = made and made[-1].operation is Operation.DELETE
        if key.kind is Kind.SKILL and not is_gone and key.id not in await self._listed():
            return await self._taken_off()
        if by is None:
            return None
        return Cause(by.change_id, by.feedback_id, made[-1].valid_from)

    async def feed_back(self, edits: Sequence[Edit]) -> Sequence[tuple[str, Taken]]:
        """Take in what edits by hand say, each thing once; return their paths and the pieces.

        Raises InvalidInput, DependencyDown.
        """
        service, taken = FeedbackService(self.session), []
        for edit in edits:
            for text in edit.said:
                whose = f"{self.agent.tenant_id}\0{self.agent.id}\0{edit.path}\0{text}"
                entry = {
                    "id": f"file-{sha256(whose.encode()).hexdigest()[:32]}",
                    "agent_ids": [self.agent.id],
                    "content": text,
                    "task": _TASK,
                    "author": self.session.principal.name,
                }
                (piece,) = await service.add([entry], self.agent.tenant_id)
                taken.append((edit.path, piece))
        return taken

    async def _listed(self) -> Sequence[str]:
        return (await self.session.stores.agents.get(self.agent.tenant_id, self.agent.id)).skills

    async def _taken_off(self) -> Cause | None:
        wanted = ChangeFilter(
            statuses=(ChangeStatus.APPLIED,),
            tenant_id=self.agent.tenant_id,
            kind=Kind.AGENT_SKILLS,
            target_id=self.agent.id,
        )
        found, _ = await self.session.stores.reader.changes(wanted, limit=1, cursor=None)
        return Cause(found[0].id, found[0].feedback_id) if found else None
