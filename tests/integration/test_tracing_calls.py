"""Tracing of calls: each takes its trace along, and each model and tool call is a span."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.types import Receive, Scope, Send

from core.adapters.mcp.session import McpServer, Wire
from core.agent.model.chat_model import build_chat_model, close_chat_model
from core.domain import tracing
from core.domain.models import Agent, Feedback, TraceContext
from core.domain.ports import NoConversations
from core.feedback_matcher import MatchDeps, match_feedback_to_agents
from core.skill_api_client import open_skill_api
from core.testing.scripted_model import ScriptedChatModel, calls, says
from core.testing.stores import MemoryReplies
from tests.support.breaker import SimpleBreaker
from tests.support.openai_server import call, error, message, openai_server
from tests.support.otlp import PARENT, TRACE, Collector, collecting, traced
from tests.support.react import AGENT, FEEDBACK, MEMORY, Bench
from tests.unit.test_hooks_http import NOTICE, Receiver, answer, asker


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


async def test_a_model_over_http_is_a_span_and_gets_its_context(collector: Collector) -> None:
    turns = [call("commit_to_memory", **MEMORY), message("기억했습니다.")]
    async with openai_server(turns) as server, traced(collector):
        run = Bench([])
        model = build_chat_model("openai:gpt-4o", proxy_url=server.url, max_retries=0)
        run.model = model  # type: ignore[assignment]
        with tracing.under(TraceContext(traceparent=PARENT, tracestate="them=1")):
            await run.run()
        await close_chat_model(model)
    chats = [span for span in collector.spans if span.name == "chat gpt-4o"]
    sent = [f"00-{TRACE}-{span.id}-01" for span in chats]
    assert [headers["traceparent"] for headers in server.headers] == sent
    assert {headers["tracestate"] for headers in server.headers} == {"them=1"}
    found = chats[0].attributes
    assert found["gen_ai.provider.name"] == "openai"
    assert (found["gen_ai.usage.input_tokens"], found["gen_ai.usage.output_tokens"]) == (100, 10)
    assert found["gen_ai.response.finish_reasons"] == ["tool_calls"]


async def test_a_model_that_fails_ends_its_span_with_the_kind(collector: Collector) -> None:
    async with openai_server([error(503)]) as server, traced(collector):
        run = Bench([])
        model = build_chat_model("openai:gpt-4o", proxy_url=server.url, max_retries=0)
        run.model = model  # type: ignore[assignment]
        with pytest.raises(Exception, match="503"):
            await run.run()
        await close_chat_model(model)
    failed = {span.name: span.attributes.get("error.type") for span in collector.spans}
    assert failed == {"invoke_agent skill-worker": "model", "chat gpt-4o": "model"}


async def test_what_a_model_calls_a_tool_is_in_no_span(collector: Collector) -> None:
    made_up = calls(("금액은_원화로", {"x": 1}))
    refused = calls(("commit_to_memory", {"content": "x"}))
    done = calls(("no_action", {"reason": "thanks", "category": "noise"}))
    async with traced(collector):
        await Bench([made_up, refused, done]).run()
    tools = [span for span in collector.spans if span.name.startswith("execute_tool")]
    told = [(span.name, span.attributes.get("error.type")) for span in tools]
    assert told == [
        ("execute_tool unknown", "invalid"),
        ("execute_tool commit_to_memory", "invalid"),
        ("execute_tool no_action", None),
    ]
    assert "원화" not in b"".join(collector.bodies).decode("utf-8", "replace")


async def test_a_run_without_an_outcome_is_a_failed_span(collector: Collector) -> None:
    async with traced(collector):
        await Bench([says("음")] * 4).run()
    run = collector.named("invoke_agent skill-worker")
    assert (run.has_failed, run.attributes["error.type"]) == (True, "no_commit")


async def test_the_matchers_question_is_a_span_too(collector: Collector) -> None:
    picked = {"agents": [{"agent_id": "a1", "content": "원 단위"}]}
    model = ScriptedChatModel([calls(("MatchAnswer", picked))])
    deps = MatchDeps(model, SimpleBreaker(), MemoryReplies(), conversations=NoConversations())
    other = Agent(id="a2", tenant_id="t1", name="other")
    async with traced(collector):
        with tracing.attempt(Feedback(**FEEDBACK.model_dump())):
            await match_feedback_to_agents(FEEDBACK, [AGENT, other], "", (), deps=deps)
    (_, asked) = collector.spans
    assert asked.name.startswith("chat ")
    assert collector.tree()[1][1] == "invoke_workflow process_feedback"


async def test_the_skill_api_and_hooks_get_the_context(collector: Collector) -> None:
    seen: list[dict[bytes, bytes]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(dict(scope["headers"]))
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b'{"name": "x", "exists": false}'})

    async with Receiver(answer(204)).listening() as receiver, traced(collector):
        with tracing.tool("x", None):
            async with open_skill_api("http://skills.test", None, within=lambda: app) as api:
                await api.check_skill_exists("x", "t")
            hook = asker(receiver.url)
            await hook.ask(NOTICE)
            await hook.close()
            expected = tracing.outgoing()["traceparent"]
    assert seen[0][b"traceparent"].decode() == expected
    assert receiver.came[0][0]["traceparent"] == expected


async def test_a_message_over_mcp_has_its_context_as_headers_too(collector: Collector) -> None:
    meta = {"traceparent": PARENT, "tracestate": "them=1"}
    arguments = {"text": 'says "traceparent" and more', "traceparent": "not this one"}
    async with Receiver(answer(202)).listening() as receiver:
        client = Wire(McpServer("x", receiver.url), lambda _: None).client()
        for params in ({"_meta": meta, "arguments": arguments}, {"arguments": arguments}):
            async with traced(collector):
                await client.post(receiver.url, json={"method": "tools/call", "params": params})
        await client.aclose()
    first, second = (headers for headers, _ in receiver.came)
    assert {name: first[name] for name in meta} == meta
    assert "traceparent" not in second


async def test_nothing_is_sent_along_where_nothing_is_traced() -> None:
    async with Receiver(answer(204)).listening() as receiver:
        with tracing.under(TraceContext(traceparent=PARENT)):
            hook = asker(receiver.url)
            await hook.ask(NOTICE)
            await hook.close()
    assert "traceparent" not in json.dumps(receiver.came[0][0])
