"""What agents use, over HTTP: recall, decide, open a skill, say what came of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue

from core.domain.models.base import Model
from core.domain.models.uses import UsedItem
from core.entrypoints.api.paging import SEEN, Name
from core.entrypoints.api.sessions import SessionDep
from core.entrypoints.service.agent_items import Decision, LoadedFile, OutcomeTaken, Recollection
from core.entrypoints.service.agent_knowledge import (
    MOST_HITS,
    MOST_NOTE,
    MOST_QUERY,
    MOST_USED,
    AgentKnowledge,
)

router = APIRouter(tags=["use"])


class OfAgent(Model):
    """Who asks. A token that is an agent's own need not say it."""

    agent: Name | None = Field(
        default=None, description="The agent that uses what it knows; not for an agent's own token."
    )
    tenant_id: Name | None = Field(
        default=None, description="Whose agent; without it, the token's tenant."
    )


class Recalling(OfAgent):
    """What is looked for among an agent's memories."""

    query: str = Field(min_length=1, max_length=MOST_QUERY, description="What to look for.")
    limit: int = Field(default=5, ge=1, le=MOST_HITS, description="Most memories.")
    user: Name | None = Field(default=None, description="Also what is for this end user.")


class Deciding(OfAgent):
    """A case: a JSON value for each input column of the table."""

    inputs: dict[str, JsonValue]


class Loading(OfAgent):
    """A file of a skill."""

    name: Name
    path: Name | None = Field(default=None, description="The file; without it SKILL.md.")


class Outcome(OfAgent):
    """How a task ended, and what was used in it."""

    used: tuple[UsedItem, ...] = Field(max_length=MOST_USED, description="What was used, if any.")
    success: bool
    note: str | None = Field(default=None, max_length=MOST_NOTE, description="What went wrong.")


TableName = Annotated[
    str,
    Path(min_length=1, max_length=200, pattern=SEEN, description="Name or id of the table."),
]


@router.post("/memories/search")
async def search_memories(asked: Recalling, session: SessionDep) -> Recollection:
    """Search an agent's memories that hold now, best first; each is whole."""
    knowledge = AgentKnowledge(session, asked.tenant_id)
    return await knowledge.search_memories(asked.agent, asked.query, asked.limit, asked.user)


@router.post("/decisions/{name:path}/evaluate")
async def evaluate_decision(name: TableName, case: Deciding, session: SessionDep) -> Decision:
    """Decide a case by one of an agent's tables; inputs that are missing are named."""
    knowledge = AgentKnowledge(session, case.tenant_id)
    return await knowledge.evaluate_decision(case.agent, name, case.inputs)


@router.post("/skills/load")
async def load_skill(wanted: Loading, session: SessionDep) -> LoadedFile:
    """Open a skill on an agent's list: one of its files, and which there are."""
    knowledge = AgentKnowledge(session, wanted.tenant_id)
    return await knowledge.load_skill(wanted.agent, wanted.name, wanted.path)


@router.post("/outcomes")
async def report_outcome(outcome: Outcome, session: SessionDep) -> OutcomeTaken:
    """Say how a task ended; an item that is gone or another agent's is refused, the rest counts."""
    knowledge = AgentKnowledge(session, outcome.tenant_id)
    return await knowledge.report_outcome(
        outcome.agent, outcome.used, outcome.success, outcome.note
    )
