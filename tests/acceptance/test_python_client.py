"""The client for agents in Python against a worker as a process: an agent that learns."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from pydantic import Field
from skill_worker_client import (
    CallRefused,
    NotAllowed,
    SkillWorker,
    Unknown,
    Unreachable,
    UsedItem,
)
from skill_worker_client.langchain import KnowledgeMiddleware, KnowledgeRetriever, KnowledgeStore

from tests.support.commands import finish, start, wait_for
from tests.support.databases import fresh_database, of_worker, url_of
from tests.support.waiting import SOON, wait_until

A = TypeVar("A")
CLIENT = Path(__file__).parents[2] / "clients" / "python" / "skill_worker_client"
QUOTES = "견적서 금액은 원화로, 소수점 없이 적어 주세요"
ORDERS = "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다"
PARCELS = "해외 배송 소포에는 관세 신고서를 두 부 넣는다"
SHIPPING = "해외 배송 소포에 관세 신고서를 몇 부 넣나요?"
QUESTION = "김 대리에게 보낼 견적서를 원화로 써도 되나요?"


class Scripted(BaseChatModel):
    """Answers as it is told, and remembers what it was asked."""

    answers: list[AIMessage] = Field(default_factory=list)
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: object, **kwargs: object) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *args: object, **kwargs: object) -> ChatResult:
        self.asked.append(messages)
        answer = self.answers.pop(0) if self.answers else AIMessage("네")
        return ChatResult(generations=[ChatGeneration(message=answer)])

    @property
    def reference(self) -> str:
        """What the system message of the last call said."""
        first = self.asked[-1][0]
        return first.text if isinstance(first, SystemMessage) else ""


@dataclass
class Running:
    """A worker that serves two agents, and a client of one of them."""

    home: Path
    database: str
    url: str
    client: SkillWorker
    client_token: str = ""

    def ask(self, *arguments: str) -> dict[str, object]:
        code, out, err = finish(self.home, *arguments, "--json", DATABASE_URL=url_of(self.database))
        assert code == 0, out + err
        answer: dict[str, object] = json.loads(out)
        return answer

    def token(self, agent: str) -> str:
        added = ("tokens", "add", "--name", agent, "--tenant", "t", "--agent", agent)
        return str(self.ask(*added, "--role", "read", "--role", "submit")["secret"])

    def awaits(self, call: Awaitable[A]) -> A:
        """Await a call of the client in a loop of its own."""

        async def awaited() -> A:
            try:
                return await call
            finally:
                await self.client.aclose()

        return asyncio.run(awaited())

    def watch(self, folder: Path) -> subprocess.Popen[str]:
        """Start a sync of what agent `a` knows that goes on."""
        asked = ("knowledge", "sync", str(folder), "--layout", "claude", "--agent", "a", "--watch")
        return start(self.home, *asked, DATABASE_URL=url_of(self.database))

    async def over_mcp(self, tool: str, **arguments: str) -> str:
        """Call a tool as an MCP client of agent `a`, and return the answer."""
        headers = {"Authorization": f"Bearer {self.client_token}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=SOON) as http,
            streamable_http_client(f"{self.url}/mcp", http_client=http) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return (await session.call_tool(tool, arguments)).model_dump_json()

    def learns(self, text: str, until: str) -> str:
        """Give feedback and wait until a task has a context; return the feedback's id."""
        taken = self.client.give_feedback(text)
        self.waits_for(until, known=True)
        return taken.id

    def waits_for(self, task: str, *, known: bool) -> None:
        end = time.monotonic() + SOON
        while bool(self.client.context(task).items) is not known:
            assert time.monotonic() < end, f"{task!r} is still {'un' * known}known"


@pytest.fixture(scope="module")
def running(
    server: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("client")
    with fresh_database(server, template) as made:
        database = of_worker(made)
        agents = home / "agents.yaml"
        agents.write_text("- {id: a, tenant_id: t, name: A}\n- {id: b, tenant_id: t, name: B}\n")
        worker = start(
            home, "run", "--api", "--offline", "--port", "0", DATABASE_URL=url_of(database)
        )
        try:
            url: str = json.loads(wait_for(worker, "server.started"))["url"]
            wait_for(worker, "Waiting for feedback")
            begun = Running(home, database, url, SkillWorker(url, "none"))
            begun.ask("agents", "import", str(agents))
            begun.client.close()
            begun.client_token = begun.token("a")
            with SkillWorker(url, begun.client_token, agent="a") as begun.client:
                yield begun
        finally:
            worker.kill()
            worker.communicate(timeout=SOON)


def call(tool: str, **arguments: object) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": tool}])


def test_an_agent_acts_on_what_was_said_until_it_is_taken_back(running: Running) -> None:
    model = Scripted()
    agent = create_agent(
        model, system_prompt="짧게.", middleware=[KnowledgeMiddleware(running.client)]
    )
    asked = {"messages": [("user", QUESTION)]}
    agent.invoke(asked)
    assert model.reference == "짧게."  # it can be silent
    feedback_id = running.learns(QUOTES, QUESTION)
    done = agent.invoke(asked)
    assert QUOTES in model.reference
    assert model.reference.startswith("짧게.")
    assert all(QUOTES not in one.text for one in done["messages"])  # no conversation keeps it
    running.ask("retract", feedback_id)
    running.waits_for(QUESTION, known=False)
    running.awaits(agent.ainvoke(asked))
    assert model.reference == "짧게."


def test_what_is_learnt_and_retracted_reaches_three_ways(running: Running) -> None:
    """A graph with the middleware, an MCP client and a synced folder, none of them restarted."""
    model = Scripted()
    agent = create_agent(model, middleware=[KnowledgeMiddleware(running.client)])
    folder = running.home / "synced"
    watched = running.watch(folder)

    def are_told() -> list[bool]:
        agent.invoke({"messages": [("user", SHIPPING)]})
        file = folder / "CLAUDE.md"
        in_file = file.exists() and PARCELS in file.read_text("utf-8")
        found = asyncio.run(running.over_mcp("search_memories", query=SHIPPING))
        return [PARCELS in model.reference, PARCELS in found, in_file]

    try:
        wait_for(watched, "watching")
        assert are_told() == [False] * 3
        learnt = running.client.give_feedback(PARCELS)
        wait_until(lambda: are_told() == [True] * 3)
        running.ask("retract", learnt.id)
        wait_until(lambda: are_told() == [False] * 3)
    finally:
        watched.kill()
        watched.communicate(timeout=SOON)


def test_a_model_decides_by_tables_and_reports_what_it_used(running: Running) -> None:
    running.learns(ORDERS, "주문 금액 승인")
    name = next(
        one.name for one in running.client.context("주문 금액 승인").items if one.kind == "DMN_RULE"
    )
    script = [
        call("evaluate_decision", name=name, inputs={}),
        call("evaluate_decision", name=name, inputs={"주문 금액": 1_000_001}),
        call("report_outcome", success=True),
    ]
    model = Scripted(answers=script)
    agent = create_agent(model, middleware=[KnowledgeMiddleware(running.client)])
    asked = {"messages": [("user", "1,000,001원 주문은 누가 승인하나요?")]}
    done = running.awaits(agent.ainvoke(asked))
    told = [one for one in done["messages"] if isinstance(one, ToolMessage)]
    missing, decided, reported = (json.loads(one.text) for one in told)
    assert missing["missing"][0]["name"] == "주문 금액"
    assert "팀장" in json.dumps(decided["output"], ensure_ascii=False)
    (item,) = told[1].artifact
    assert [(one["id"], one["version"]) for one in reported["kept"]] == [tuple(item)]


def test_a_judge_reports_in_place_of_the_model(running: Running) -> None:
    judged: list[int] = []

    def judge(state: object) -> bool:
        judged.append(1)
        return False

    middleware = KnowledgeMiddleware(running.client, judge=judge)
    assert "report_outcome" not in {one.name for one in middleware.tools}
    create_agent(Scripted(), middleware=[middleware]).invoke({"messages": [("user", "인사")]})
    assert judged == [1]


def test_memories_are_documents_and_items_of_a_store(running: Running) -> None:
    running.learns("인사말은 존댓말로 짧게 적어 주세요", "인사말 존댓말")
    (document, *_) = KnowledgeRetriever(worker=running.client).invoke("인사말 존댓말")
    store = KnowledgeStore(running.client)
    (item, *_) = running.awaits(store.asearch(("memories",), query="인사말 존댓말"))
    assert document.page_content == item.value["content"] == "인사말은 존댓말로 짧게 적어 주세요"
    assert (document.id, document.metadata["version"]) == (item.key, item.value["version"])
    with pytest.raises(NotImplementedError):
        store.delete(("memories",), item.key)
    with pytest.raises(ValueError, match="content"):
        store.put(("memories",), "k", {"text": "x"})


def test_refusals_say_what_and_what_to_do(running: Running) -> None:
    with pytest.raises(NotAllowed), SkillWorker(running.url, "swk_wrong", agent="a") as wrong:
        wrong.context("x")
    with pytest.raises(Unknown), SkillWorker(running.url, running.token("b"), agent="a") as other:
        other.context("x")
    with pytest.raises(Unknown, match="list"):
        running.client.load_skill("nobody-has-it")
    with pytest.raises(CallRefused):
        running.client.context("x", budget_tokens=1)
    with pytest.raises(CallRefused, match="surrogates not allowed"):
        running.client.context("half of a character: \ud800")
    with pytest.raises(CallRefused, match="not JSON compliant"):
        running.client.evaluate_decision("x", {"amount": float("nan")})
    with (
        pytest.raises(Unknown, match="목록에"),
        SkillWorker(running.url, running.client_token, agent="a", language="ko") as speaks,
    ):
        speaks.load_skill("nobody-has-it")
    gone = running.client.report_outcome([UsedItem(id="mem-none", version=1)], success=False)
    assert [one.id for one in gone.refused] == ["mem-none"]


@pytest.mark.parametrize("token", ["", " ", "토큰", "swk_half\nX-Other: 1"])
def test_what_can_be_no_token_is_said_at_once_and_not_quoted(token: str) -> None:
    with pytest.raises(ValueError, match="tokens add") as refused:
        SkillWorker("http://127.0.0.1:9", token)
    assert token.strip() not in str(refused.value) or not token.strip()


def test_an_agent_goes_on_without_a_worker_unless_it_is_required(running: Running) -> None:
    with SkillWorker("http://127.0.0.1:9", "t", agent="a", timeout=0.2) as nowhere:
        asked = {"messages": [("user", QUESTION)]}
        agent = create_agent(Scripted(), middleware=[KnowledgeMiddleware(nowhere)])
        assert agent.invoke(asked)["messages"][-1].text == "네"
        strict = create_agent(Scripted(), middleware=[KnowledgeMiddleware(nowhere, required=True)])
        with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9/v1/context"):
            strict.invoke(asked)


def test_an_agent_goes_on_with_words_that_cannot_be_sent(running: Running) -> None:
    agent = create_agent(Scripted(), middleware=[KnowledgeMiddleware(running.client)])
    assert agent.invoke({"messages": [("user", "\ud800")]})["messages"][-1].text == "네"


def test_it_imports_nothing_of_the_worker_and_langchain_only_when_asked() -> None:
    code = (
        "import sys, skill_worker_client\n"
        "print([n for n in sys.modules if n.split('.')[0] in {'core', 'langchain', 'langgraph'}])"
    )
    environment = {"PYTHONPATH": str(CLIENT.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    sources = "".join(path.read_text("utf-8") for path in CLIENT.rglob("*.py"))
    assert "from core" not in sources
