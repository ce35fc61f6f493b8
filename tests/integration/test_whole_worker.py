"""The whole worker on real parts: PostgreSQL, job engine, saver, skill API over loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import SecretStr

from core.agent.offline.model import AnsweringChatModel
from core.app.observability import configure_logging
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import (
    Agent,
    ChangeFilter,
    FeedbackStatus,
    HistoryFilter,
    Kind,
    NewFeedback,
    Operation,
    SkillArtifact,
    SkillEdit,
    SkillEdits,
)
from core.testing.scripted_model import calls, says

AGENTS = [Agent(id="a", tenant_id="t", name="A"), Agent(id="b", tenant_id="t", name="B")]
SKILL = SkillArtifact(
    name="partial-refund",
    description="Settle a partial refund; use when only some items come back",
    body_markdown="# Partial refund\n\n## Steps\n\n1. Check the amount.\n",
    additional_files={"references/fees.md": "# Fees\n\nCards cost 3 %.\n"},
)
EDIT = SkillEdits(edits=(SkillEdit(op="insert_section", heading="Steps", text="2. Ask a lead."),))


class Deciding(AnsweringChatModel):
    """A model whose next message is the result of a plain function of messages and tools."""

    decide: Callable[[list[BaseMessage], Sequence[str]], AIMessage]

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        message = self.decide(messages, tools)
        named = [{**c, "id": f"c{i}"} for i, c in enumerate(message.tool_calls)]
        return message.model_copy(update={"tool_calls": named})


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return load_settings(
        {"skill_worker_home": tmp_path, "llm_model": "offline", "retry_base_seconds": 0.1},
        env_file=None,
    ).model_copy(update={"database_url": SecretStr(database)})


@asynccontextmanager
async def opened(
    settings: Settings, decide: Callable[[list[BaseMessage], Sequence[str]], AIMessage]
) -> AsyncIterator[App]:
    async with open_app(settings, model=True, chat=Deciding(decide=decide)) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        yield app


async def work(app: App, *pieces: tuple[str, str]) -> list[str]:
    added = await app.stores.inbox.add(
        "test",
        [NewFeedback(tenant_id="t", agent_ids=(agent,), content=text) for agent, text in pieces],
    )
    await app.run(True, 4, asyncio.Event(), lambda _: None)
    return [feedback_id for feedback_id, _ in added]


def last_tool(messages: list[BaseMessage]) -> ToolMessage | None:
    return messages[-1] if isinstance(messages[-1], ToolMessage) else None


def insists_on_a_new_skill(messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
    """Request a CREATE; when that is refused, an UPDATE; write and edit as asked."""
    if "SkillEdits" in tools:
        return calls(("SkillEdits", EDIT.model_dump(mode="json")))
    if "SkillArtifact" in tools:
        return calls(("SkillArtifact", SKILL.model_dump(mode="json")))
    answer = last_tool(messages)
    if answer is None:
        return calls(("commit_to_skill", {"operation": "CREATE", "reason": "new"}))
    if answer.status == "error":
        given = {"operation": "UPDATE", "skill_id": SKILL.name, "reason": "it exists"}
        return calls(("commit_to_skill", given))
    return says("done")


async def test_two_feedback_that_teach_one_new_skill_give_a_create_and_an_update(
    settings: Settings,
) -> None:
    async with opened(settings, insists_on_a_new_skill) as app:
        await work(app, ("a", "one way to refund"), ("b", "another way to refund"))
        history, _ = await app.stores.reader.history(HistoryFilter(), limit=10, cursor=None)
        assert sorted((h.operation, h.status.value) for h in history) == [
            (Operation.CREATE, "applied"),
            (Operation.UPDATE, "applied"),
        ]
        bundle = await app.stores.skills.read("partial-refund", "t")
        assert bundle is not None
        assert "1. Check the amount." in bundle.document
        assert "2. Ask a lead." in bundle.document
        assert (await app.stores.agents.get("t", "a")).skills == ("partial-refund",)
        assert (await app.stores.agents.get("t", "b")).skills == ("partial-refund",)


async def test_a_new_skill_takes_four_model_calls_at_most(settings: Settings) -> None:
    async with opened(settings, insists_on_a_new_skill) as app:
        (feedback_id,) = await work(app, ("a", "one way to refund"))
        feedback = await app.stores.inbox.get(feedback_id)
        assert feedback.status is FeedbackStatus.COMPLETED
        assert feedback.usage.model_calls == 3


async def test_a_memory_or_a_rule_takes_three_model_calls_at_most(settings: Settings) -> None:
    def decide(messages: list[BaseMessage], _: Sequence[str]) -> AIMessage:
        if last_tool(messages):
            return says("done")
        if "rule" not in str(messages[1].content):
            return calls(
                ("commit_to_memory", {"operation": "CREATE", "content": "원화", "reason": "r"})
            )
        rule = {
            "name": "approval",
            "rows": [{"inputs": {"amount": "> 1"}, "outputs": {"by": '"x"'}}],
        }
        return calls(("commit_to_dmn_rule", {"operation": "CREATE", "rule": rule, "reason": "r"}))

    async with opened(settings, decide) as app:
        for feedback_id in await work(app, ("a", "a memory"), ("a", "a rule")):
            assert (await app.stores.inbox.get(feedback_id)).usage.model_calls == 2
        kinds = {
            i.kind for i in await app.stores.knowledge.list(tenant_id="t", agent_id="a", kind=None)
        }
        assert kinds == {Kind.MEMORY, Kind.DMN_RULE}


async def test_a_dry_run_says_what_would_be_and_leaves_no_trace(settings: Settings) -> None:
    async with open_app(settings) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="one way to refund")
        ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    chat = Deciding(decide=insists_on_a_new_skill)
    async with open_app(settings, model=True, chat=chat, dry_run=True) as app:
        ((feedback, (verdict,)),) = await app.dry_run(10)
        assert feedback.id == feedback_id
        assert [receipt.status.value for receipt in verdict.receipts] == ["prepared"]
        assert (await app.stores.inbox.get(feedback_id)).status is FeedbackStatus.QUEUED
        assert not await app.stores.skills.list("t")
        assert await app.stores.reader.events(feedback_id) == []
        assert not (await app.stores.reader.changes(ChangeFilter(), limit=5, cursor=None))[0]
        assert not await app.stores.runs.candidates("none")


async def test_reverting_a_skill_through_the_api_brings_the_folder_back(settings: Settings) -> None:
    async with opened(settings, insists_on_a_new_skill) as app:
        await work(app, ("a", "one way to refund"))
        before = await app.stores.skills.read("partial-refund", "t")
        await work(app, ("a", "another way to refund"))
        (update,) = [
            change
            for change in (await app.stores.reader.changes(ChangeFilter(), limit=5, cursor=None))[0]
            if change.operation is Operation.UPDATE
        ]
        await app.revert(update.id, "wrong")
        assert await app.stores.skills.read("partial-refund", "t") == before


async def test_a_skill_api_that_is_down_ends_as_dead_with_the_reason(settings: Settings) -> None:
    down = settings.model_copy(
        update={
            "skill_api_base_url": "http://127.0.0.1:9",
            "skill_api_max_retries": 0,
            "max_attempts": 2,
        }
    )
    async with opened(down, insists_on_a_new_skill) as app:
        (feedback_id,) = await work(app, ("a", "one way to refund"))
        feedback = await app.stores.inbox.get(feedback_id)
        assert feedback.status is FeedbackStatus.DEAD
        assert "skill_api" in (feedback.error or "")
        assert feedback.content == "one way to refund"


async def test_a_damaged_run_ends_its_feedback_and_a_retry_begins_anew(
    settings: Settings, database: str
) -> None:
    def decide(messages: list[BaseMessage], _: Sequence[str]) -> AIMessage:
        if last_tool(messages):
            return says("done")
        return calls(("no_action", {"reason": "thanks only", "category": "noise"}))

    looking = settings.model_copy(update={"reconcile_seconds": 1})  # what has no job is found soon
    async with opened(looking, decide) as app:
        (feedback_id,) = await work(app, ("a", "thank you"))
        with psycopg.connect(database) as conn:
            conn.execute("UPDATE candidates SET verdict = NULL")
            conn.execute("UPDATE feedback SET status = 'queued'")
            conn.execute("UPDATE checkpoint_blobs SET blob = 'garbage'")
        (other,) = await work(app, ("b", "thank you, too"))
        damaged = await app.stores.inbox.get(feedback_id)
        (candidate,) = await app.stores.runs.candidates(feedback_id)
        assert damaged.status is FeedbackStatus.FAILED
        assert f"the kept run {candidate.thread} cannot be read" in (damaged.error or "")
        assert "feedback retry" in (damaged.error or "")
        assert (await app.stores.inbox.get(other)).status is FeedbackStatus.NO_ACTION
        await app.stores.intake.revive(feedback_id)
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        assert (await app.stores.inbox.get(feedback_id)).status is FeedbackStatus.NO_ACTION


CANARY = "카나리아 110-987-654321"
LONG = (
    4 * "고객에게 보내는 금액은 원화로 표기하고 소수점은 쓰지 않으며 다음을 함께 적는다 "
)  # no name
RULE = {
    "name": "shipping",
    "inputs": [{"name": "지역"}],
    "outputs": [{"name": "배송비"}],
    "hit_policy": "UNIQUE",
    "rows": [{"inputs": [f'"{CANARY}'], "outputs": ["3000"]}],
}
MADE = {"operation": "CREATE", "reason": CANARY}
NAMED = {"knowledge_id": CANARY}
MEMORY = {**MADE, "content": f"{LONG}: {CANARY}"}
CASES: dict[str, AIMessage] = {
    "applied": calls(("commit_to_memory", MEMORY)),
    "refused": calls(("commit_to_memory", {**MEMORY, "operation": "UPDATE", "memory_id": CANARY})),
    "odd field": calls(("commit_to_memory", {**MEMORY, CANARY: CANARY})),
    "odd rule": calls(("commit_to_dmn_rule", {**MADE, "rule": RULE})),
    "prose": says(CANARY),
    "no detail": calls(("get_knowledge_detail", {"knowledge_type": "SKILL", **NAMED})),
    "nothing": calls(("no_action", {"category": "noise", "reason": CANARY})),
}


async def test_no_log_line_and_no_event_has_what_was_said(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = set[str]()

    def decide(messages: list[BaseMessage], _: Sequence[str]) -> AIMessage:
        text = str([message.content for message in messages])
        case = next((name for name in CASES if f"<{name}>" in text), "broken")
        if case == "broken" and case not in broken:
            broken.add(case)
            raise KeyError(CANARY)
        if last_tool(messages) is not None or case == "broken":
            return CASES["nothing"]
        return CASES[case]

    configure_logging("debug", "json")
    async with opened(settings, decide) as app:
        said = [("a", f"<{name}> {CANARY}") for name in (*CASES, "broken")]
        await work(app, *said)
        changes, _ = await app.stores.reader.changes(ChangeFilter(), limit=9, cursor=None)
        assert CANARY in str([change.after for change in changes])
        await app.stores.intake.pause(CANARY)
        piece = NewFeedback(
            tenant_id="t", agent_ids=("a",), content=f"{CANARY} 비밀번호: hunter2!77"
        )
        ((waits, _),) = await app.stores.inbox.add("test", [piece])
        await app.stores.intake.cancel(waits, CANARY)
    logged = capsys.readouterr().err
    with psycopg.connect(settings.database_url.get_secret_value()) as conn:  # type: ignore[union-attr]
        rows = conn.execute("SELECT name, data::text, state::text FROM run_events").fetchall()
    names = {str(row[0]) for row in rows}
    assert {"change.applied", "change.refused", "tool.called", "feedback.finished"} <= names
    assert '"feedback.broke"' in logged or '"feedback.retried"' in logged
    assert '"masked": ["secret.password×1"]' in logged
    # What a person typed who stopped something is in its own event, and in no line of the log.
    typed = {"queue.paused", "feedback.cancelled"}
    events = [str(row) for row in rows if row[0] not in typed]
    assert [line for line in (*logged.splitlines(), *events) if "110-987" in line] == []
    assert {str(row[0]) for row in rows if "110-987" in str(row)} == typed
