"""The offline stand-in learns what it was told: each story through the worker."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.agent_setup import setup_feedback
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.decision_table import parse_xml
from core.domain.models import SETUP, Agent, Kind, KnowledgeItem, NewFeedback, SubmitContext
from core.entrypoints.demo.scenario import load_scenario
from tests.support.databases import fresh_database
from tests.support.offline_stories import GOALS, STORIES
from tests.support.waiting import AT_LAST

PARTIAL_REFUND = next(
    known.request for known in load_scenario().known if known.request.kind is Kind.SKILL
)


@pytest.fixture(scope="module")
def known(server: str, template: str) -> dict[str, list[str]]:
    """What is known at the end of each story, all of which one worker processes step by step."""

    async def run(database: str, home: Path) -> dict[str, list[str]]:
        settings = load_settings({"skill_worker_home": home}, env_file=None).model_copy(
            update={"database_url": SecretStr(database)}
        )
        async with open_app(settings, model=True, offline=True) as app:
            return await tell(app)

    with fresh_database(server, template) as database, tempfile.TemporaryDirectory() as home:
        return asyncio.run(run(database, Path(home)))


async def tell(app: App) -> dict[str, list[str]]:
    for name in STORIES:
        await app.stores.agents.save(Agent(id=name, tenant_id=name, name="A"))
        context = SubmitContext(key=name, tenant_id=name, agent_id=name)
        await app.gate.submit(PARTIAL_REFUND, context)
    goals = [Agent(id=name, tenant_id=name, name="A", goal=GOALS[name][0]) for name in GOALS]
    for agent in goals:
        await app.stores.agents.save(agent)
    await app.stores.inbox.add(SETUP, [setup_feedback(agent) for agent in goals])
    for turn in range(max(len(told) for told, _ in STORIES.values())):
        told = [
            NewFeedback(tenant_id=name, agent_ids=(name,), content=told[turn])
            for name, (told, _) in STORIES.items()
            if turn < len(told)
        ]
        await app.stores.inbox.add("stories", told)
        await asyncio.wait_for(app.run(True, 4, asyncio.Event(), lambda _: None), AT_LAST)
    items = {
        name: await app.stores.knowledge.list(tenant_id=name, agent_id=None, kind=None)
        for name in [*STORIES, *GOALS]
    }
    return {name: [line for item in items[name] for line in _lines(item)] for name in items}


def _lines(item: KnowledgeItem) -> Iterator[str]:
    if item.kind is Kind.DMN_RULE:
        for row in parse_xml(item.content).rows:
            yield f"{row.inputs[0]}: {str(row.outputs[0]).strip(chr(34))}"
    else:
        yield item.content if item.kind is Kind.MEMORY else f"SKILL {item.name}"


@pytest.mark.parametrize("story", STORIES)
def test_what_is_told_is_known(story: str, known: dict[str, list[str]]) -> None:
    assert sorted(known[story]) == sorted(STORIES[story][1])


@pytest.mark.parametrize("goal", GOALS)
def test_each_sentence_of_a_goal_goes_to_its_own_kind(
    goal: str, known: dict[str, list[str]]
) -> None:
    kinds = sorted(
        "SKILL" if line.startswith("SKILL") else "DMN_RULE" if line.startswith("> ") else "MEMORY"
        for line in known[goal]
    )
    assert tuple(kinds) == GOALS[goal][1], known[goal]
