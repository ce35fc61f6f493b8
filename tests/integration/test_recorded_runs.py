"""Runs on record: repeated without effect, forked for good, kept as long as a tag is on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.adapters.postgres.queries import Pool, connection
from core.agent.model.chat_model import with_prompts
from core.agent.replay.comparing import Likeness
from core.app.program import App, open_app
from core.app.replaying import fork, replay
from core.app.settings import Settings, load_settings
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.models import Agent, FeedbackStatus, Kind, NewFeedback
from core.domain.models.recorded_runs import RunFilter
from core.testing.scripted_model import ScriptedChatModel, Turn, calls, says
from tests.integration.test_dry_run import everything

KRW = "금액은 원화로 소수 없이 적는다"
LOOKS = calls(("search_similar_knowledge", {"content": "금액 표기"}))
LEARNS = calls(("commit_to_memory", {"content": KRW, "operation": "CREATE", "reason": "asked"}))
DONE = says("done")
MATCHED = says('{"agents": [{"agent_id": "a", "content": "x"}, {"agent_id": "b", "content": "y"}]}')
NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    given = {"skill_worker_home": tmp_path, "llm_model": "offline"}
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def opened(
    settings: Settings, *script: Turn, dry_run: bool = False
) -> AsyncIterator[tuple[App, ScriptedChatModel]]:
    chat = ScriptedChatModel([*script])
    async with open_app(settings, model=True, chat=chat, dry_run=dry_run) as app:
        yield app, chat


async def learn(settings: Settings, *script: Turn, agents: Sequence[str] = ("a",)) -> str:
    """Have one piece worked up by a model that plays a script, and return its id."""
    async with opened(settings, *script) as (app, _):
        for agent in agents:
            await app.stores.agents.save(Agent(id=agent, tenant_id="t", name=agent))
        piece = NewFeedback(tenant_id="t", agent_ids=(*agents,), content="금액은 원화로")
        ((feedback_id, _),) = await app.stores.inbox.add("cli", [piece])
        await app.run(True, 1, asyncio.Event(), lambda _: None)
    return feedback_id


async def memories(app: App) -> list[str]:
    found = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    return sorted(item.content for item in found)


async def test_a_model_that_says_the_same_decides_the_same(settings: Settings, pool: Pool) -> None:
    run = await learn(settings, LOOKS, LEARNS, DONE)
    before = await everything(pool)
    said_otherwise = calls(
        ("commit_to_memory", {"content": KRW, "operation": "create", "reason": "said so"})
    )
    async with opened(settings, LOOKS, said_otherwise, DONE, dry_run=True) as (app, _):
        found = await replay(app, run, model="m")
    assert found.likeness is Likeness.SAME
    assert (found.first_difference, found.asked_anew) == (None, 0)
    assert found.usage.model_calls == 3
    spent = {"spending", "spent"}
    assert {k: v for k, v in (await everything(pool)).items() if k not in spent} == {
        k: v for k, v in before.items() if k not in spent
    }


async def test_what_it_learnt_itself_is_not_in_its_way(settings: Settings) -> None:
    run = await learn(settings, LEARNS, DONE)
    again = calls(
        ("commit_to_memory", {"content": f"{KRW}.", "operation": "CREATE", "reason": "r"})
    )
    looks = calls(("search_similar_knowledge", {"content": KRW}))
    async with opened(settings, looks, again, DONE, dry_run=True) as (app, chat):
        found = await replay(app, run, model="m")
    assert found.likeness is Likeness.REWORDED
    assert (found.first_difference, found.asked_anew) == (1, 2)
    assert [one.operation for one in found.repeated] == ["CREATE"]
    assert '"hits":[]' in chat.seen[1][-1].text


async def test_another_decision_is_told_with_the_step_it_begins_at(settings: Settings) -> None:
    run = await learn(settings, LOOKS, LEARNS, DONE)
    async with opened(settings, NOTHING, dry_run=True) as (app, chat):
        found = await replay(app, run, model="m", from_step=2)
    assert found.likeness is Likeness.OTHERWISE
    assert found.first_difference == 2
    assert (found.status_recorded, found.status_repeated) == ("completed", "no_action")
    assert [(one.tool, one.category) for one in found.repeated] == [("no_action", "noise")]
    assert found.usage.model_calls == 1  # the step before is not paid for again
    assert len(chat.seen[0]) == len(["system", "input", "step 1", "its answer"])


@pytest.mark.parametrize("step", [0, 4])
async def test_a_step_that_a_run_never_had_is_refused(settings: Settings, step: int) -> None:
    run = await learn(settings, LOOKS, LEARNS, DONE)
    async with opened(settings, dry_run=True) as (app, _):
        with pytest.raises(InvalidInput, match=f"no step {step}"):
            await replay(app, run, model="m", from_step=step)
        with pytest.raises(InvalidInput, match=f"no step {step}"):
            await fork(app, run, step=step, by="kim")


async def test_prompts_of_a_folder_are_those_the_model_is_given(
    settings: Settings, tmp_path: Path
) -> None:
    run = await learn(settings, NOTHING)
    (tmp_path / "react_system.md").write_text("Write everything in verse.", encoding="utf-8")
    with with_prompts(tmp_path):
        async with opened(settings, NOTHING, dry_run=True) as (app, chat):
            await replay(app, run, model="m")
    assert chat.seen[0][0].text == "Write everything in verse."
    async with opened(settings, NOTHING, dry_run=True) as (app, chat):
        await replay(app, run, model="m")
    assert "verse" not in chat.seen[0][0].text


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("other.md", b"x", "no prompt of this program"),
        ("tools.md", b"x", "lacks ## "),
        ("react_system.md", b" \n", "lacks any text"),
        ("react_system.md", b"\xff\xfe", "is not UTF-8 text"),
        ("readme.txt", b"x", "has no prompts"),
    ],
)
def test_a_folder_without_usable_prompts_is_refused(
    tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput, match=told), with_prompts(tmp_path):
        pass


async def test_a_fork_goes_on_from_a_step_and_applies_nothing_twice(settings: Settings) -> None:
    feedback_id = await learn(settings, LOOKS, LEARNS, DONE)
    also = calls(
        ("commit_to_memory", {"content": KRW, "operation": "CREATE", "reason": "again"}),
        (
            "commit_to_memory",
            {"content": "로마자 이름은 성을 앞에", "operation": "CREATE", "reason": ""},
        ),
    )
    async with opened(settings, also, DONE) as (app, chat):
        begun = await fork(app, feedback_id, step=2, by="kim")
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        assert await memories(app) == sorted([KRW, "로마자 이름은 성을 앞에"])
        run = await app.stores.run_records.get(feedback_id)
        piece = await app.stores.inbox.get(feedback_id)
    assert piece.status is FeedbackStatus.COMPLETED
    assert (run.id, run.forked_from, run.from_step) == (begun.id, f"{run.candidate_id}:1", 2)
    first = [message.type for message in chat.seen[0]]
    assert first == ["system", "human", "ai", "tool", "human"]
    assert f'"target_name": "{KRW}"' in chat.seen[0][-1].text


async def test_a_fork_waits_until_its_feedback_has_ended(settings: Settings) -> None:
    run = await learn(settings, NOTHING)
    async with opened(settings) as (app, _):
        await fork(app, run, step=1, by="kim")
        with pytest.raises(Refused, match="has not ended"):
            await fork(app, run, step=1, by="lee")


async def test_a_fork_of_a_fork_goes_on_from_what_that_had(settings: Settings) -> None:
    run = await learn(settings, LOOKS, NOTHING)
    async with opened(settings, LOOKS, NOTHING, NOTHING) as (app, chat):
        for step in (2, 3):
            await fork(app, run, step=step, by="kim")
            await app.run(True, 1, asyncio.Event(), lambda _: None)
    kinds = [message.type for message in chat.seen[2]]
    assert kinds == ["system", "human", "ai", "tool", "ai", "tool"]


async def test_a_tagged_run_outlives_retention_and_others_do_not(settings: Settings) -> None:
    kept, gone = await learn(settings, NOTHING), await learn(settings, NOTHING)
    async with opened(settings, NOTHING, dry_run=True) as (app, _):
        records = app.stores.run_records
        tagged = await records.tag(await records.get(kept), ["golden", "ko"], by="kim")
        assert tagged.tags == ("golden", "ko")
        assert await app.stores.retention.prune(0) == 1
        assert (await replay(app, kept, model="m")).likeness is Likeness.SAME
        with pytest.raises(NotFound, match="no longer stored"):
            await replay(app, gone, model="m")
        with pytest.raises(NotFound, match="no longer stored"):
            await fork(app, gone, step=1, by="kim")
        with pytest.raises(NotFound, match="no longer stored"):
            await records.tag(await records.get(gone), ["late"], by="kim")
        await records.untag(tagged, ["golden", "ko", "never"])
        assert await app.stores.retention.prune(0) == 1


async def test_runs_are_listed_by_tag_and_page_by_page(settings: Settings) -> None:
    ids = [await learn(settings, NOTHING) for _ in range(3)]
    async with opened(settings) as (app, _):
        records = app.stores.run_records
        await records.tag(await records.get(ids[0]), ["old"], by="kim")
        (tagged,), _ = await records.page(RunFilter(tag="old"), limit=5, cursor=None)
        assert tagged.feedback_id == ids[0]
        seen, cursor = [], None
        for _ in range(3):
            (run,), cursor = await records.page(RunFilter(), limit=1, cursor=cursor)
            seen.append(run.feedback_id)
        assert (seen, cursor) == (ids[::-1], None)


async def test_a_tagged_run_stays_on_its_tag_when_it_is_forked(settings: Settings) -> None:
    ids = [await learn(settings, LOOKS, LEARNS, DONE), await learn(settings, NOTHING)]
    async with opened(settings, NOTHING) as (app, _):
        records = app.stores.run_records
        first = await records.tag(await records.get(ids[0]), ["golden"], by="kim")
        await fork(app, ids[0], step=2, by="kim")
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        second = await records.tag(await records.get(ids[0]), ["golden"], by="kim")
        third = await records.tag(await records.get(ids[1]), ["golden"], by="kim")
        seen, cursor = [], None
        for _ in range(3):
            (run,), cursor = await records.page(RunFilter(tag="golden"), limit=1, cursor=cursor)
            seen.append(run.id)
        assert (seen, cursor) == ([third.id, second.id, first.id], None)
        last, _ = await records.page(RunFilter(feedback_id=ids[0]), limit=5, cursor=None)
        assert [run.id for run in last] == [second.id]


async def test_feedback_of_several_agents_has_to_be_named_by_run(settings: Settings) -> None:
    run = await learn(settings, MATCHED, NOTHING, NOTHING, agents=("a", "b"))
    async with opened(settings) as (app, _):
        records = app.stores.run_records
        with pytest.raises(Refused, match="has 2 runs") as refused:
            await records.get(run)
        runs = (await records.page(RunFilter(feedback_id=run), limit=9, cursor=None))[0]
        assert all(one.id in refused.value.hint for one in runs)
        assert {(await records.get(one.id)).agent_id for one in runs} == {"a", "b"}
        for wrong in ("no-such-run", "a:1", ":", f"{runs[0].candidate_id}:99999999999"):
            with pytest.raises(NotFound, match="there is no run"):
                await records.get(wrong)


async def test_who_tagged_and_forked_can_be_erased(settings: Settings, pool: Pool) -> None:
    run = await learn(settings, NOTHING)
    async with opened(settings) as (app, _):
        records, erasing = app.stores.run_records, app.stores.erasing
        await records.tag(await records.get(run), ["golden"], by="kim")
        await fork(app, run, step=1, by="kim")
        assert await erasing.tenants("kim", None) == ["t"]
        await erasing.erase("kim", "t", "lee", dry_run=False)
        assert await erasing.tenants("nobody", None) == []
    async with connection(pool) as conn:
        found = await conn.execute(
            "SELECT tagged_by AS name FROM run_tags UNION ALL SELECT forked_by FROM run_forks"
        )
        assert [row["name"] for row in await found.fetchall()] == ["[erased]", "[erased]"]
