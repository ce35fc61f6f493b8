"""What an agent should see for a task, over HTTP."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from core.domain.models.base import Model
from core.entrypoints.api.paging import Name
from core.entrypoints.api.sessions import ContextServiceDep
from core.entrypoints.service.context import (
    BUDGET,
    LEAST_BUDGET,
    MOST_BUDGET,
    MOST_CHARS,
    Context,
)

router = APIRouter(tags=["use"])


class Task(Model):
    """What an agent is about to do."""

    agent: Name | None = Field(
        default=None, description="The agent that is to do it; not for an agent's own token."
    )
    tenant_id: Name | None = Field(
        default=None, description="Whose agent; without it, the token's tenant."
    )
    task: str = Field(
        min_length=1,
        max_length=MOST_CHARS,
        description="In the words of whoever asks; the first 4,000 characters are searched.",
    )
    budget_tokens: int = Field(
        default=BUDGET,
        ge=LEAST_BUDGET,
        le=MOST_BUDGET,
        description="The block has at most as many; a token is three bytes of UTF-8, rounded up.",
    )
    user: Name | None = Field(default=None, description="Also what is for this end user.")


@router.post("/context")
async def give_context(task: Task, service: ContextServiceDep) -> Context:
    """What an agent should see for a task, as a block for its prompt; empty if nothing fits."""
    return await service.context(
        task.agent,
        task.task,
        budget_tokens=task.budget_tokens,
        user=task.user,
        tenant_id=task.tenant_id,
    )
