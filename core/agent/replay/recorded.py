"""A run on record, and tools that answer a repeated run as the recorded ones did."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime
from pydantic import JsonValue, TypeAdapter, ValidationError

from core.agent.loop.middleware import ai_messages, receipts_of
from core.agent.loop.tool_args import arguments
from core.domain.errors import InvalidInput
from core.domain.kinds import Kinds
from core.domain.messages import Message
from core.domain.models import Operation, Receipt, ReceiptStatus
from core.domain.models.base import Model
from core.domain.text import clean, compact

_JSON = TypeAdapter[JsonValue](JsonValue)
_DATA = TypeAdapter[dict[str, JsonValue]](dict[str, JsonValue])
_IN_VAIN = {ReceiptStatus.KNOWN, ReceiptStatus.REFUSED}
_TARGETS = ("memory_id", "rule_id", "skill_id")
UNSAID = {"reason", "relationship_analysis"}  # of a call: said to people, and decides nothing


@dataclass(frozen=True, eq=False)
class Recording:
    """The messages of a run, from its input to its last answer."""

    messages: Sequence[AnyMessage]

    @property
    def steps(self) -> int:
        """How many answers of the model it has."""
        return len(ai_messages(self.messages))

    def before(self, step: int) -> list[AnyMessage]:
        """Return the messages before the model's answer `step`, counted from 1.

        Raises InvalidInput if there is no such step.
        """
        if not 1 <= step <= self.steps:
            raise InvalidInput(
                Message("replay.no_step", step=step), hint=Message("replay.steps", n=self.steps)
            )
        answer = ai_messages(self.messages)[step - 1]
        return [*self.messages[: self.messages.index(answer)]]

    @cached_property
    def changed(self) -> Mapping[str, Operation]:
        """The items that the run has changed, or asked a person to: they stand otherwise by now."""
        return {
            receipt.target_id: receipt.operation
            for receipt in reversed(receipts_of(self.messages))
            if receipt.operation and receipt.change_id and receipt.target_id
        }


@dataclass
class Answers:
    """The recorded answers of tools, by call; `asked_anew` counts calls that have none.

    A call that was made several times is answered in order, then as the last time.
    """

    recording: Recording
    kinds: Kinds = ()
    asked_anew: int = 0
    _left: dict[str, deque[ToolMessage]] = field(init=False)

    def __post_init__(self) -> None:
        """Sort the recorded answers by call."""
        self._left = defaultdict(deque)
        by_id = {
            message.tool_call_id: message
            for message in self.recording.messages
            if isinstance(message, ToolMessage)
        }
        for message in ai_messages(self.recording.messages):
            for call in message.tool_calls:
                answer = by_id.get(call["id"] or "")
                if answer is not None and call["name"] in arguments(self.kinds):
                    self._left[self._key(call["name"], call["args"])].append(answer)

    def skip(self, messages: Sequence[AnyMessage]) -> None:
        """Pass over the answers that are among the first messages of a repeated run."""
        given = {one.tool_call_id for one in messages if isinstance(one, ToolMessage)}
        for left in self._left.values():
            while len(left) > 1 and left[0].tool_call_id in given:
                left.popleft()

    def wrapped(self, tools: Mapping[str, StructuredTool]) -> dict[str, StructuredTool]:
        """Return tools that answer as recorded, and ask the ones given about the rest."""
        return {name: self._wrapped(tool) for name, tool in tools.items()}

    def _wrapped(self, tool: StructuredTool) -> StructuredTool:
        ask = tool.coroutine
        assert ask is not None

        async def call(runtime: ToolRuntime, **values: object) -> ToolMessage:
            left = self._left.get(self._key(tool.name, values))
            if left:
                answer = left.popleft() if len(left) > 1 else left[0]
                return answer.model_copy(update={"tool_call_id": runtime.tool_call_id})
            self.asked_anew += 1
            return self._as_before_it(await ask(runtime=runtime, **values), values)

        return tool.model_copy(update={"coroutine": call})

    def _key(self, tool: str, values: Mapping[str, object]) -> str:
        return f"{tool} {json.dumps(call_data(tool, values, self.kinds), sort_keys=True)}"

    def _as_before_it(self, message: ToolMessage, values: Mapping[str, object]) -> ToolMessage:
        """Return an answer as it would be if what the run has changed were as before it."""
        changed = self.recording.changed
        if not changed:
            return message
        if message.artifact:
            receipt = Receipt.model_validate(message.artifact)
            about = {receipt.target_id, *(values.get(name) for name in _TARGETS)}
            about |= {hit.id for hit in receipt.hits}
            is_in_the_way = receipt.status in _IN_VAIN and any(one in changed for one in about)
            return _would_go(message, receipt) if is_in_the_way else message
        return _without(message, {one for one, how in changed.items() if how is Operation.CREATE})


def _without(message: ToolMessage, made: Collection[str]) -> ToolMessage:
    """Return the answer of a search without hits on what the run has created."""
    try:
        data = _JSON.validate_json(message.text)
    except ValidationError:
        return message
    hits = data.get("hits") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(hits, list):
        return message
    others = [hit for hit in hits if not (isinstance(hit, dict) and hit.get("id") in made)]
    return message.model_copy(update={"content": compact({**data, "hits": others})})


def _would_go(message: ToolMessage, receipt: Receipt) -> ToolMessage:
    """Return the receipt of a write that only what the run itself has changed stands against."""
    told = Message("replay.would", tool=message.name or "")
    would = receipt.model_copy(
        update={"status": ReceiptStatus.PREPARED, "message": told, "hits": ()}
    )
    return message.model_copy(
        update={
            "content": would.model_dump_json(exclude_none=True, exclude_defaults=True),
            "artifact": would.model_dump(mode="json", exclude_none=True),
            "status": "success",
        }
    )


def call_data(tool: str, values: Mapping[str, object], kinds: Kinds = ()) -> dict[str, JsonValue]:
    """Return what a call asks for, without defaults; what a tool takes as the same is the same."""
    args = arguments(kinds).get(tool)
    given = {name: value for name, value in values.items() if name not in UNSAID}
    if args is not None:
        try:
            read = args.model_validate({**_unsaid(args), **given})
        except ValidationError:
            pass  # a call with wrong arguments is known by them as they are
        else:
            return read.model_dump(mode="json", exclude=UNSAID, exclude_defaults=True)
    return _DATA.validate_python(clean(_JSON.validate_python(given)))


def _unsaid(args: type[Model]) -> dict[str, str]:
    return dict.fromkeys(UNSAID & args.model_fields.keys(), "-")


def forked(recording: Recording, step: int, note: str) -> list[AnyMessage]:
    """Return the first messages of a run that goes on from a step of another.

    `note` says what the other came to, which stands: an item must not be made twice.
    """
    first = recording.before(step)
    return [*first, HumanMessage(note, id="forked")] if note else first
