"""A model asked about a change: what one tenant asks alike once, within its budget."""

from __future__ import annotations

from typing import TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import JsonValue

from core.agent.budgets import Meter
from core.agent.model.chat_model import ask_structured, parse_structured, prompt
from core.domain.errors import SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Change
from core.domain.models.base import Model
from core.domain.ports import CircuitBreaker, Replies
from core.domain.text import compact, fenced_json

MOST_CHARS = 100_000
_KEY_CHARS = 16
_MOST_KEPT = 500

M = TypeVar("M", bound=Model)


class AskedOnce:
    """Asks a chat model about changes; without a model every question fails.

    What one piece of feedback teaches several agents is one question, and a reply is stored with
    the change: what is tried again asks nothing twice.
    """

    def __init__(
        self,
        model: BaseChatModel | None,
        breaker: CircuitBreaker | None,
        replies: Replies,
        meter: Meter,
    ) -> None:
        self._model = model
        self._breaker = breaker
        self._replies = replies
        self._meter = meter
        self._kept: dict[tuple[str, str], JsonValue] = {}

    async def ask(
        self, change: Change, about: str, data: JsonValue, schema: type[M], *, chars: int
    ) -> M:
        """Return the answer to the prompt `about` on `data`, `chars` of which are not ours.

        Raises SkillWorkerError: no model, too much to show, no usable answer, or what the model and
        the budget raise.
        """
        if self._model is None or self._breaker is None:
            raise SkillWorkerError(Message("second_look.no_model"))
        if chars > MOST_CHARS:
            raise SkillWorkerError(Message("second_look.too_long", n=chars, most=MOST_CHARS))
        messages = [SystemMessage(prompt(about)), HumanMessage(fenced_json(data))]
        digest = text_hash(compact([about, data]))
        raw = self._kept.get((change.tenant_id, digest))
        if raw is None:
            raw = await self._raw(
                change, f"{change.key}:look:{digest[:_KEY_CHARS]}", messages, schema
            )
            self._keep((change.tenant_id, digest), raw)
        answer, problem = parse_structured(raw, schema)
        if answer is None:
            raise SkillWorkerError(problem)
        return answer

    def _keep(self, known: tuple[str, str], raw: JsonValue) -> None:
        if len(self._kept) == _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[known] = raw

    async def _raw(
        self, change: Change, key: str, messages: list[BaseMessage], schema: type[M]
    ) -> JsonValue:
        stored = await self._replies.get(key, 1)
        if stored:
            return stored[0]
        assert self._model is not None
        assert self._breaker is not None
        async with self._meter.budgets.call(change.tenant_id, key):
            async with self._breaker.call():
                reply = await ask_structured(self._model, messages, schema, price=self._meter.price)
            await self._replies.put(key, 1, reply.raw, reply.usage, tenant_id=change.tenant_id)
        return reply.raw
