"""What one agent wrote for the whole tenant stands beside what others learn, on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.adapters.postgres.queries import Pool
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.errors import Stale
from core.domain.models import (
    Agent,
    Kind,
    MemoryRequest,
    NewFeedback,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    Relationship,
    Scope,
    SubmitContext,
)
from core.knowledge.transfer.importer import Imported
from core.knowledge.transfer.lines import FEW
from tests.integration.test_gate_on_postgres import Stores
from tests.support.importing import Line, Place
from tests.support.waiting import AT_LAST

BADGES = "전 사원은 명찰을 답니다"
FORMAL = "모든 에이전트는 고객 이름을 정자로 써야 합니다"
INFORMAL = "고객 이름은 정자로 쓰지 마세요"
ALWAYS = "All agents must answer in formal Korean"
NEVER = "All agents must never answer in formal Korean"
KEYS = iter(range(10_000))


class World(Stores):
    """A tenant of several agents."""

    async def say(self, agent: str, content: str, **given: object) -> Receipt:
        """Submit a memory of an agent."""
        asked = {"operation": "CREATE", "content": content, **given}
        context = SubmitContext(key=f"k{next(KEYS)}", tenant_id="t", agent_id=agent)
        return await self.gate.submit(MemoryRequest.model_validate(asked), context)

    async def known(self) -> list[str]:
        """Return all that is known, oldest first."""
        items = await self.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
        return [item.content for item in reversed(items)]


@pytest.fixture
def world(pool: Pool) -> World:
    return World(pool)


@pytest.mark.parametrize("given", [{}, {"scope": "tenant"}, {"scope": "user", "user": "kim"}])
async def test_what_all_agents_know_is_known_to_each(
    world: World, given: dict[str, object]
) -> None:
    first = await world.say("sc1", BADGES, scope="tenant")
    again = await world.say("sc3", f"{BADGES}.", **given)
    assert (again.status, again.target_id) == (ReceiptStatus.KNOWN, first.target_id)
    assert [hit.excerpt for hit in again.hits] == [BADGES]
    assert await world.known() == [BADGES]


async def test_what_all_know_for_a_while_may_be_told_one_agent_for_good(world: World) -> None:
    end = datetime(2999, 1, 1, tzinfo=UTC)
    first = await world.say("sc1", BADGES, scope="tenant", valid_until=end)
    known = await world.say("sc3", BADGES, valid_until=end)
    assert known.status is ReceiptStatus.KNOWN
    refused = await world.say("sc3", BADGES)
    assert refused.status is ReceiptStatus.REFUSED
    reason = f"{first.target_id} ends, this does not"
    made = await world.say("sc3", BADGES, relationship="EXTENDS", reason=reason)
    assert made.status is ReceiptStatus.APPLIED


@pytest.mark.parametrize(
    ("for_all", "new", "given"),
    [(FORMAL, INFORMAL, {}), (ALWAYS, NEVER, {}), (ALWAYS, NEVER, {"scope": "tenant"})],
)
async def test_what_contradicts_the_tenants_is_shown_and_told(
    world: World, for_all: str, new: str, given: dict[str, object]
) -> None:
    first = await world.say("sc1", for_all, scope="tenant")
    refused = await world.say("sc3", new, reason="r", **given)
    assert refused.status is ReceiptStatus.REFUSED
    (hit,) = refused.hits
    assert (hit.id, hit.agent_id) == (first.target_id, "sc1")
    assert "only agent sc1 changes it" in refused.message
    reason = f"against {hit.id}"
    made = await world.say("sc3", new, relationship="CONFLICTS", reason=reason, **given)
    assert made.status is ReceiptStatus.APPLIED
    (warning,) = made.warnings
    assert f"{hit.id} {for_all!r} of agent sc1, which is for the whole tenant" in warning
    assert "negation" in warning
    assert await world.known() == [for_all, new]


@pytest.mark.parametrize("operation", [Operation.UPDATE, Operation.DELETE])
async def test_one_who_may_not_change_the_tenants_is_told_what_to_do(
    world: World, operation: Operation
) -> None:
    first = await world.say("sc1", FORMAL, scope="tenant")
    asked = {"operation": operation, "target_id": first.target_id}
    refused = await world.say("sc2", INFORMAL, **asked)
    assert refused.status is ReceiptStatus.REFUSED
    assert "belongs to agent sc1" in refused.message
    assert "CREATE what was said, with relationship CONFLICTS" in refused.message


@pytest.mark.parametrize("relationship", [None, Relationship.DUPLICATE])
async def test_no_near_one_is_added_beside_the_tenants_without_a_word(
    world: World, relationship: Relationship | None
) -> None:
    await world.say("sc1", FORMAL, scope="tenant")
    said = await world.say("sc2", INFORMAL, relationship=relationship, reason="r")
    assert said.status is ReceiptStatus.REFUSED


async def test_one_for_all_is_told_beside_what_other_agents_keep(world: World) -> None:
    own = await world.say("sc2", INFORMAL)
    made = await world.say("sc1", FORMAL, scope="tenant")
    assert made.status is ReceiptStatus.APPLIED
    (warning,) = made.warnings
    assert f"{own.target_id} {INFORMAL!r} of agent sc2 (" in warning
    same = await world.say("sc1", INFORMAL, scope="tenant", relationship="UNRELATED", reason="r")
    assert any(f"{own.target_id} " in warning for warning in same.warnings)


async def test_a_users_words_are_not_compared_with_those_of_others(world: World) -> None:
    await world.say("sc2", INFORMAL, scope="user", user="kim")
    for_all = await world.say("sc1", INFORMAL, scope="tenant")
    assert (for_all.status, for_all.warnings) == (ReceiptStatus.APPLIED, ())


async def test_what_an_agent_keeps_is_no_other_agents_matter(world: World) -> None:
    await world.say("sc1", FORMAL)
    made = await world.say("sc2", INFORMAL)
    assert (made.status, made.warnings) == (ReceiptStatus.APPLIED, ())


async def test_one_thing_taught_for_all_by_many_at_once_is_known_once(world: World) -> None:
    receipts = await asyncio.gather(
        *(world.say(f"a{n}", BADGES, scope="tenant") for n in range(4)),
        *(world.say(f"b{n}", f"문서는 {n}층에 둡니다") for n in range(4)),
    )
    told = [receipt.status for receipt in receipts]
    assert sorted(told[:4]) == ["applied", *["known"] * 3]
    assert set(told[4:]) == {ReceiptStatus.APPLIED}


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = load_settings({"skill_worker_home": tmp_path}, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )
    async with open_app(settings, model=True, offline=True) as opened:
        for name in ("sc1", "sc2", "sc3"):
            await opened.stores.agents.save(Agent(id=name, tenant_id="t", name=name))
        yield opened


async def told(app: App, agent: str, content: str) -> str:
    """Have the worker learn a piece of feedback, and return how it ended."""
    piece = NewFeedback(tenant_id="t", agent_ids=(agent,), content=content)
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    await asyncio.wait_for(app.run(True, 1, asyncio.Event(), lambda _: None), AT_LAST)
    return (await app.stores.inbox.get(feedback_id)).status


async def test_the_stand_in_learns_beside_what_another_agent_wrote_for_all(app: App) -> None:
    asked = MemoryRequest(operation=Operation.CREATE, content=FORMAL, scope=Scope.TENANT)
    context = SubmitContext(key="k", tenant_id="t", agent_id="sc1", origin=Origin.PERSON)
    first = await app.gate.submit(asked, context)
    assert first.status is ReceiptStatus.APPLIED
    assert await told(app, "sc2", INFORMAL) == "completed"
    assert await told(app, "sc3", FORMAL) in {"completed", "no_action"}
    items = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    assert [(item.agent_id, item.relationship) for item in items] == [
        ("sc2", Relationship.CONFLICTS),
        ("sc1", None),
    ]


async def test_of_two_that_wait_with_one_thing_for_all_one_is_applied(app: App) -> None:
    waiting = []
    for name in ("sc1", "sc3"):
        asked = MemoryRequest(operation=Operation.CREATE, content=BADGES, scope=Scope.TENANT)
        context = SubmitContext(key=name, tenant_id="t", agent_id=name)
        held = await app.gate.submit(asked, context)
        assert held.status is ReceiptStatus.HELD
        waiting.append(held.change_id or "")
    first, second = waiting
    await app.gate.decisions.approve(first, by="kim")
    with pytest.raises(Stale):
        await app.gate.decisions.approve(second, by="kim")
    items = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    assert [item.content for item in items] == [BADGES]


@pytest.mark.parametrize("others", [0, FEW])
async def test_lines_of_an_import_stand_beside_what_is_for_all(app: App, others: int) -> None:
    place = Place(app)

    def line(agent: str, content: str, **more: str) -> Line:
        return {"kind": "MEMORY", "tenant_id": "t", "agent_id": agent, "content": content, **more}

    async def taken(*lines: Line) -> list[Imported]:
        more = [line("sc2", f"창고 {n}동은 {n * 7}번지입니다", id=f"w{n}") for n in range(others)]
        found = await place.take(*lines, *more)
        done = [one for one in found if isinstance(one, Imported)]
        assert len(done) == len(found)
        return done[: len(lines)]

    await taken(line("sc1", FORMAL, id="formal", scope="tenant"), line("sc2", "x", id="own"))
    known, against = await taken(line("sc2", FORMAL), line("sc2", INFORMAL, id="informal"))
    assert (known.outcome, known.id) == ("known", "formal")
    assert against.outcome == "created"
    assert any("formal" in one and "of agent sc1" in one for one in against.warnings)
    (for_all,) = await taken(line("sc3", "고객 이름은 절대 정자로 쓰지 마세요", scope="tenant"))
    assert any("informal" in one and "of agent sc2" in one for one in for_all.warnings)
