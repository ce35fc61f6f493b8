"""Rows of the platform, from claim to outcome: every item is processed once, as the row shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.domain.errors import SourceDown
from core.domain.models import FeedbackStatus, Outcome
from core.polling_manager import SourcePoller, fetch_feedback_task
from core.testing.intake import MemoryIntake
from tests.support.list_source import ListSource
from tests.support.postgrest_server import COLUMNS, Row
from tests.support.supabase import AGENT, START, TENANT, Supabase, supabase

DONE = Outcome(status=FeedbackStatus.COMPLETED)
FAILED = Outcome(status=FeedbackStatus.FAILED, error="it broke")


@pytest.fixture
async def world() -> AsyncIterator[Supabase]:
    async with supabase() as opened:
        yield opened


async def test_every_item_comes_oldest_first_with_author_agents_and_task(world: Supabase) -> None:
    first, second = world.item("금액은 원화로", "kim"), world.item("소수점 없이", "lee")
    world.todo("r1", [second, first])
    assert await world.fetch() == 2
    pieces = list(world.inbox.feedback.values())
    assert [(p.content, p.author) for p in pieces] == [
        ("금액은 원화로", "kim"),
        ("소수점 없이", "lee"),
    ]
    assert {(p.source, p.tenant_id, p.agent_ids, p.task) for p in pieces} == {
        ("supabase", TENANT, ("clerk",), "견적서 작성")
    }
    agent = await world.agents.get(TENANT, "clerk")
    assert (agent.name, agent.goal, agent.skills) == ("주문 담당", "", ("invoice-check", "refunds"))
    assert world.status("r1") == "PROCESSING"


async def test_rows_of_two_tenants_name_each_its_own_agent_of_one_id(world: Supabase) -> None:
    world.server.tables["users"].append({**AGENT, "username": "theirs", "tenant_id": "other"})
    world.todo("r1", [world.item("one")])
    world.todo("r2", [world.item("two")], tenant_id="other")
    assert await world.fetch() == 2
    agents = await world.agents.of_id("clerk")
    assert [(agent.tenant_id, agent.name) for agent in agents] == [
        (TENANT, "주문 담당"),
        ("other", "theirs"),
    ]


async def test_items_of_several_rows_come_in_the_order_they_were_said(world: Supabase) -> None:
    one, two, three = (world.item(content) for content in ("one", "two", "three"))
    world.todo("r1", [two])
    world.todo("r2", [three, one])
    await world.fetch()
    assert world.contents() == ["one", "two", "three"]


async def test_the_last_item_ends_the_row(world: Supabase) -> None:
    world.todo("r1", [world.item("one"), world.item("two")])
    await world.fetch()
    await world.end(DONE, "one")
    await world.acknowledge()
    assert world.status("r1") == "PROCESSING"
    await world.end(FAILED, "two")
    await world.acknowledge()
    assert world.status("r1") == "FAILED"


async def test_an_item_that_arrives_while_others_are_worked_on_is_next(world: Supabase) -> None:
    row = world.todo("r1", [world.item("one")])
    await world.fetch()
    row["feedback"] = [*row["feedback"], world.item("two")]  # type: ignore[misc]
    assert await world.fetch() == 0
    await world.end(DONE)
    await world.acknowledge()
    assert world.status("r1") == "REQUESTED"
    assert await world.fetch() == 1
    await world.end(DONE)
    await world.acknowledge()
    assert (world.status("r1"), world.contents()) == ("COMPLETED", ["one", "two"])


async def test_an_item_that_arrives_as_the_end_is_written_is_not_lost(world: Supabase) -> None:
    row = world.todo("r1", [world.item("one")])
    await world.fetch()
    await world.end(DONE)

    def speak() -> None:
        row["feedback"] = [*row["feedback"], world.item("two")]  # type: ignore[misc]

    world.server.meanwhile["PATCH todolist"] = speak
    await world.acknowledge()
    assert world.status("r1") == "REQUESTED"
    assert await world.fetch() == 1


async def test_a_row_that_was_asked_for_anew_as_its_end_is_written_waits(world: Supabase) -> None:
    row = world.todo("r1", [world.item("one")])
    await world.fetch()
    await world.end(DONE)
    world.server.meanwhile["PATCH todolist"] = lambda: row.update(feedback_status="REQUESTED")
    await world.acknowledge()
    assert world.status("r1") == "REQUESTED"
    assert await world.fetch() == 0
    assert world.status("r1") == "COMPLETED"


async def test_a_row_whose_worker_died_after_the_claim_is_read_by_another(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    await world.platform.claim(1)
    assert world.status("r1") == "STARTED"
    assert await world.fetch() == 1
    assert world.status("r1") == "PROCESSING"


async def test_a_row_whose_worker_died_after_it_was_stored_goes_on(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    source = world.source()
    await world.inbox.add(source.name, (await source.fetch(10)).pieces)
    assert world.status("r1") == "STARTED"
    assert await world.fetch() == 0
    assert world.status("r1") == "PROCESSING"


async def test_a_row_in_started_whose_items_have_all_ended_gets_its_end(world: Supabase) -> None:
    row = world.todo("r1", [world.item("one")])
    await world.fetch()
    await world.end(FAILED)
    await world.acknowledge()
    row["feedback_status"] = "REQUESTED"
    assert await world.fetch() == 0
    assert world.status("r1") == "FAILED"


async def test_a_row_that_another_worker_stored_with_more_events_is_fine(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    slow, fast = world.source(), world.source()
    fetched = await slow.fetch(10)
    assert fetched.pieces[0].events == ()
    world.server.tables["events"].append({"id": 1, "todo_id": "r1", "timestamp": "2026-01-01"})
    again = await fast.fetch(10)
    await world.inbox.add(fast.name, again.pieces)

    late = ListSource(*fetched.pieces, name=slow.name)
    assert await fetch_feedback_task(late, limit=10, deps=world) == 0
    assert (world.contents(), late.accepted) == (["one"], [fetched.pieces[0].id])
    assert late.told == []


async def test_events_are_the_newest_of_the_row_oldest_first_less_other_tenants(
    world: Supabase,
) -> None:
    world.server.tables["events"] += [
        {"id": n, "todo_id": "r1", "data": {"n": n}, "timestamp": f"2026-01-01T00:{n % 60:02}"}
        for n in (3, 1, 2)
    ]
    other = {"id": 9, "todo_id": "r1", "timestamp": "2026-01-02", "tenant_id": "other"}
    world.server.tables["events"] += [other, {"id": 8, "todo_id": "r2", "timestamp": "2026-01-01"}]
    world.todo("r1", [world.item("one")])
    await world.fetch()
    (piece,) = world.inbox.feedback.values()
    assert [event["id"] for event in piece.events if isinstance(event, dict)] == [1, 2, 3]


def busy(row_id: str, count: int) -> list[Row]:
    """Return a row's events, a second apart, newest last."""
    times = (START + timedelta(seconds=n) for n in range(count))
    return [{"id": n, "todo_id": row_id, "timestamp": at.isoformat()} for n, at in enumerate(times)]


@pytest.mark.parametrize("most", [1000, 300])
async def test_events_of_many_rows_come_by_one_call_each_row_its_newest(
    world: Supabase, most: int
) -> None:
    world.server.most = most
    world.server.tables["events"] += [*busy("r1", 450), *busy("r3", 2)]
    for name in ("r1", "r2", "r3"):
        world.todo(name, [world.item(name)])
    await world.fetch()
    events = {p.content: [e["id"] for e in p.events] for p in world.inbox.feedback.values()}  # type: ignore[index,call-overload]
    assert events == {"r1": [*range(350, 450)], "r2": [], "r3": [0, 1]}


async def test_events_of_rows_that_are_not_busy_cost_one_call(world: Supabase) -> None:
    for number in range(10):
        world.server.tables["events"] += busy(f"r{number}", 9)
        world.todo(f"r{number}", [world.item("one")])
    assert await world.fetch() == 10
    assert sum(call.startswith("GET events") for call in world.server.calls) == 1


@pytest.mark.parametrize("phase", range(5))
async def test_with_every_fifth_call_failing_all_rows_come_in(world: Supabase, phase: int) -> None:
    world.server.fails_each = 5
    world.server.calls += ["before"] * phase
    for number in range(24):
        tenant = ("acme", "other", "third")[number % 3]
        world.todo(f"r{number}", [world.item(f"p{number}")], tenant_id=tenant)
    poller = SourcePoller(world, clock=lambda: 0.0)
    world.sources["supabase"] = world.source()
    for _ in range(8):
        await poller.poll(50)
    assert sorted(world.contents()) == sorted(f"p{number}" for number in range(24))
    assert {world.status(f"r{number}") for number in range(24)} == {"PROCESSING"}


async def test_a_row_whose_events_cannot_be_read_holds_no_other(world: Supabase) -> None:
    for name in ("r1", "r2", "r3"):
        world.todo(name, [world.item(name)])
    world.server.broken = "r2"
    assert await world.fetch() == 2
    assert world.status("r2") == "STARTED"
    world.server.broken = ""
    assert await world.fetch() == 1


async def test_a_platform_that_goes_away_is_not_asked_for_each_row(world: Supabase) -> None:
    for number in range(30):
        world.todo(f"r{number}", [world.item("one")])
    world.server.broken = "r"
    with pytest.raises(SourceDown):
        await world.fetch()
    assert sum(call.startswith("GET events") for call in world.server.calls) == 3


async def test_tables_without_times_are_read_in_the_order_of_ids(world: Supabase) -> None:
    columns = world.server.columns
    columns["todolist"] = columns["todolist"] - {"updated_at"}
    columns["events"] = columns["events"] - {"timestamp"}
    world.todo("r1", [world.item("one")])
    assert await world.fetch() == 1


async def test_assignees_are_asked_where_user_id_names_no_agent(world: Supabase) -> None:
    person = {**AGENT, "id": "kim", "is_agent": False}
    world.server.tables["users"] += [person, {**AGENT, "id": "desk"}]
    world.todo(
        "r1", [world.item("one")], user_id="kim,nobody", assignees=[{"endpoint": ["desk", "x"]}]
    )
    await world.fetch()
    (piece,) = world.inbox.feedback.values()
    assert piece.agent_ids == ("desk",)


async def test_an_agent_of_another_tenant_is_not_looked_at(world: Supabase) -> None:
    world.server.tables["users"].append({**AGENT, "id": "spy", "tenant_id": "other"})
    world.todo("r1", [world.item("one")], user_id="clerk,spy")
    world.todo("r2", [world.item("two")], user_id="spy")
    await world.fetch()
    one, two = world.inbox.feedback.values()
    assert one.agent_ids == ("clerk",)
    assert (two.tenant_id, two.agent_ids) == (TENANT, ("spy",))
    assert [agent.id for agent in await world.agents.list()] == ["clerk"]
    asked = [call for call in world.server.calls if call.startswith("GET users")]
    assert asked
    assert all(f"tenant_id=eq.{TENANT}" in call for call in asked)


async def test_one_id_that_is_no_uuid_does_not_hide_the_others(world: Supabase) -> None:
    world.server.ids_are_uuids = True
    uuids = [f"{n}" * 8 + "-0000-4000-8000-000000000000" for n in (1, 2)]
    world.server.tables["users"].append({**AGENT, "id": uuids[0]})
    world.todo(uuids[1], [world.item("one")], user_id=f"kim@example.com,{uuids[0]}")
    await world.fetch()
    (piece,) = world.inbox.feedback.values()
    assert piece.agent_ids == (uuids[0],)
    await world.source().acknowledge("no uuid/0123", DONE)


@pytest.mark.parametrize("name", ['a "quoted" one', "back\\slash", "sla/sh", "50% & more=1+1#?"])
async def test_ids_may_hold_anything_that_an_address_gives_a_meaning(
    world: Supabase, name: str
) -> None:
    world.server.tables["users"].append({**AGENT, "id": name})
    world.todo(f"row,{name}", [world.item("원화로")], user_id=name)
    world.todo("other", [world.item("x")], tenant_id='other, "x"')
    await world.fetch()
    assert next(iter(world.inbox.feedback.values())).agent_ids == (name,)
    await world.end(DONE)
    await world.acknowledge()
    assert (world.status(f"row,{name}"), world.status("other")) == ("COMPLETED", "COMPLETED")


@pytest.mark.parametrize(
    ("feedback", "values"),
    [('[{"content": "cut o', {}), ([{"no": "content"}], {}), (["x"], {"tenant_id": None})],
)
async def test_a_broken_row_fails_and_the_others_go_on(
    world: Supabase, feedback: object, values: dict[str, object]
) -> None:
    world.todo("broken", feedback, **values)
    world.todo("sound", [world.item("원화로")])
    assert await world.fetch() == 1
    assert (world.status("broken"), world.contents()) == ("FAILED", ["원화로"])


async def test_a_row_of_which_a_part_is_broken_fails_when_the_rest_has_ended(
    world: Supabase,
) -> None:
    world.todo("r1", [world.item("fine"), 5])
    assert await world.fetch() == 1
    await world.end(DONE)
    await world.acknowledge()
    assert world.status("r1") == "FAILED"


async def test_a_row_on_which_nothing_is_said_any_more_is_completed(world: Supabase) -> None:
    world.todo("r1", [world.item(" ")])
    assert await world.fetch() == 0
    assert world.status("r1") == "COMPLETED"


async def test_a_row_that_was_deleted_meanwhile_needs_to_be_told_nothing(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    await world.fetch()
    await world.end(DONE)
    world.server.tables["todolist"].clear()
    assert await world.acknowledge() == 1
    assert await world.acknowledge() == 0


async def test_a_revived_piece_is_acknowledged_again(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    await world.fetch()
    (ended,) = await world.end(FAILED)
    await world.acknowledge()
    await MemoryIntake(world.inbox).revive(ended.id)
    assert await world.acknowledge() == 0
    await world.end(DONE)
    assert await world.acknowledge() == 1
    assert world.status("r1") == "COMPLETED"


async def test_a_cancelled_piece_is_no_failure_to_the_platform(world: Supabase) -> None:
    world.todo("r1", [world.item("one")])
    await world.fetch()
    (piece,) = world.inbox.feedback.values()
    await MemoryIntake(world.inbox).cancel(piece.id, "not wanted")
    await world.acknowledge()
    assert world.status("r1") == "COMPLETED"


async def test_items_of_a_row_come_as_a_conversation_about_its_output(world: Supabase) -> None:
    said = {"time": "2025-12-30T09:00:00+09:00", "content": "원화로"}
    world.todo("r 1", [world.item("아니 달러로요"), said], output={"합계": 3})
    await world.fetch()
    first, second = world.inbox.feedback.values()
    assert (first.in_reply_to, second.in_reply_to) == (None, first.source_id)
    assert first.thread == second.thread == "supabase:r 1"
    assert first.output == second.output == {"합계": 3}
    assert first.said_at == datetime(2025, 12, 30, tzinfo=UTC)


async def test_a_platform_without_outputs_is_read_all_the_same(world: Supabase) -> None:
    world.server.columns = {**COLUMNS, "todolist": COLUMNS["todolist"] - {"output"}}
    world.todo("r", [world.item("원화로")], feedback_status="STARTED")
    await world.fetch()
    assert world.contents() == ["원화로"]
