"""What an agent should see for a task, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from core.app.program import App
from core.domain.errors import InvalidInput
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Agent, Kind
from core.domain.models.access import Role
from core.domain.models.base import Model, Text
from core.domain.models.context import TaskMatch
from core.domain.models.uses import Use, Way
from core.entrypoints.auth import utc_now
from core.entrypoints.service.owners import agent_in_use, follow_skills
from core.entrypoints.service.session import Session
from core.knowledge.context.rendering import Block, render
from core.knowledge.context.selection import select

SEARCHED_CHARS = 4_000
MOST_CHARS = 100_000
BUDGET = 1_500
LEAST_BUDGET, MOST_BUDGET = 100, 32_000


class ShownItem(Model):
    """An item in a context, as `report_outcome` names it; `is_cut` if a memory is shown in part."""

    id: str
    version: int
    kind: Kind
    name: str
    is_cut: bool = False


class Context(Model):
    """What an agent should see for a task. `text` is a block for its prompt, empty if nothing fits.

    A token is three bytes of UTF-8, rounded up. `left_out` counts what matters too and had no room.
    """

    agent_id: str
    tenant_id: str
    text: str
    tokens: int
    items: tuple[ShownItem, ...]
    left_out: int = 0
    warnings: tuple[Text, ...] = ()


@dataclass(frozen=True)
class ContextService:
    """Raises Forbidden without the role; another agent than a principal's own is NotFound."""

    session: Session
    now: Callable[[], datetime] = utc_now

    async def context(
        self,
        agent_id: str | None,
        task: str,
        *,
        budget_tokens: int = BUDGET,
        user: str | None = None,
        tenant_id: str | None = None,
    ) -> Context:
        """Return what the agent should see for a task: of its first 4,000 characters.

        What is for one end user is seen only with that `user`. What is shown is put on record.
        Raises NotFound; InvalidInput if no agent is named, or for a task over 100,000 characters or
        a budget outside 100 to 32,000 tokens.
        """
        self.session.require(Role.READ, of_agents=True)
        agent = await agent_in_use(self.session, agent_id, tenant_id)
        check(task, budget_tokens)
        warnings: tuple[str, ...] = ()
        if agent.skills:
            warnings = await follow_skills(self.session, agent.tenant_id)
        return await context_of(
            self.session.app, agent, task, budget_tokens, user=user, now=self.now, said=warnings
        )


async def context_of(
    app: App,
    agent: Agent,
    task: str,
    budget_tokens: int,
    *,
    user: str | None,
    now: Callable[[], datetime] = utc_now,
    said: tuple[str, ...] = (),
) -> Context:
    """Return an agent's context for a task, and put on record what it shows."""
    found = await app.stores.task_matches.find(task[:SEARCHED_CHARS], agent, user=user)
    chosen, at = select(task[:SEARCHED_CHARS], found), now()
    ids = [one.id for one in chosen]
    out = await app.uses.left_out(agent.tenant_id, agent.id, ids, at)
    block = render([one for one in chosen if one.id not in out], budget_tokens)
    app.uses.note([_use(agent, one, at) for one in block.shown])
    return _context(agent, block, (*said, *_cut(task)))


def check(task: str, budget_tokens: int) -> None:
    """Raise InvalidInput for a task or a budget that no context is made for."""
    if len(task) > MOST_CHARS:
        raise InvalidInput(
            Message("context.task_long", n=len(task), most=MOST_CHARS),
            hint=Message("context.say_task"),
        )
    if not task.strip():
        raise InvalidInput(Message("context.no_task"), hint=Message("context.say_task"))
    if not LEAST_BUDGET <= budget_tokens <= MOST_BUDGET:
        raise InvalidInput(
            Message("context.budget", n=budget_tokens, least=LEAST_BUDGET, most=MOST_BUDGET)
        )


def _cut(task: str) -> tuple[str, ...]:
    if len(task) <= SEARCHED_CHARS:
        return ()
    return (Message("context.cut", n=len(task), most=SEARCHED_CHARS),)


def _context(agent: Agent, block: Block, warnings: tuple[str, ...]) -> Context:
    return Context(
        agent_id=agent.id,
        tenant_id=agent.tenant_id,
        text=block.text,
        tokens=block.tokens,
        items=tuple(
            ShownItem(
                id=one.id,
                version=one.version,
                kind=one.kind,
                name=one.name,
                is_cut=one.id in block.cut,
            )
            for one in block.shown
        ),
        left_out=block.left_out,
        warnings=warnings,
    )


def _use(agent: Agent, one: TaskMatch, at: datetime) -> Use:
    return Use(
        at=at,
        tenant_id=agent.tenant_id,
        agent_id=agent.id,
        kind=one.kind,
        item_id=one.id,
        version=one.version,
        digest=text_hash(one.content),
        way=Way.SHOWN,
    )
