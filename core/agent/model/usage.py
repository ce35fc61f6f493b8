"""Usage of a model answer: calls, tokens and cost."""

from __future__ import annotations

from decimal import Decimal

from langchain_core.messages import AIMessage, BaseMessage

from core.agent.prices import Price
from core.domain.models import Usage
from core.domain.models.base import plain

_COST = "skill_worker_cost"  # in `response_metadata`, which no provider is sent back


def billed(message: AIMessage, price: Price | None) -> AIMessage:
    """Return the message with its cost on it: prices may have changed when costs are summed."""
    told = message.usage_metadata
    if price is None or told is None:
        return message
    details = told.get("input_token_details") or {}
    cached = details.get("cache_read") or 0
    cost = price.of(told["input_tokens"], told["output_tokens"], cached)
    metadata = {**message.response_metadata, _COST: plain(cost)}
    return message.model_copy(update={"response_metadata": metadata})


def usage_of(message: BaseMessage) -> Usage:
    """Return the usage of one message: a call, its cost, and the tokens the provider reports."""
    if not isinstance(message, AIMessage):
        return Usage()
    told = message.usage_metadata
    return Usage(
        model_calls=1,
        input_tokens=told["input_tokens"] if told else 0,
        output_tokens=told["output_tokens"] if told else 0,
        cost=Decimal(message.response_metadata.get(_COST, "0")),
    )
