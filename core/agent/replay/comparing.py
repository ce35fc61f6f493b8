"""How a repeated run differs from the one on record: by steps, and in what it decided (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest

from langchain_core.messages import BaseMessage, ToolMessage
from pydantic import JsonValue

from core.agent.loop.middleware import ai_messages
from core.agent.replay.recorded import call_data
from core.domain.kinds import Kinds
from core.domain.models import Operation, Receipt, ReceiptStatus, Usage
from core.domain.models.base import Model, Text

_TARGETS = ("memory_id", "rule_id", "skill_id", "skill_ids")


class Likeness(StrEnum):
    """Whether two runs decide the same, the same in other words, or otherwise."""

    SAME = "same"
    REWORDED = "reworded"
    OTHERWISE = "otherwise"


class Asked(Model):
    """A tool call: what it asks for, without the reason it gives."""

    tool: str
    arguments: Mapping[str, JsonValue] = {}


class Step(Model):
    """One answer of the model in both runs; a run that had ended by then asks for nothing."""

    number: int
    recorded: tuple[Asked, ...]
    repeated: tuple[Asked, ...]

    @property
    def is_same(self) -> bool:
        """Whether both asked for the same."""
        return self.recorded == self.repeated


class Decision(Model):
    """A write that counts, or that nothing is to be learnt: what a run came to."""

    tool: str
    operation: Operation | None = None
    target: str | None = None
    category: str | None = None
    arguments: Mapping[str, JsonValue] = {}

    @property
    def what(self) -> tuple[str | None, ...]:
        """What is decided, whatever the words."""
        return self.tool, self.operation, self.target, self.category


class Comparison(Model):
    """Two runs side by side, from the step at which the second was asked anew.

    `asked_anew` counts calls of the second that were not on record, which were answered by what is
    known today. `reason` is how it ended.
    """

    run: str
    model: str
    from_step: int
    likeness: Likeness
    first_difference: int | None
    steps: tuple[Step, ...]
    recorded: tuple[Decision, ...]
    repeated: tuple[Decision, ...]
    status_recorded: str
    status_repeated: str
    reason: Text = ""
    asked_anew: int = 0
    usage: Usage = Usage()


def steps(
    recorded: Sequence[BaseMessage], repeated: Sequence[BaseMessage], kinds: Kinds = ()
) -> tuple[Step, ...]:
    """Return the steps of both runs side by side."""
    sides = (_asked(recorded, kinds), _asked(repeated, kinds))
    return tuple(
        Step(number=number, recorded=one or (), repeated=other or ())
        for number, (one, other) in enumerate(zip_longest(*sides), start=1)
    )


def _asked(messages: Sequence[BaseMessage], kinds: Kinds) -> list[tuple[Asked, ...]]:
    return [
        tuple(
            Asked(tool=call["name"], arguments=call_data(call["name"], call["args"], kinds))
            for call in message.tool_calls
        )
        for message in ai_messages(messages)
    ]


def decisions(messages: Sequence[BaseMessage], kinds: Kinds = ()) -> tuple[Decision, ...]:
    """Return what a run decided: its calls whose receipts count, in order, each once."""
    calls = {
        call["id"]: (call["name"], call["args"])
        for message in ai_messages(messages)
        for call in message.tool_calls
    }
    found: dict[str, Decision] = {}
    for message in messages:
        if isinstance(message, ToolMessage) and message.artifact:
            receipt = Receipt.model_validate(message.artifact)
            if receipt.status.is_outcome and message.tool_call_id in calls:
                tool, args = calls[message.tool_call_id]
                made = _decision(receipt, tool, call_data(tool, args, kinds))
                found[made.model_dump_json()] = made
    return tuple(found.values())


def _decision(receipt: Receipt, tool: str, asked: Mapping[str, JsonValue]) -> Decision:
    named = next((str(asked[name]) for name in _TARGETS if asked.get(name)), None)
    is_nothing = receipt.status is ReceiptStatus.NO_ACTION
    return Decision(
        tool=tool,
        operation=None if is_nothing else _operation(asked),
        target=named,
        category=receipt.category if is_nothing else None,
        arguments={} if is_nothing else asked,
    )


def _operation(asked: Mapping[str, JsonValue]) -> Operation | None:
    """Return the operation that was asked for: a receipt may name what it came to instead."""
    named = asked.get("operation")
    return Operation(named) if isinstance(named, str) else None


def likeness(recorded: Sequence[Decision], repeated: Sequence[Decision]) -> Likeness:
    """Return how two runs decided, in whatever order."""
    sides = [sorted(side, key=lambda one: one.model_dump_json()) for side in (recorded, repeated)]
    if sides[0] == sides[1]:
        return Likeness.SAME
    what = [sorted(str(one.what) for one in side) for side in (recorded, repeated)]
    return Likeness.REWORDED if what[0] == what[1] else Likeness.OTHERWISE
