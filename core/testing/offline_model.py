"""A deterministic stand-in for a language model, so that all else runs without a key.

It speaks LangChain's tool-calling protocol and picks by rules of thumb: `offline_rules` for a
ReAct run, `offline_match` for dividing feedback, `offline_author` for skills. It reads only
what a model is given, the JSON document of the prompt, and says in its reasons that it is a
stand-in. Tokens are estimated at four characters each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall
from pydantic import JsonValue

from core.prompt_data import compact, read_fenced_json
from core.testing import offline_author, offline_match
from core.testing import offline_rules as rules
from core.testing.chat_model import AnsweringChatModel
from core.testing.offline_reasons import STAND_IN

_DONE = ("applied", "held", "known", "attached", "prepared")
Data = dict[str, JsonValue]


class OfflineChatModel(AnsweringChatModel):
    """Answers by rules of thumb; the same messages always get the same answer."""

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Give the next message of the conversation these tools stand for."""
        data = _document(messages)
        if "MatchAnswer" in tools:
            return _said(messages, ("MatchAnswer", offline_match.answer(data)))
        if "SkillArtifact" in tools:
            return _said(messages, offline_author.answer(data))
        return _said(messages, _next(_view(data), _answers(messages), _why(messages)))


def _next(view: rules.View, answers: Sequence[Data], why: str) -> rules.Call | str:
    """Give the next step of a run by what the tools answered last: a call, or the reason why."""
    if any(answer.get("status") in _DONE for answer in answers):
        return why
    for answer in answers:
        table = answer.get("table")
        if isinstance(table, dict):
            return rules.edit_rule(view, str(answer["id"]), table)
        if answer.get("hits") and answer.get("status") == "refused":
            return rules.update_instead(view, str(answer["kind"]), str(answer["target_id"]))
    if answers:
        told = str(answers[0].get("message") or answers[0].get("status") or "a tool failed")
        return rules.no_action(view, "unclear", "failed", told)
    return rules.decide(view)


def _document(messages: Sequence[BaseMessage]) -> Data:
    for message in messages:
        if isinstance(message, HumanMessage):
            data = read_fenced_json(message.text)
            if isinstance(data, dict):
                return data
    return {}


def _answers(messages: Sequence[BaseMessage]) -> list[Data]:
    """Give what the tools answered after the last turn."""
    answers: list[Data] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            answers.insert(0, _parsed(message.text))
    return answers


def _why(messages: Sequence[BaseMessage]) -> str:
    """Give the reason of the last call: it says best what a finished run came to."""
    said = [message for message in messages if isinstance(message, AIMessage)]
    calls = said[-1].tool_calls if said else []
    return str(calls[-1]["args"].get("reason", STAND_IN)) if calls else STAND_IN


def _parsed(text: str) -> Data:
    try:
        data: JsonValue = json.loads(text)
    except ValueError:
        return {"message": text}
    return data if isinstance(data, dict) else {"message": text}


def _view(data: Data) -> rules.View:
    candidate, feedback, agent = (_part(data, key) for key in ("candidate", "feedback", "agent"))
    related = data.get("related")
    hits = [hit for hit in related if isinstance(hit, dict)] if isinstance(related, list) else []
    return rules.View(
        text=str(candidate.get("content") or feedback.get("text") or ""),
        task=str(feedback.get("task") or ""),
        related=tuple(_related(hit, str(agent.get("id"))) for hit in hits),
    )


def _related(hit: Data, agent_id: str) -> rules.Related:
    return rules.Related(
        id=str(hit["id"]),
        kind=str(hit["kind"]),
        name=str(hit["name"]),
        excerpt=str(hit["excerpt"]),
        is_own=hit["kind"] == "SKILL" or hit.get("agent_id") in {None, agent_id},
        on_agent=hit.get("on_agent") is True,
    )


def _part(data: Data, key: str) -> Data:
    part = data.get(key)
    return part if isinstance(part, dict) else {}


def _said(messages: Sequence[BaseMessage], step: rules.Call | str) -> AIMessage:
    read = sum(len(message.text) for message in messages) // 4 + 1
    if isinstance(step, str):
        return AIMessage(step, usage_metadata=_usage(read, len(step)))
    name, args = step
    turn = sum(isinstance(message, AIMessage) for message in messages) + 1
    call = ToolCall(name=name, args=args, id=f"offline-{turn}", type="tool_call")
    return AIMessage("", tool_calls=[call], usage_metadata=_usage(read, len(compact(args))))


def _usage(read: int, written: int) -> UsageMetadata:
    out = written // 4 + 1
    return UsageMetadata(input_tokens=read, output_tokens=out, total_tokens=read + out)
