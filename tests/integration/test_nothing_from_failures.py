"""Nothing is learnt from a failure of ours: it ends or delays the feedback."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import JsonValue, SecretStr

from core.agent.offline.model import AnsweringChatModel
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.errors import InvalidInput, ModelDown
from core.domain.models import Agent, Feedback, FeedbackStatus, HistoryFilter, NewFeedback
from core.domain.text import read_fenced_json
from core.testing.scripted_model import calls, says

ROOT = Path(__file__).parents[2]
LESSON = "Reports are always in PDF."
FAILURES: tuple[JsonValue, ...] = (
    {"step": "learn", "error": "model: 429 rate limit"},
    {"tool": "search", "error": "timeout after 30 s"},
    {"tool": "skill API", "error": "503 Service Unavailable"},
)
Decide = Callable[[list[BaseMessage], Sequence[str]], AIMessage]


class Deciding(AnsweringChatModel):
    """A model whose next message is the result of a plain function of messages and tools."""

    decide: Decide

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        return self.decide(messages, tools)


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    given = {"skill_worker_home": tmp_path, "retry_base_seconds": 0.05, "max_attempts": 2}
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def worker(settings: Settings, decide: Decide | None = None) -> AsyncIterator[App]:
    chat = Deciding(decide=decide) if decide else None
    async with open_app(settings, model=True, offline=chat is None, chat=chat) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield app


async def told(app: App, content: str, *events: JsonValue) -> Feedback:
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=content, events=events)
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    await app.run(True, 1, asyncio.Event(), lambda _: None)
    return await app.stores.inbox.get(feedback_id)


async def nothing_is_known(app: App) -> bool:
    known = await app.stores.knowledge.list(tenant_id=None, agent_id=None, kind=None)
    history, _ = await app.stores.reader.history(HistoryFilter(), limit=9, cursor=None)
    return not known and not history


@pytest.mark.parametrize(
    "said", ["고마워요!", "다시 해 주세요", "왜 안 됐나요?", "It failed, run it again."]
)
async def test_a_log_full_of_failures_teaches_nothing(settings: Settings, said: str) -> None:
    async with worker(settings) as app:
        assert (await told(app, said, *FAILURES)).status is FeedbackStatus.NO_ACTION
        assert await nothing_is_known(app)


async def test_a_lesson_beside_failures_is_learnt_without_them(settings: Settings) -> None:
    async with worker(settings) as app:
        assert (await told(app, LESSON, *FAILURES)).status is FeedbackStatus.COMPLETED
        (item,) = await app.stores.knowledge.list(tenant_id=None, agent_id=None, kind=None)
        assert item.content == LESSON


async def test_failures_of_the_log_stay_apart_from_the_user_s_words(settings: Settings) -> None:
    seen: list[JsonValue] = []

    def decide(messages: list[BaseMessage], _: Sequence[str]) -> AIMessage:
        seen.append(read_fenced_json(messages[1].text))
        return calls(("no_action", {"reason": "thanks", "category": "noise"}))

    async with worker(settings, decide) as app:
        await told(app, "thanks", *FAILURES)
    (data,) = seen
    assert isinstance(data, dict)
    assert data["events"] == [*FAILURES]
    assert "503" not in str({key: data[key] for key in data if key != "events"})


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelDown("the model timed out"), FeedbackStatus.DEAD),
        (InvalidInput("the model refuses the request"), FeedbackStatus.FAILED),
        (RuntimeError("a defect of ours"), FeedbackStatus.DEAD),
    ],
)
async def test_a_model_that_fails_is_no_lesson_and_the_feedback_says_so(
    settings: Settings, error: Exception, status: FeedbackStatus
) -> None:
    def decide(_: list[BaseMessage], __: Sequence[str]) -> AIMessage:
        raise error

    patient = settings.model_copy(update={"llm_breaker_failures": 1000})
    async with worker(patient, decide) as app:
        feedback = await told(app, LESSON)
        assert feedback.status is status
        assert str(error) in (feedback.error or "")
        assert await nothing_is_known(app)


async def test_a_run_without_an_outcome_is_a_failure_and_no_lesson(settings: Settings) -> None:
    async with worker(settings, lambda *_: says("I would note that the tool is slow.")) as app:
        feedback = await told(app, LESSON)
        assert feedback.status is FeedbackStatus.FAILED
        assert "no_commit" in (feedback.error or "")
        assert await nothing_is_known(app)


def test_no_pattern_of_words_decides_what_is_learnt() -> None:
    spine = ("feedback_matcher", "react_agent", "react_tools", "polling_manager")
    paths = [ROOT / "core" / f"{name}.py" for name in (*spine, "app/agent_setup")]
    for room in ("agent/loop", "changes/gate", "changes/policy"):
        paths += (ROOT / "core" / room).glob("*.py")
    assert [path.name for path in paths if "re" in _imported(path)] == []


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
