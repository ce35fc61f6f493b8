"""Answers of a model to the tasks of cases, with what an agent would know; asked for once each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, JsonValue

from core.agent.budgets import Meter
from core.agent.model.chat_model import ask_structured, parse_structured, prompt
from core.domain.errors import SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Change
from core.domain.models.base import Model
from core.domain.ports import CircuitBreaker, Replies
from core.domain.text import compact, fenced_json

_KEY_CHARS = 16


class TaskAnswer(Model):
    """What the agent answers."""

    answer: str


class Judgement(Model):
    """Whether a statement holds of an answer."""

    holds: bool
    why: str = Field(default="", description="one sentence: which words show it")


M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class ModelAnswers:
    """The `CaseAnswers` port. Replies are stored: what is tried again asks nothing twice."""

    model: BaseChatModel
    breaker: CircuitBreaker
    replies: Replies
    meter: Meter

    async def answer(self, change: Change, task: str, knowledge: str, run: int) -> str:
        data: dict[str, JsonValue] = {"knowledge": knowledge, "task": task}
        messages = [SystemMessage(prompt("case_answer")), HumanMessage(fenced_json(data))]
        return (await self._asked(change, messages, TaskAnswer, run)).answer

    async def judge(self, change: Change, statement: str, answer: str) -> bool:
        data: dict[str, JsonValue] = {"statement": statement, "answer": answer}
        messages = [SystemMessage(prompt("case_judge")), HumanMessage(fenced_json(data))]
        return (await self._asked(change, messages, Judgement, 1)).holds

    async def _asked(
        self, change: Change, messages: Sequence[BaseMessage], schema: type[M], run: int
    ) -> M:
        digest = text_hash(compact([str(message.content) for message in messages]))
        key = f"{change.key}:case:{digest[:_KEY_CHARS]}"
        stored = await self.replies.get(key, run)
        raw = stored[0] if stored else await self._reply(change, key, messages, schema, run)
        value, problem = parse_structured(raw, schema)
        if value is None:
            raise SkillWorkerError(Message("case.unanswered", why=problem))
        return value

    async def _reply(
        self, change: Change, key: str, messages: Sequence[BaseMessage], schema: type[M], run: int
    ) -> JsonValue:
        async with self.meter.budgets.call(change.tenant_id, f"{key}:{run}"):
            async with self.breaker.call():
                reply = await ask_structured(self.model, messages, schema, price=self.meter.price)
            await self.replies.put(key, run, reply.raw, reply.usage, tenant_id=change.tenant_id)
        return reply.raw
