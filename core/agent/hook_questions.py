"""Hooks that ask a model: one call, or a few with the tools that read what is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, JsonValue

from core.agent.budgets import Meter
from core.agent.loop.tool_args import DetailArgs, SearchArgs
from core.agent.model.chat_model import StructuredReply, ask_structured, prompt
from core.domain.errors import RunFailed
from core.domain.messages import Message
from core.domain.models.base import Model
from core.domain.ports import CircuitBreaker, Spending
from core.domain.text import compact, fenced_json

ROUNDS = 8  # of the kind `agent`, and of answers that cannot be read


class HookVerdict(Model):
    """The answer to what is asked about the event."""

    answer: Literal["yes", "no", "note"]
    note: str = Field(default="", max_length=2000, description="why, or what people should know")


class Reads(Protocol):
    """What an agent may read, within the tenant of the event."""

    async def search(self, asked: SearchArgs, tenant_id: str, agent_id: str) -> JsonValue:
        """Return the hits of a search."""

    async def detail(self, asked: DetailArgs, tenant_id: str) -> JsonValue:
        """Return an item whole, or that there is none."""


@dataclass(frozen=True)
class ModelQuestions:
    """A model with its breaker and its price; what it is asked is charged to the tenant."""

    chat: BaseChatModel
    breaker: CircuitBreaker
    meter: Meter
    spending: Spending
    new_id: Callable[[], str]

    async def ask(
        self, question: str, event: dict[str, JsonValue], tenant_id: str, reads: Reads | None
    ) -> HookVerdict:
        """Return the verdict; with `reads` the model may look up what is known before.

        Names of the event's data in the question, such as `$target_name`, become their values.
        Raises ModelDown, CircuitOpen, RunFailed.
        """
        data = event.get("data")
        values = {k: str(v) for k, v in data.items()} if isinstance(data, dict) else {}
        asked = Template(question).safe_substitute(values)
        messages: list[BaseMessage] = [
            SystemMessage(prompt("hook")),
            HumanMessage(f"{asked}\n\n{fenced_json(event)}"),
        ]
        schemas: Sequence[type[Model]] = (HookVerdict, *((SearchArgs, DetailArgs) if reads else ()))
        agent_id = values.get("agent_id", "")
        for _ in range(ROUNDS):
            reply = await self._reply(messages, schemas, tenant_id)
            if isinstance(reply.value, HookVerdict):
                return reply.value
            found = await _looked_up(reply, tenant_id, agent_id, reads)
            messages += [AIMessage(compact(reply.raw)), HumanMessage(found)]
        raise RunFailed(Message("hook.no_verdict", n=ROUNDS))

    async def _reply(
        self, messages: list[BaseMessage], schemas: Sequence[type[Model]], tenant_id: str
    ) -> StructuredReply[Model]:
        call_id = f"hook:{self.new_id()}"
        async with self.meter.budgets.call(tenant_id, call_id):
            async with self.breaker.call():
                reply = await ask_structured(self.chat, messages, *schemas, price=self.meter.price)
            await self.spending.pay(tenant_id, call_id, reply.usage)
        return reply


async def _looked_up(
    reply: StructuredReply[Model], tenant_id: str, agent_id: str, reads: Reads | None
) -> str:
    if reads is not None and isinstance(reply.value, SearchArgs):
        return fenced_json(await reads.search(reply.value, tenant_id, agent_id))
    if reads is not None and isinstance(reply.value, DetailArgs):
        return fenced_json(await reads.detail(reply.value, tenant_id))
    return f"{reply.error}. Answer again."
