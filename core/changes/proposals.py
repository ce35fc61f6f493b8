"""Carry out what a person accepted of a proposal: through the gate, or as feedback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from core.changes.skill_lists import SkillLists
from core.domain.errors import Decided, Refused
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    Kind,
    KnowledgeItem,
    ListEdit,
    NewFeedback,
    Operation,
    Origin,
    Receipt,
    RestoreRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.effect import Action, Proposal, ProposalStatus
from core.domain.ports import Agents, Effects, Gate, Inbox, Knowledge

SOURCE = "effect"


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """Decisions about proposals. What is archived leaves the agent, and can be brought back.

    To archive a memory or a table is to delete it with a reason of its own: its versions stay, and
    `knowledge restore` or a revert brings it back. A skill leaves the agent's list; its folder
    stays. Lists show as archived what nothing else has become of since.
    """

    effects: Effects
    knowledge: Knowledge
    agents: Agents
    skill_lists: SkillLists
    inbox: Inbox
    gate: Gate
    now: Callable[[], datetime]

    async def accept(self, proposal: Proposal, by: str) -> tuple[Proposal, Receipt | None]:
        """Do what is proposed; a receipt says what came of a change, which may wait for a person.

        A rewrite has none yet: it is asked for as feedback. Raises Decided, NotFound, Refused.
        """
        self._see_waiting(proposal)
        if proposal.action is Action.REWRITE:
            return await self._decided(
                proposal, by, ProposalStatus.ACCEPTED, feedback_id=await self._ask(proposal)
            ), None
        receipt = await self._archive(proposal, by)
        if not receipt.status.is_outcome:
            raise Refused(receipt.message)
        done = ProposalStatus.ACCEPTED
        return await self._decided(proposal, by, done, change_id=receipt.change_id), receipt

    async def dismiss(self, proposal: Proposal, by: str) -> Proposal:
        """Leave the item as it is. Raises Decided."""
        self._see_waiting(proposal)
        return await self._decided(proposal, by, ProposalStatus.DISMISSED)

    def _see_waiting(self, proposal: Proposal) -> None:
        if proposal.status is not ProposalStatus.WAITING:
            raise Decided(Message("effect.decided", id=proposal.id, status=proposal.status))

    async def _decided(
        self, proposal: Proposal, by: str, status: ProposalStatus, **done: str | None
    ) -> Proposal:
        update = {"status": status, "decided_at": self.now(), "decided_by": by, **done}
        decided = proposal.model_copy(update=update)
        if not await self.effects.decide(decided):
            self._see_waiting(await self.effects.proposal(proposal.id))
        return decided

    async def _archive(self, proposal: Proposal, by: str) -> Receipt:
        if proposal.kind is Kind.SKILL:
            agent = await self.agents.get(proposal.tenant_id, proposal.agent_id)
            names, why = [proposal.item_id], Message("effect.archived_skill", name=by)
            return await self.skill_lists.edit(agent, ListEdit.REMOVE, names, reason=why)
        key = (proposal.kind, proposal.tenant_id, proposal.item_id)
        item = await self.knowledge.get(*key)
        request = RestoreRequest(
            operation=Operation.DELETE,
            target_kind=item.kind,
            target_id=item.id,
            state=None,
            expected_hash=_hash(item),
            reason=Message("effect.archived", name=by),
        )
        context = SubmitContext(
            key=f"archive:{proposal.id}",
            tenant_id=item.tenant_id,
            agent_id=item.agent_id,
            origin=Origin.PERSON,
        )
        return await self.gate.submit(request, context)

    async def _ask(self, proposal: Proposal) -> str:
        """Ask for a rewrite in reply to the last complaint, which the run reads by itself."""
        content = Message(
            "effect.rewrite", kind=proposal.kind, name=proposal.name, id=proposal.item_id
        )
        piece = NewFeedback(
            id=proposal.id,
            tenant_id=proposal.tenant_id,
            agent_ids=(proposal.agent_id,),
            content=content,
            in_reply_to=proposal.last_id,
        )
        ((feedback_id, _),) = await self.inbox.add(SOURCE, [piece])
        return feedback_id


def _hash(item: KnowledgeItem) -> str:
    return state_hash(Snapshot(content=item.content, name=item.name, reach=item.reach))
