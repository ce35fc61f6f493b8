"""Initial knowledge from goal and persona: through the whole worker, once, from what is stated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.agent_setup import set_up_new_agents, setup_feedback
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import (
    SETUP,
    Agent,
    Feedback,
    FeedbackFilter,
    FeedbackStatus,
    HistoryFilter,
    Kind,
    NewFeedback,
)

GOAL = """고객의 환불을 정확하고 빠르게 처리한다.
환불 금액이 50만원을 넘으면 팀장 승인을 받아야 합니다.
고객은 금액을 원 단위로 보기를 원합니다.
부분 환불은 먼저 주문을 확인하고, 다음에 수수료를 계산하고, 마지막으로 고객에게 알립니다."""
DESK = Agent(id="desk", tenant_id="t", name="환불 담당", role="환불 처리", goal=GOAL)
SHOP = Agent(
    id="shop",
    tenant_id="t",
    name="Shop",
    goal="Orders over 1,000,000 KRW need a manager's approval.\n\nSell more.",
    persona="Ms. Kim prefers short answers.",
)
AIMLESS = Agent(id="aimless", tenant_id="t", name="A", goal="Every order is complete.")


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    given = {"skill_worker_home": tmp_path, "setup_new_agents": True}
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    quiet = settings.model_copy(update={"setup_new_agents": False})
    async with open_app(quiet, model=True, offline=True) as opened:
        yield opened


async def work(app: App) -> None:
    await app.run(True, 2, asyncio.Event(), lambda _: None)


async def pieces(app: App) -> list[Feedback]:
    found, _ = await app.stores.reader.feedback(FeedbackFilter(), limit=50, cursor=None)
    return [piece for piece in found if piece.source == SETUP]


async def set_up(app: App, agent: Agent) -> Feedback:
    await app.stores.agents.save(agent)
    ((feedback_id, _),) = await app.stores.inbox.add(SETUP, [setup_feedback(agent)])
    await work(app)
    return await app.stores.inbox.get(feedback_id)


async def kinds(app: App, agent_id: str) -> list[str]:
    items = await app.stores.knowledge.list(tenant_id=None, agent_id=agent_id, kind=None)
    return sorted(item.kind.value for item in items)


async def test_a_goal_becomes_a_memory_a_rule_and_a_skill(app: App) -> None:
    feedback = await set_up(app, DESK)
    assert feedback.status is FeedbackStatus.COMPLETED
    assert await kinds(app, "desk") == ["DMN_RULE", "MEMORY", "SKILL"]
    (memory,) = await app.stores.knowledge.list(tenant_id="t", agent_id="desk", kind=Kind.MEMORY)
    assert memory.content == "고객은 금액을 원 단위로 보기를 원합니다."
    (name,) = (await app.stores.agents.get("t", "desk")).skills
    bundle = await app.stores.skills.read(name, "t")
    assert bundle is not None
    assert "수수료를 계산하고" in bundle.document
    assert "팀장 승인" not in bundle.document
    history, _ = await app.stores.reader.history(
        HistoryFilter(feedback_id=feedback.id), limit=9, cursor=None
    )
    assert len(history) == 3
    assert {GOAL in record.feedback_content for record in history} == {True}


async def test_persona_counts_too_and_what_only_says_the_purpose_does_not(app: App) -> None:
    await set_up(app, SHOP)
    items = await app.stores.knowledge.list(tenant_id="t", agent_id="shop", kind=None)
    assert sorted(item.kind.value for item in items) == ["DMN_RULE", "MEMORY"]
    assert "Ms. Kim prefers short answers." in {item.content for item in items}


async def test_a_goal_that_states_nothing_teaches_nothing(app: App) -> None:
    feedback = await set_up(app, AIMLESS)
    assert feedback.status is FeedbackStatus.NO_ACTION
    (candidate,) = await app.stores.runs.candidates(feedback.id)
    assert candidate.verdict is not None
    assert candidate.verdict.receipts[0].category == "unclear"
    assert await kinds(app, "aimless") == []


async def test_asking_again_adds_nothing_that_is_known(app: App) -> None:
    await set_up(app, SHOP)
    before = await app.stores.knowledge.list(tenant_id="t", agent_id="shop", kind=None)
    await app.stores.inbox.add(SETUP, [setup_feedback(SHOP, again="2")])
    await work(app)
    assert len(await pieces(app)) == 2
    assert await app.stores.knowledge.list(tenant_id="t", agent_id="shop", kind=None) == before


async def test_new_agents_are_set_up_once_by_however_many_workers(settings: Settings) -> None:
    async with (
        open_app(settings, model=True, offline=True) as one,
        open_app(settings, model=True, offline=True) as two,
    ):
        await asyncio.gather(
            *(app.stores.agents.save(a) for app in (one, two) for a in (SHOP, DESK))
        )
        begun = await asyncio.gather(
            *(set_up_new_agents(app.stores.agents, app.stores.inbox) for app in (one, two))
        )
        assert sum(begun) == 2
        await asyncio.gather(work(one), work(two))
        assert [piece.status for piece in await pieces(one)] == [FeedbackStatus.COMPLETED] * 2
        await one.stores.agents.save(SHOP)
        await work(one)
        assert len(await pieces(one)) == 2


async def test_a_worker_begins_what_a_dead_one_left(settings: Settings) -> None:
    async with open_app(settings) as dead:
        await dead.stores.agents.save(SHOP)
        assert await pieces(dead) == []
    async with open_app(settings, model=True, offline=True) as app:
        await work(app)
        assert await kinds(app, "shop") == ["DMN_RULE", "MEMORY"]


async def test_agents_without_the_setting_are_left_alone(app: App) -> None:
    await app.stores.agents.save(SHOP)
    piece = NewFeedback(tenant_id="t", agent_ids=("shop",), content="고마워요!")
    await app.stores.inbox.add("test", [piece])
    await work(app)
    assert await pieces(app) == []


async def test_a_goal_that_changes_while_two_workers_look_is_asked_about_once(
    settings: Settings,
) -> None:
    async with open_app(settings) as one, open_app(settings) as two:
        await one.stores.agents.save(SHOP)
        (seen,) = await one.stores.agents.awaiting_setup(9)
        await two.stores.agents.save(SHOP.model_copy(update={"goal": "Sell less."}))
        assert await set_up_new_agents(two.stores.agents, two.stores.inbox) == 1
        assert await one.stores.inbox.add_first(SETUP, setup_feedback(seen), seen) is False
        (piece,) = await pieces(one)
        assert "Sell less." in piece.content


async def test_many_workers_beside_goals_that_change_ask_once_about_each_agent(
    settings: Settings,
) -> None:
    async with open_app(settings) as app, open_app(settings) as other:
        many = [SHOP.model_copy(update={"id": f"shop{number}"}) for number in range(12)]
        changed = [agent.model_copy(update={"goal": f"{agent.id} sells."}) for agent in many]
        for agent in many:
            await app.stores.agents.save(agent)
        begun, _ = await asyncio.gather(
            asyncio.gather(
                *(
                    set_up_new_agents(each.stores.agents, each.stores.inbox)
                    for each in (app, other) * 3
                )
            ),
            asyncio.gather(*map(other.stores.agents.save, changed)),
        )
        assert sum(begun) == len(many)
        assert sorted(piece.agent_ids for piece in await pieces(app)) == sorted(
            (agent.id,) for agent in many
        )
