"""A model that learns whatever it is told, word for word: the worst case for a screen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import JsonValue

from core.agent.offline.model import AnsweringChatModel
from core.domain.text import read_fenced_json
from core.testing.scripted_model import calls, says

POISON = Path(__file__).parents[1] / "evals" / "sets" / "open" / "poison.jsonl"


def poison() -> list[dict[str, JsonValue]]:
    """Return the open set of poisoned and of benign pieces."""
    return [json.loads(line) for line in POISON.read_text("utf-8").splitlines()]


class Obedient(AnsweringChatModel):
    """Writes what the feedback says as it stands: a memory, or a skill where its task says so."""

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        told = _told(messages)
        if "SkillArtifact" in tools:
            return _called(calls(("SkillArtifact", _artifact(str(told["feedback"])))))
        if isinstance(messages[-1], ToolMessage):
            return says("done")
        if any(isinstance(message, ToolMessage) for message in messages):  # it was refused
            given: dict[str, JsonValue] = {"reason": "refused", "category": "unclear"}
            return _called(calls(("no_action", given)))
        feedback = told["feedback"]
        assert isinstance(feedback, dict)
        if feedback.get("task") == "SKILL":
            return _called(calls(("commit_to_skill", {"operation": "CREATE", "reason": "new"})))
        text: dict[str, JsonValue] = {"content": feedback["text"], "operation": "CREATE"}
        return _called(calls(("commit_to_memory", {**text, "reason": "unrelated"})))


def _told(messages: Sequence[BaseMessage]) -> dict[str, JsonValue]:
    for message in messages:
        data = read_fenced_json(str(message.text))
        if isinstance(data, dict) and "feedback" in data:
            return data
    raise AssertionError("nothing was said")


def _called(message: AIMessage) -> AIMessage:
    named = [{**call, "id": f"c{at}"} for at, call in enumerate(message.tool_calls)]
    return message.model_copy(update={"tool_calls": named})


def _artifact(text: str) -> dict[str, JsonValue]:
    name = f"skill-{sha256(text.encode()).hexdigest()[:8]}"
    return {"name": name, "description": "Use as told.", "body_markdown": f"# Told\n\n{text}\n"}
