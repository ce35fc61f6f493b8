"""Tracing: what a collector on loopback receives of the real program, and what it never does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from core.app.program import App, open_app
from core.domain import tracing
from core.domain.errors import ModelDown
from core.domain.models import (
    FeedbackStatus,
    MemoryRequest,
    NewFeedback,
    Operation,
    SubmitContext,
    TraceContext,
)
from core.domain.models.access import Role
from core.entrypoints.auth import Grant
from core.mcp_client import McpServer, open_mcp
from tests.support.api import AGENTS, settings_of
from tests.support.blocked_model import blocked_model
from tests.support.mcp_agents import Knowing, client, knowing
from tests.support.otlp import CALLER, PARENT, TRACE, Collector, collecting, traced
from tests.support.waiting import SOON, within

SAID = "금액은 항상 원화로 적어 주세요"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz012345"
WORKFLOW, AGENT = "invoke_workflow process_feedback", "invoke_agent skill-worker"
CAPTURE = "otel_instrumentation_genai_capture_message_content"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


async def tell(served: Knowing, text: str, **headers: str) -> None:
    """Give a piece of feedback over HTTP and have it worked off."""
    token = await served.of_agent("a", "t", Role.SUBMIT)
    async with served.raw(token) as http:
        body = {"agent_ids": ["a"], "content": text}
        answer = await http.post("/v1/feedback", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    await work(served.app)


async def work(app: App) -> None:
    await app.run(True, 1, asyncio.Event(), lambda _: None)


def names(found: Mapping[str, object]) -> set[str]:
    return {name for name in found if not name.startswith("skill_worker.")}


async def test_a_piece_is_one_trace_under_the_call_that_brought_it(
    collector: Collector, database: str, tmp_path: Path
) -> None:
    given = {"otel_exporter_otlp_endpoint": collector.url}
    async with knowing(database, tmp_path, offline=True, **given) as served:
        await tell(served, f"{SAID}, 열쇠는 {KEY}", traceparent=PARENT, tracestate="them=1")
        await tell(served, "인사는 짧게", traceparent=f"{PARENT}-and-more")  # against the rules
    tree = collector.tree()
    assert len({span.trace for span in collector.spans}) == 2
    assert tree[8] == (WORKFLOW, "")
    assert tree[:8] == [
        (WORKFLOW, "caller"),
        (AGENT, WORKFLOW),
        ("search_memory", AGENT),
        ("chat offline", AGENT),
        ("execute_tool commit_to_memory", AGENT),
        ("search_memory", "execute_tool commit_to_memory"),  # by its cases
        ("create_memory", "execute_tool commit_to_memory"),
        ("chat offline", AGENT),
    ]
    assert not any(span.has_failed for span in collector.spans)
    agent, created = collector.named(AGENT).attributes, collector.named("create_memory").attributes
    assert agent["gen_ai.agent.id"] == "a"
    assert agent["skill_worker.tenant.id"] == "t"
    asked = next(span for span in collector.spans if span.name == "chat offline").attributes
    assert asked["gen_ai.conversation.id"] == agent["gen_ai.conversation.id"]
    assert names(asked) >= {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"}
    called = collector.named("execute_tool commit_to_memory").attributes
    assert called["skill_worker.receipt.status"] == "applied"
    assert called["skill_worker.change.id"] == created["skill_worker.change.id"]
    assert created["skill_worker.feedback.id"] == agent["skill_worker.feedback.id"]
    # Nothing of what anybody said, in any byte.
    sent = b"".join(collector.bodies).decode("utf-8", "replace")
    for word in (*SAID.split(), KEY[:12], "commit to", "Decide"):
        assert word not in sent


async def test_what_was_said_is_sent_where_wanted_and_without_secrets(
    collector: Collector, database: str, tmp_path: Path
) -> None:
    given = {"otel_exporter_otlp_endpoint": collector.url, CAPTURE: "span_only"}
    async with knowing(database, tmp_path, offline=True, safety_keep_raw=True, **given) as served:
        await tell(served, f"{SAID}, 열쇠는 {KEY}")
    asked = next(span for span in collector.spans if span.name == "chat offline").attributes
    (first,) = json.loads(str(asked["gen_ai.input.messages"]))
    assert first["role"] == "user"
    assert SAID in first["parts"][0]["content"]
    assert json.loads(str(asked["gen_ai.output.messages"]))[0]["parts"][0]["type"] == "tool_call"
    called = collector.named("execute_tool commit_to_memory").attributes
    assert SAID in json.loads(str(called["gen_ai.tool.call.arguments"]))["content"]
    assert SAID in str(collector.named("create_memory").attributes["gen_ai.memory.records"])
    searched = next(span for span in collector.spans if span.name == "search_memory").attributes
    assert SAID in str(searched["gen_ai.memory.query.text"])
    assert KEY.encode() not in b"".join(collector.bodies)


async def test_a_change_that_waited_is_applied_in_the_reviewers_trace(
    collector: Collector, database: str, tmp_path: Path
) -> None:
    async with knowing(database, tmp_path, review_policy="all") as served, traced(collector):
        asked = MemoryRequest(operation=Operation.CREATE, content=SAID)
        context = SubmitContext(key="k", tenant_id="t", agent_id="a")
        change = (await served.app.gate.submit(asked, context)).change_id or ""
        seen = {"seen": (await served.app.stores.changes.get(change)).content_hash}
        async with served.raw(await served.token(Grant(name="lee", tenant_id="t"))) as http:
            approve = f"/v1/changes/{change}/approve"
            answer = await http.post(approve, json=seen, headers={"traceparent": PARENT})
    assert answer.status_code == 200, answer.text
    applied = collector.named("create_memory")
    assert (applied.trace, applied.parent) == (TRACE, CALLER)
    assert applied.attributes["skill_worker.change.id"] == change


async def test_a_caller_who_keeps_no_trace_gets_none(collector: Collector) -> None:
    async with traced(collector):
        with tracing.under(TraceContext(traceparent=PARENT[:-1] + "0")), tracing.tool("x", None):
            assert tracing.outgoing()["traceparent"].endswith("-00")
    assert collector.spans == []


async def test_a_worker_that_is_stopped_ends_its_spans_and_the_next_goes_on(
    collector: Collector, database: str, tmp_path: Path
) -> None:
    with blocked_model() as model:
        settings = settings_of(
            database,
            tmp_path,
            llm_model="openai:held",
            llm_proxy_url=model.url,
            otel_exporter_otlp_endpoint=collector.url,
        )
        async with open_app(settings, model=True) as app:
            await app.stores.agents.save(AGENTS[0])
            piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=SAID)
            with tracing.under(TraceContext(traceparent=PARENT)):
                ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
            stop = asyncio.Event()
            working = asyncio.create_task(app.run(False, 1, stop, lambda _: None))
            await asyncio.to_thread(model.asked.wait, SOON)
            stop.set()
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
        cut = {span.name: span for span in collector.spans if span.has_failed}
        assert set(cut) == {WORKFLOW, AGENT, "chat held"}
        assert {span.attributes["error.type"] for span in cut.values()} == {"cancelled"}
        model.goes_on.set()
        async with open_app(settings, model=True) as app:
            await work(app)
            ended = await app.stores.inbox.get(feedback_id)
            assert ended.status is FeedbackStatus.NO_ACTION
    attempts = [span for span in collector.spans if span.name == WORKFLOW]
    assert [(span.trace, span.parent, span.has_failed) for span in attempts] == [
        (TRACE, CALLER, True),
        (TRACE, CALLER, False),
    ]


async def test_a_collector_that_is_down_costs_no_work_and_one_warning(
    collector: Collector, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    collector.status = 400
    given = {"otel_exporter_otlp_endpoint": collector.url}
    with capture_logs() as told:
        async with knowing(database, tmp_path, offline=True, **given) as served:
            for text in (SAID, "인사는 짧게 해 주세요"):
                await tell(served, text)
            counts = await served.app.stores.reader.counts()
        assert counts == {"completed": 2}
        assert len(collector.headers) > 1
        failed = [line for line in told if line["event"] == "tracing.failed"]
        assert len(failed) == 1


async def test_a_collector_that_is_back_is_told_of_once(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    with capture_logs() as told:
        async with traced(collector):
            collector.status = 400
            await _span_until(lambda: _told(told, "tracing.failed"))
            collector.status = 200
            await _span_until(lambda: _told(told, "tracing.resumed"))
    assert [line["event"] for line in told] == ["tracing.failed", "tracing.resumed"]


def _told(lines: object, event: str) -> bool:
    return event in str(lines)


async def _span_until(condition: object) -> None:
    async with asyncio.timeout(SOON):
        while not condition():  # type: ignore[operator]
            with tracing.tool("x", None):
                await asyncio.sleep(0.02)


async def test_the_end_of_a_worker_does_not_wait_for_a_collector(collector: Collector) -> None:
    gone = Collector(url="http://127.0.0.1:9")  # nobody listens on the port of `discard`
    with within(SOON), capture_logs() as told:
        async with traced(gone):
            with tracing.tool("x", None):
                pass
    assert [line["event"] for line in told] == ["tracing.failed"]


async def test_a_failed_call_says_what_kind_of_failure_it_was(collector: Collector) -> None:
    async with traced(collector):
        with pytest.raises(ModelDown), tracing.chat(provider="openai", model="gpt\ud800"):
            raise ModelDown(f"it said {SAID}")
    (span,) = collector.spans
    assert (span.name, span.has_failed, span.attributes["error.type"]) == (
        "chat gpt?",
        True,
        "model",
    )
    assert "it said" not in str(collector.bodies)


async def test_agents_bring_their_trace_along_over_mcp(
    collector: Collector, database: str, tmp_path: Path
) -> None:
    async with knowing(database, tmp_path) as served, traced(collector):
        token = await served.of_agent("a", "t", Role.SUBMIT)
        async with client(served.url, token) as agent:
            given = {"text": SAID}
            meta = {"traceparent": PARENT, "tracestate": "them=1"}
            answer = await agent.session.call_tool("give_feedback", given, meta=meta)
            assert answer.structuredContent is not None
            piece = await served.app.stores.inbox.get(answer.structuredContent["id"])
            assert piece.trace == TraceContext(traceparent=PARENT, tracestate="them=1")
            bad = await agent.session.call_tool("give_feedback", given, meta={"traceparent": "x"})
            assert bad.structuredContent is not None
            assert not bad.isError
        # Our own client: the trace of the task that calls, not that of the session.
        server = McpServer("known", f"{served.url}/mcp", token)
        async with open_mcp([server], call_seconds=SOON) as mcp:
            tool = await mcp.get_mcp_tool_by_name_async("search_memories")
            with tracing.tool("search_memories", None):
                await tool.ainvoke({"query": SAID})
    assert collector.tree() == [
        ("execute_tool search_memories", ""),
        ("search_memory", "execute_tool search_memories"),
    ]


_WITHOUT = """
import asyncio, sys
import core.app.program
from core.app.bootstrap.tracing import open_tracing
from core.app.settings import load_settings
from core.domain import tracing

async def see(**given):
    async with open_tracing(load_settings(given, env_file=None)):
        with tracing.tool("x", None):
            assert not tracing.is_on()

address = {"otel_exporter_otlp_endpoint": "http://127.0.0.1:9"}
asyncio.run(see())
asyncio.run(see(**address, otel_sdk_disabled=True))
# Of the SDK other libraries load parts where it is installed.
ours = ("core.adapters.tracing", "opentelemetry.exporter")
assert not [name for name in sys.modules if name.startswith(ours)]
sys.modules["opentelemetry.exporter.otlp"] = None
asyncio.run(see(**address))
"""


def test_without_an_address_or_the_extra_nothing_is_traced_or_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    command = [sys.executable, "-c", _WITHOUT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("tracing.missing") == 1
