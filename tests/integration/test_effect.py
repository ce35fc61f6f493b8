"""What learnt items did, from uses and outcomes to figures, proposals and what was done of them."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE

import psycopg
import pytest

from core.app.bootstrap.stores import utc_now
from core.app.program import App, open_app
from core.domain.errors import DatabaseDown, NotFound
from core.domain.models import Agent, ChangeFilter, FeedbackStatus, Kind, ListEdit, Outcome
from core.domain.models.access import Role
from core.domain.models.effect import (
    Action,
    Basis,
    EffectFilter,
    ItemEffect,
    Judgement,
    Only,
)
from core.domain.models.uses import Arm, OutcomeReport, UseCount, Way
from core.domain.ports import UseLog
from core.knowledge.usage.reading import effect_page
from core.knowledge.usage.recorder import MOST_WAITING
from tests.support.api import Api, one_of, opened_api, settings_of
from tests.support.databases import url_of
from tests.support.effect import LATER, complain, ended, looking_back, proposed, use
from tests.support.forked import script
from tests.support.learning import Teacher

SAID = "제주 배송비는 3000원으로 계산해 주세요"
AGAIN = "제주 배송비가 또 틀렸어요. 3000원으로 계산해 주세요"
OTHER = "인사말은 두 줄을 넘기지 말아 주세요"


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path) as api:
        yield api


async def teach(app: App, said: str) -> str:
    """Teach what somebody says, and return the item."""
    return str((await Teacher(app).memory(said.replace("해 주세요", "한다"), said=said)).target_id)


async def effects(app: App, only: Only | None = None, **given: str) -> dict[str, ItemEffect]:
    wanted = EffectFilter.model_validate({"only": only, **given})
    page = await effect_page(app.stores.effects, wanted, limit=50, cursor=None)
    assert page.next is None
    return {one.item_id: one for one in page.items}


async def test_a_month_of_uses_and_outcomes_adds_up(api: Api) -> None:
    app, today = api.app, datetime.now(UTC).replace(hour=12)
    good, bad, never = [
        await teach(app, said) for said in (SAID, OTHER, "서명은 이름만 적어 주세요")
    ]
    for days in range(30):
        at = today - timedelta(days=days)
        app.uses.note([use(good, at), use(good, at), use(bad, at, Way.SHOWN)])
        app.uses.note([use(good, at, Way.DECIDED, agent_id="b")] if days < 3 else [])
        item, is_good = (good, True) if days % 2 else (bad, False)
        await app.uses.report(ended(at, item, item, success=is_good, note="둘째 시도"))
    await app.uses.flush()
    found = await effects(app)
    assert {one: (e.shown, e.used, e.ended.success) for one, e in found.items()} == {
        good: (60, 15, 15),
        bad: (30, 15, 0),
        never: (0, 0, 0),
    }
    assert found[good].trial.judgement is Judgement.HELPS
    assert found[good].trial.basis is Basis.OBSERVED
    assert found[good].last_at == today
    assert set(await effects(app, Only.HELPS)) == {good}
    assert set(await effects(app, Only.HARMS)) == {bad}
    assert set(await effects(app, Only.UNREACHED)) == {never}
    overview = await api.call("GET", "/v1/effect/overview", params={"tenant_id": "t", "days": 31})
    days = overview.json()["days"]
    assert [one["shown"] for one in days] == [0, *[3] * 30]
    assert sum(one["opened"] for one in days) == 3
    assert {"known": 3, "unreached": 1}.items() <= overview.json()["counts"].items()
    assert await effects(app, tenant_id="u") == {}
    foreign = await api.call("GET", "/v1/effect", who=one_of("u"))
    assert foreign.json() == {"items": [], "next": None}


async def test_old_uses_are_added_up_and_the_figures_stay(api: Api, database: str) -> None:
    app, today = api.app, datetime.now(UTC).replace(hour=12)
    good, other = [await teach(app, said) for said in (SAID, OTHER)]
    ages = (0, 399, 401, 402, 500)
    for days in ages:
        at = today - timedelta(days=days)
        app.uses.note([use(good, at), use(good, at, Way.DECIDED), use(other, at, agent_id="b")])
    await app.uses.flush()
    before = await effects(app)
    assert (before[good].shown, before[good].opened) == (5, 5)
    assert await looking_back(app, today).fold() == 9
    assert await looking_back(app, today).fold() == 0
    assert await effects(app) == before
    later = today + timedelta(days=3)  # what is old by then joins what was added up
    assert await looking_back(app, later).fold() == 3
    assert await effects(app) == before
    async with await psycopg.AsyncConnection.connect(url_of(database)) as conn:
        cursor = await conn.execute("SELECT count(*), sum(times) FROM uses")
        assert await cursor.fetchone() == (6, 15)


async def test_pages_of_effects_have_each_item_once(api: Api) -> None:
    known = {await teach(api.app, f"{n}번 창고의 물건은 {n}층에 두어 주세요") for n in range(5)}
    seen, cursor = [], None
    while True:
        given = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await api.call("GET", "/v1/effect", params=given)).json()
        seen += [one["item_id"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(known)


async def test_complaints_count_before_and_after_an_item_reached_the_agent(api: Api) -> None:
    app = api.app
    await complain(app, AGAIN)  # before it was learnt
    item = await teach(app, SAID)
    taught = str((await app.stores.knowledge.get(Kind.MEMORY, "t", item)).feedback_id)
    await end(app, taught)
    unreached = await complain(app, AGAIN)
    app.uses.note([use(item, utc_now())])
    await app.uses.flush()
    back = [await complain(app, AGAIN) for _ in range(2)]
    await complain(app, OTHER)
    later = utc_now() + timedelta(minutes=1)
    assert await looking_back(app, later).look() == 6
    assert await looking_back(app, later).look() == 0
    (found,) = (await effects(app)).values()
    assert (found.before, found.unreached, found.back) == (2, 1, 2), unreached
    assert set(await effects(app, Only.BACK)) == {item}
    assert await looking_back(app, later).propose() == 1
    (proposal,) = await app.stores.effects.proposals(EffectFilter(), limit=9)
    assert (proposal.action, proposal.item_id, proposal.back) == (Action.REWRITE, item, 2)
    assert proposal.last_id == back[-1]
    answer = await api.call("POST", f"/v1/effect/proposals/{proposal.id}/accept")
    asked = await app.stores.inbox.get(answer.json()["proposal"]["feedback_id"])
    assert asked.in_reply_to == back[-1]
    assert await looking_back(app, later).propose() == 0


async def end(app: App, feedback_id: str) -> None:
    claimed = await app.stores.inbox.claim(feedback_id)
    assert claimed is not None
    await app.stores.inbox.finish(claimed, Outcome(status=FeedbackStatus.COMPLETED))


async def archived(api: Api, agent: str = "a") -> list[dict[str, str]]:
    """Return what is listed as archived of an agent."""
    if agent != "a":
        await api.app.stores.agents.save(Agent(id=agent, tenant_id="t", name=agent))
    answer = await api.call("GET", f"/v1/knowledge?archived=true&agent_id={agent}")
    items: list[dict[str, str]] = answer.json()["items"]
    return items


async def test_what_nobody_uses_is_archived_by_a_person_and_comes_back(api: Api) -> None:
    app, now = api.app, datetime.now(UTC)
    used, unused = await teach(app, SAID), await teach(app, OTHER)
    app.uses.note([use(used, now + LATER)])
    proposal = await proposed(app, unused, now)
    waiting = await app.stores.effects.proposals(EffectFilter(), limit=9)
    assert [one.item_id for one in waiting] == [unused]
    assert (await app.stores.knowledge.get(Kind.MEMORY, "t", unused)).version == 1
    path = f"/v1/effect/proposals/{proposal}"
    denied = await api.call("POST", f"{path}/accept", who=one_of("t", Role.READ))
    assert denied.status_code == 403
    done = (await api.call("POST", f"{path}/accept")).json()
    assert done["receipt"]["status"] == "applied"
    assert (await api.call("POST", f"{path}/dismiss")).status_code == 409
    with pytest.raises(NotFound):
        await app.stores.knowledge.get(Kind.MEMORY, "t", unused)
    hits = await app.stores.search.search(OTHER, tenant_id="t", agent_id="a", kind=None, limit=5)
    assert unused not in [hit.id for hit in hits]
    (listed,) = await archived(api)
    change_id = done["proposal"]["change_id"]
    assert (listed["id"], listed["change_id"]) == (unused, change_id)
    assert (listed["excerpt"], bool(listed["archived_at"])) == (OTHER, True)
    both = await api.call("GET", "/v1/knowledge?archived=true&expired=true")
    assert both.status_code == 422
    assert await archived(api, "another") == []
    await app.revert(change_id, "it was needed")
    assert await archived(api) == []
    assert (await app.stores.knowledge.get(Kind.MEMORY, "t", unused)).content


async def test_an_archived_skill_leaves_the_list_of_its_agent_alone(api: Api) -> None:
    app, now = api.app, datetime.now(UTC)
    await Teacher(app).skill("refund", "# refund\n")
    proposal = await proposed(app, "refund", now)
    done = await api.call("POST", f"/v1/effect/proposals/{proposal}/accept")
    assert done.status_code == 200
    agent = await app.stores.agents.get("t", "a")
    assert agent.skills == ()
    assert await app.stores.skills.read("refund", "t") is not None
    assert [one["id"] for one in await archived(api)] == ["refund"]
    change, _ = await app.stores.reader.changes(ChangeFilter(), limit=1, cursor=None)
    assert "archived by" in change[0].reason
    # Back on the list, and off it by hand: that is no archive.
    for edit in (ListEdit.ADD, ListEdit.REMOVE):
        await app.skill_lists.edit(agent, edit, ["refund"], "lee")
        assert await archived(api) == []


async def test_an_agent_that_asks_for_nothing_says_nothing_of_its_items(api: Api) -> None:
    app, now = api.app, datetime.now(UTC)
    item = await teach(app, SAID)
    app.uses.note([use("another", now - timedelta(days=200))])
    await app.uses.flush()
    assert await looking_back(app, now + LATER).propose() == 0
    assert set(await effects(app)) == {item}


async def test_a_holdout_tells_what_was_left_out_and_judges(database: str, tmp_path: Path) -> None:
    config = tmp_path / "trial.yaml"
    async with open_app(settings_of(database, tmp_path)) as app:
        item = await teach(app, SAID)
    config.write_text(f"effect: {{holdout: {{items: [{item}]}}}}\n", encoding="utf-8")
    settings = settings_of(database, tmp_path, skill_worker_config=str(config))
    async with open_app(settings) as app:
        now, arms = datetime.now(UTC), {True: 0, False: 0}
        for _ in range(40):
            left = await app.uses.left_out("t", "a", [item, "m"], now)
            told = await app.uses.report(ended(now, success=item not in left))
            assert [*told] == [*left]
            arms[item in left] += 1
        assert not await app.uses.left_out("t", "a", ["m"], now)
        assert await app.uses.report(ended(now)) == []
        trial = (await effects(app))[item].trial
        assert trial.basis is Basis.HOLDOUT
        assert (trial.given.success, trial.without.failure) == (arms[False], arms[True])
        assert trial.judgement is Judgement.HELPS


async def test_what_is_on_trial_is_kept_from_tasks_and_named_at_their_end(
    database: str, tmp_path: Path
) -> None:
    config = tmp_path / "trial.yaml"
    async with open_app(settings_of(database, tmp_path)) as app:
        item, other = await teach(app, SAID), await teach(app, "제주 배송비는 선불로 받아 주세요")
    config.write_text(
        f"effect: {{holdout: {{items: [{item}], share: 0.999999}}}}\n", encoding="utf-8"
    )
    async with opened_api(database, tmp_path, skill_worker_config=str(config)) as api:
        asked = {"agent": "a", "task": "제주 배송비 안내"}
        shown = await api.call("POST", "/v1/context", json=asked)
        query = {"agent": "a", "query": "제주 배송비"}
        found = await api.call("POST", "/v1/memories/search", json=query)
        for answer in (shown, found):
            assert [one["id"] for one in answer.json()["items"]] == [other]
        ended_so = {"agent": "a", "used": [], "success": True}
        told = await api.call("POST", "/v1/outcomes", json=ended_so)
        assert told.json()["left_out"] == [item]


class Failing:
    """A log of uses that is away for some calls."""

    def __init__(self, inner: UseLog, times: int) -> None:
        self._inner, self.left = inner, times

    async def add(self, counts: Sequence[UseCount]) -> None:
        if self.left:
            self.left -= 1
            raise DatabaseDown("away")
        await self._inner.add(counts)

    async def draw(self, arms: Sequence[Arm], since: datetime) -> Sequence[str]:
        if self.left:
            self.left -= 1
            raise DatabaseDown("away")
        return await self._inner.draw(arms, since)

    async def add_outcome(self, outcome: OutcomeReport, since: datetime) -> Sequence[str]:
        return await self._inner.add_outcome(outcome, since)


@asynccontextmanager
async def on_trial(
    database: str, home: Path, share: float = 0.5, fails: int = 0
) -> AsyncIterator[App]:
    """Yield the program with the item `m` on trial; its log of uses is away for some calls."""
    config = home / "trial.yaml"
    config.write_text(f"effect: {{holdout: {{items: [m], share: {share}}}}}\n", encoding="utf-8")
    settings = settings_of(database, home, skill_worker_config=str(config))

    def wrap(name: str, port: object) -> object:
        return Failing(port, fails) if name == "use_log" else port  # type: ignore[arg-type]

    async with open_app(settings, wrap=wrap) as app:  # type: ignore[arg-type]
        yield app


async def test_a_task_is_drawn_once_in_all_processes_until_its_end(
    database: str, tmp_path: Path
) -> None:
    now, seen, home = datetime.now(UTC), set(), tmp_path
    async with on_trial(database, home) as one, on_trial(database, home) as other:
        for _ in range(30):
            drawn = {
                frozenset(await app.uses.left_out("t", "a", ["m"], now + timedelta(minutes=late)))
                for late in (0, 1, 59)
                for app in (one, other)
            }
            told = await one.uses.report(ended(now + timedelta(minutes=59)))
            assert drawn == {frozenset(told)}
            seen |= drawn
    assert len(seen) == 2  # each task has a lot of its own


async def test_a_task_without_an_outcome_ends_after_an_hour(database: str, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    async with on_trial(database, tmp_path) as app:
        drawn = {
            len(await app.uses.left_out("t", "a", ["m"], now + timedelta(minutes=61 * n)))
            for n in range(30)
        }
    assert drawn == {0, 1}


async def test_a_lot_that_cannot_be_kept_leaves_nothing_out(database: str, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    async with on_trial(database, tmp_path, share=0.999999, fails=1) as app:
        assert [*await app.uses.left_out("t", "a", ["m"], now)] == []
        assert [*await app.uses.left_out("t", "a", ["m"], now)] == ["m"]


async def test_a_clean_stop_loses_nothing_even_after_the_database_was_away(
    database: str, tmp_path: Path
) -> None:
    settings, now = settings_of(database, tmp_path), datetime.now(UTC)

    def wrap(name: str, port: object) -> object:
        return Failing(port, 1) if name == "use_log" else port  # type: ignore[arg-type]

    async with open_app(settings, wrap=wrap) as app:  # type: ignore[arg-type]
        item = await teach(app, SAID)
        app.uses.note([use(item, now)] * 3)
        with pytest.raises(DatabaseDown):
            await app.uses.flush()
        app.uses.note([use(item, now)] * 4)
    async with open_app(settings) as app:
        assert (await effects(app))[item].shown == 7


async def test_what_the_database_refuses_takes_nothing_else_with_it(api: Api) -> None:
    item, now = await teach(api.app, SAID), datetime.now(UTC)
    api.app.uses.note([use(item, now), use("n\0l", now)])
    await api.app.uses.flush()
    assert (await effects(api.app))[item].shown == 1


async def test_too_many_items_are_counted_without_being_told_apart(api: Api) -> None:
    app, now = api.app, datetime.now(UTC)
    app.uses.note([use(f"m{n}", now) for n in range(MOST_WAITING + 50)])
    await app.uses.flush()
    (today,) = await app.stores.effects.days(EffectFilter(), until=now, days=1)
    assert today.shown == MOST_WAITING + 50
    async with app.stores.pool.connection() as conn:
        found = await (await conn.execute("SELECT times FROM uses WHERE item_id = ''")).fetchone()
    assert found == {"times": 50}


async def test_recording_twenty_hits_takes_a_call_less_than_a_millisecond(api: Api) -> None:
    taken, now = [], datetime.now(UTC)
    for _ in range(200):
        begun = time.thread_time()
        api.app.uses.note([use(f"m{n}", now) for n in range(20)])
        taken.append(time.thread_time() - begun)
    assert statistics.median(taken) < 0.001


def test_a_process_that_is_told_to_stop_has_all_on_record(database: str, tmp_path: Path) -> None:
    where = (url_of(database), str(tmp_path))
    with script("import tests.support.noting as it; it.run()", *where, stdout=PIPE) as process:
        assert process.stdout is not None
        answered = [int(process.stdout.readline()) for _ in range(200)]
        process.send_signal(signal.SIGTERM)
        answered += map(int, process.stdout.read().split())
    assert process.returncode == 0
    with psycopg.connect(database) as conn:
        ((stored,),) = conn.execute("SELECT sum(times) FROM uses").fetchall()
    assert stored == len(answered) == answered[-1]
