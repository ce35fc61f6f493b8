"""The demo's agents, knowledge and feedback, as data."""

from __future__ import annotations

from importlib.resources import files

import yaml
from pydantic import TypeAdapter

from core.domain.models import Agent, ChangeRequest, NewFeedback
from core.domain.models.base import Model


class KnownItem(Model):
    """Something an agent knows before the first feedback arrives."""

    agent: str
    request: ChangeRequest


class Piece(Model):
    """One piece of feedback, and what the offline stand-in makes of it, agent by agent."""

    agents: tuple[str, ...]
    task: str
    author: str
    content: str
    expected: tuple[str, ...]


class Newcomer(Model):
    """An agent of the demo's tenant."""

    id: str
    name: str
    role: str
    goal: str


class Scenario(Model):
    """Everything the demo starts with, in the order it is stored."""

    tenant: str
    agents: tuple[Newcomer, ...]
    known: tuple[KnownItem, ...]
    feedback: tuple[Piece, ...]

    def make_agents(self) -> list[Agent]:
        """Return the agents as the store takes them."""
        return [Agent(tenant_id=self.tenant, **agent.model_dump()) for agent in self.agents]

    def make_feedback(self) -> list[NewFeedback]:
        """Return the feedback as the inbox takes it; ids count from 01."""
        return [
            NewFeedback(
                id=f"{number:02}",
                tenant_id=self.tenant,
                agent_ids=piece.agents,
                task=piece.task,
                content=piece.content,
                author=piece.author,
            )
            for number, piece in enumerate(self.feedback, 1)
        ]


def load_scenario() -> Scenario:
    """Read the scenario that ships with the package."""
    text = files("core.entrypoints.demo").joinpath("scenario.yaml").read_text(encoding="utf-8")
    return TypeAdapter(Scenario).validate_python(yaml.safe_load(text))
