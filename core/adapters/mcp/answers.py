"""Tool answers as text and as JSON, whichever way the server presents them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from mcp.types import CallToolResult

_WRAPPERS = ("result", "data")
_DEPTH = 4


@dataclass(frozen=True)
class ToolAnswer:
    """The text blocks of an answer, and its structured content, if any."""

    texts: Sequence[str] = ()
    structured: JsonValue = None

    @property
    def text(self) -> str:
        """The whole text; blocks stay on separate lines."""
        return join_blocks(self.texts)


def read_answer(result: CallToolResult) -> ToolAnswer:
    """Extract the text and the structured content of a result."""
    return ToolAnswer(tuple(_texts(result)), result.structuredContent)


def join_blocks(blocks: Sequence[str]) -> str:
    """Concatenate blocks, adding a line break where one lacks it."""
    broken = [block if block.endswith("\n") else block + "\n" for block in blocks[:-1]]
    return "".join([*broken, *blocks[-1:]])


def json_object(text: str) -> dict[str, JsonValue] | None:
    """Return a text's JSON object if it is one as a whole, else None."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def objects(answer: ToolAnswer) -> Iterator[dict[str, JsonValue]]:
    """Yield the JSON objects of an answer: structured, in its text, and below result and data."""
    yield from _objects(answer.structured, _DEPTH)
    for text in dict.fromkeys([answer.text, *answer.texts]):
        yield from _objects(json_object(text), _DEPTH)


def _objects(value: JsonValue, depth: int) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, str):
        value = json_object(value)
    if isinstance(value, dict) and depth:
        yield value
        for name in _WRAPPERS:
            yield from _objects(value.get(name), depth - 1)


def _texts(result: CallToolResult) -> Iterator[str]:
    for block in result.content:
        if block.type == "text":
            yield block.text
        elif block.type == "resource":
            text = getattr(block.resource, "text", None)
            if isinstance(text, str):
                yield text
