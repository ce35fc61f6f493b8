"""A ReAct thread for human readers: bounded texts, calls, hits, receipts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue, TypeAdapter, ValidationError

from core.domain.models import Hit, Receipt
from core.domain.models.views import Said, Speaker, ToolUse
from core.domain.text import compact, read_fenced_json

TEXT_CHARS = 20_000
_HITS = TypeAdapter(tuple[Hit, ...])


def transcript_of(thread: str, messages: Sequence[BaseMessage]) -> tuple[Said, ...]:
    """Return the messages of a thread, each with the ordinal of the model turn it belongs to."""
    return tuple(_said(thread, messages))


def _said(thread: str, messages: Sequence[BaseMessage]) -> Iterator[Said]:
    ordinal = 0
    keys: dict[str, str] = {}
    for index, message in enumerate(messages):
        if isinstance(message, AIMessage):
            ordinal += 1
            uses = [*_uses(f"{thread}:{ordinal}", message)]
            keys |= {call_id: use.key for call_id, use in uses}
            yield _plain(Speaker.MODEL, ordinal, message.text, tuple(use for _, use in uses))
        elif isinstance(message, ToolMessage):
            yield _answer(message, ordinal, keys.get(message.tool_call_id, ""))
        elif isinstance(message, HumanMessage):
            start = _plain(Speaker.START if index == 0 else Speaker.NUDGE, ordinal, message.text)
            related = _member(read_fenced_json(message.text), "related") if index == 0 else None
            yield start.model_copy(update={"hits": _hits(related)})


def _plain(speaker: Speaker, ordinal: int, text: str, calls: tuple[ToolUse, ...] = ()) -> Said:
    return Said(
        speaker=speaker,
        ordinal=ordinal,
        text=text[:TEXT_CHARS],
        cut=len(text) > TEXT_CHARS,
        calls=calls,
    )


def _uses(prefix: str, message: AIMessage) -> Iterator[tuple[str, ToolUse]]:
    """Yield (provider id, call) of a turn; the keys are those of `loop.messages.call_key`."""
    for index, call in enumerate(message.tool_calls):
        yield call["id"] or "", _use(f"{prefix}:{index}", call["name"], compact(call["args"]))
    for index, bad in enumerate(message.invalid_tool_calls):
        use = _use(f"{prefix}:x{index}", bad["name"] or "unknown", bad["args"] or "")
        yield bad["id"] or "", use


def _use(key: str, tool: str, arguments: str) -> ToolUse:
    is_cut = len(arguments) > TEXT_CHARS
    return ToolUse(key=key, tool=tool, arguments=arguments[:TEXT_CHARS], cut=is_cut)


def _answer(message: ToolMessage, ordinal: int, key: str) -> Said:
    update = {
        "key": key,
        "tool": message.name or "",
        "failed": message.status == "error",
        "receipt": _receipt(message.artifact),
        "hits": _hits(_member(_parsed(message.text), "hits")),
    }
    return _plain(Speaker.TOOL, ordinal, message.text).model_copy(update=update)


def _receipt(artifact: object) -> Receipt | None:
    try:
        return Receipt.model_validate(artifact) if artifact else None
    except ValidationError:
        return None


def _parsed(text: str) -> JsonValue:
    try:
        data: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data


def _member(data: JsonValue, name: str) -> JsonValue:
    return data.get(name) if isinstance(data, Mapping) else None


def _hits(data: JsonValue) -> tuple[Hit, ...]:
    """Return the hits shown to the model, or none if the data are not hits."""
    if not isinstance(data, list):
        return ()
    known = [_without(hit, "on_agent") for hit in data]
    try:
        return _HITS.validate_python(known)
    except ValidationError:
        return ()


def _without(data: JsonValue, name: str) -> JsonValue:
    if not isinstance(data, dict):
        return data
    return {key: value for key, value in data.items() if key != name}
