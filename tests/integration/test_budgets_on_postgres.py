"""A budget of N calls lets exactly N begin, across apps, processes and days."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import SecretStr

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.runs import PostgresRetention
from core.agent.offline.model import AnsweringChatModel
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError, Forbidden, NotFound
from core.domain.models import (
    Agent,
    ChangeFilter,
    Feedback,
    FeedbackFilter,
    FeedbackStatus,
    NewFeedback,
)
from core.domain.models.access import Principal, Role
from core.entrypoints.service.costs import CostsService
from core.entrypoints.service.session import Session
from core.testing.scripted_model import calls, says
from tests.support.commands import finish, start
from tests.support.databases import url_of
from tests.support.openai_server import call, hangs, openai_server
from tests.support.waiting import AT_LAST, SOON

CAP, PIECES = 7, 8
DOLLAR = "{m: {input: 10000, output: 0}}"  # a call of the fakes has 100 input tokens
NOTHING = call("no_action", reason="thanks", category="noise")


class Learning(AnsweringChatModel):
    """Learns a fact from each piece, in two calls."""

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return says("done")
        given = {"operation": "CREATE", "content": _said(messages), "reason": "r"}
        message = calls(("commit_to_memory", {**given}))
        named = [{**call, "id": "c"} for call in message.tool_calls]
        return message.model_copy(update={"tool_calls": named})


def _said(messages: list[BaseMessage]) -> str:
    """Return the words of the piece, which are all distinct."""
    text = str(messages[1].content)
    return json.loads(text[text.index("{") : text.rindex("}") + 1])["feedback"]["text"]  # type: ignore[no-any-return]


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    given = {
        "skill_worker_home": tmp_path,
        "llm_model": "m",
        "model_prices": DOLLAR,
        "daily_budget": str(CAP),
        "daily_budgets": "{rich: none}",
    }
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[App]:
    async with open_app(settings, model=True, chat=Learning()) as app:
        for tenant in ("t", "rich"):
            await app.stores.agents.save(Agent(id=f"of-{tenant}", tenant_id=tenant, name="A"))
        yield app


async def add(app: App, tenant: str, number: int) -> None:
    topics = ("금액", "환불", "보고서", "회의", "주문", "배송", "휴가", "계약", "송장", "예산")
    pieces = [
        NewFeedback(
            tenant_id=tenant,
            agent_ids=(f"of-{tenant}",),
            content=f"{topics[n % 10]} {n} {'가나다라마바사아자차카타파하'[n % 14] * 9}",
        )
        for n in range(number)
    ]
    await app.stores.inbox.add("test", pieces)


async def work(*apps: App) -> None:
    running = (app.run(True, 4, asyncio.Event(), lambda _: None) for app in apps)
    await asyncio.wait_for(asyncio.gather(*running), AT_LAST)


async def feedback(app: App, tenant: str) -> Sequence[Feedback]:
    wanted = FeedbackFilter(tenant_id=tenant)
    return (await app.stores.reader.feedback(wanted, limit=100, cursor=None))[0]


async def paid(app: App, tenant: str) -> tuple[int, Decimal]:
    (bill, *_) = await app.stores.spending.of_days(tenant, 1)
    return bill.usage.model_calls, bill.usage.cost


async def night(pool: Pool) -> None:
    """Start the next day, and make what waits for it due."""
    async with connection(pool) as conn:
        for step in (-10_000, 9_999):  # rows must not meet on their way
            await conn.execute("UPDATE spending SET day = day + %s", [step])
        await conn.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
        await conn.execute("UPDATE feedback SET retry_at = NULL")


async def test_days_have_exactly_so_many_calls_and_none_is_paid_for_twice(
    settings: Settings, pool: Pool
) -> None:
    async with opened(settings) as app:
        await add(app, "t", PIECES)
        await add(app, "rich", PIECES)
        for day in range(1, 3):
            await work(app)
            assert await paid(app, "t") == (CAP, CAP), day
            (resting,) = app.summary.resting
            assert (resting.tenant_id, resting.spent, resting.is_used_up) == ("t", CAP, True)
            assert {piece.attempts for piece in await feedback(app, "t")} <= {0, 1}
            await night(pool)
        await work(app)
        assert await paid(app, "t") == (2, 2)
        assert not app.summary.resting
        for tenant in ("t", "rich"):
            ended = await feedback(app, tenant)
            assert {piece.status for piece in ended} == {FeedbackStatus.COMPLETED}
            assert {piece.usage.cost for piece in ended} == {2}
        assert await PostgresRetention(pool).prune(0) == 2 * PIECES
        bills = await app.stores.spending.of_days("t", 9)
        assert [bill.usage.model_calls for bill in bills] == [2, CAP, CAP]


async def test_apps_with_pools_of_their_own_share_the_cap(settings: Settings) -> None:
    async with opened(settings) as one, opened(settings) as other:
        await add(one, "t", PIECES)
        await work(one, other)
        assert await paid(one, "t") == (CAP, CAP)
        for piece in await feedback(one, "t"):
            is_done = piece.status is FeedbackStatus.COMPLETED
            assert is_done or (piece.error or "").startswith("budget: the daily budget of tenant")


async def test_a_change_costs_its_run(settings: Settings) -> None:
    async with opened(settings) as app:
        await add(app, "t", 1)
        await work(app)
        (piece,) = await feedback(app, "t")
        (record, *_) = await _changes(app)
        cost = await app.stores.spending.of_change(await app.stores.changes.get(record))
        assert (cost.cost, cost.run.model_calls, piece.usage.cost) == (2, 2, 2)
        opened_change = await app.stores.review_queue.open(record, tenant_id=None, but=())
        assert opened_change.cost == cost


async def _changes(app: App) -> list[str]:
    return [
        c.id for c in (await app.stores.reader.changes(ChangeFilter(), limit=9, cursor=None))[0]
    ]


async def test_a_look_ahead_is_paid_for_and_leaves_nothing_else(settings: Settings) -> None:
    async with opened(settings) as app:
        await add(app, "t", 1)
    async with open_app(settings, model=True, chat=Learning(), dry_run=True) as app:
        ((piece, _),) = await app.dry_run(5)
        assert await paid(app, "t") == (2, 2)
        assert (await app.stores.inbox.get(piece.id)).usage.model_calls == 0


async def test_a_budget_without_the_price_of_the_model_is_refused(settings: Settings) -> None:
    without = settings.model_copy(update={"model_prices": None})
    with pytest.raises(ConfigurationError, match="MODEL_PRICES has no price for 'm'"):
        async with opened(without):
            pytest.fail("it was opened")


@pytest.fixture
def place(database: str, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    given = {"DATABASE_URL": url_of(database), "LLM_MODEL": "m", "MODEL_PRICES": DOLLAR}
    return tmp_path, {**given, "STALLED_AFTER_SECONDS": "2", "HEARTBEAT_SECONDS": "0.5"}


async def fill(settings: Settings, number: int) -> None:
    async with opened(settings) as app:
        await add(app, "t", number)


async def test_processes_share_the_cap_and_say_who_waits(
    place: tuple[Path, dict[str, str]], settings: Settings
) -> None:
    home, given = place
    await fill(settings, PIECES)
    async with openai_server([]) as provider:
        provider.always = NOTHING
        given |= {"LLM_PROXY_URL": provider.url, "DAILY_BUDGET": str(CAP)}
        processes = [start(home, "run", "--once", **given) for _ in range(2)]
        ends = [asyncio.to_thread(process.communicate, None, 60) for process in processes]
        said = [err for _, err in await asyncio.gather(*ends)]
        assert len(provider.asked) == CAP
    assert [process.returncode for process in processes] == [1, 1]
    for err in said:
        assert (
            f"held back ({PIECES - CAP}): the daily budget of tenant 't' (7.00 USD) is used up:"
            " 7.00 spent; work goes on at 00:00 UTC"
        ) in err
    code, out, _ = await asyncio.to_thread(finish, home, "costs", "--json", **given)
    told = json.loads(out)
    assert (code, told["total"]["cost"], told["currency"]) == (0, "7", "USD")
    assert told["budgets"] == [
        {"tenant_id": "t", "budget": "7", "spent": "7", "waiting": PIECES - CAP, "is_used_up": True}
    ]


async def test_a_call_that_died_with_its_worker_keeps_nothing_set_aside(
    place: tuple[Path, dict[str, str]], settings: Settings, pool: Pool
) -> None:
    home, given = place
    await fill(settings, 1)
    async with openai_server([]) as provider:
        provider.always = hangs
        given |= {"LLM_PROXY_URL": provider.url, "DAILY_BUDGET": "1"}
        dying = start(home, "run", "--once", **given)
        async with asyncio.timeout(SOON):
            while not provider.asked:
                await asyncio.sleep(0.01)
        dying.kill()
        await asyncio.to_thread(dying.communicate)
        provider.always = NOTHING
        code, _, err = await asyncio.to_thread(finish, home, "run", "--once", **given)
    assert (code, "1 no_action" in err) == (0, True), err
    async with connection(pool) as conn:
        row = await (await conn.execute("SELECT count(*) AS n FROM reservations")).fetchone()
    assert row == {"n": 0}


def reader(tenant_id: str | None) -> Principal:
    return Principal(token_id="k", name="k", tenant_id=tenant_id, roles=frozenset({Role.READ}))


async def test_in_the_console_a_tenant_sees_its_own_costs_and_no_others(settings: Settings) -> None:
    async with opened(settings) as app:
        await add(app, "t", 1)
        await add(app, "rich", 1)
        await work(app)
        (change_id, *_) = await _changes(app)
        tenant = (await app.stores.changes.get(change_id)).tenant_id
        other = "rich" if tenant == "t" else "t"
        theirs, all_ = (
            CostsService(Session(app, reader(tenant))),
            CostsService(Session(app, reader(None))),
        )
        own = await theirs.by_day()
        assert [(d.tenant_id, d.usage.cost) for d in own.days] == [(tenant, 2)]
        assert (own.total.cost, own.currency, own.unpriced_calls) == (2, "USD", 0)
        assert (await all_.by_day()).total.cost == 4
        assert [b.tenant_id for b in await theirs.budgets()] == [tenant]
        assert [b.tenant_id for b in await all_.budgets()] == ["rich", "t"]
        assert (await theirs.of_change(change_id)).cost == 2
        with pytest.raises(NotFound):
            await theirs.by_day(other)
        with pytest.raises(NotFound):
            await CostsService(Session(app, reader(other))).of_change(change_id)
        nobody = CostsService(Session(app, reader(None).model_copy(update={"roles": frozenset()})))
        for asked in (nobody.by_day(), nobody.budgets(), nobody.of_change(change_id)):
            with pytest.raises(Forbidden):
                await asked


async def test_commands_show_what_it_cost(
    place: tuple[Path, dict[str, str]], settings: Settings
) -> None:
    home, given = place
    async with opened(settings) as app:
        await add(app, "t", 1)
        await work(app)
        (change_id, *_) = await _changes(app)
        (piece,) = await feedback(app, "t")

    async def said(*command: str) -> str:
        code, out, err = await asyncio.to_thread(finish, home, *command, **given)
        assert code == 0, err
        return out

    days = await said("costs", "--tenant", "t")
    assert "in all: 2 model calls, 200 tokens in, 20 out, 2.00 USD" in days
    assert "cost:          2.00 USD" in await said("changes", "show", change_id)
    told = json.loads(await said("changes", "show", change_id, "--json"))
    assert (told["cost"]["cost"], told["cost"]["currency"]) == ("2", "USD")
    shown = await said("feedback", "show", piece.id)
    assert "2.00 USD" in shown
    code, _, err = await asyncio.to_thread(finish, home, "costs", "--tenant", "nobody", **given)
    assert (code, "nobody" in err) == (5, True)
    bad = given | {"MODEL_PRICES": "{m: {input: cheap}}"}
    code, _, err = await asyncio.to_thread(finish, home, "costs", **bad)
    assert (code, "MODEL_PRICES: 'm', input" in err) == (4, True)
