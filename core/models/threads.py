"""What was said in a ReAct run, as far as its thread is kept."""

from __future__ import annotations

from enum import StrEnum

from core.models.base import Model
from core.models.changes import Hit, Receipt


class Speaker(StrEnum):
    """Who speaks: what the run starts from, the model, a tool, or a nudge to act."""

    START = "start"
    MODEL = "model"
    TOOL = "tool"
    NUDGE = "nudge"


class ToolUse(Model):
    """A call that the model asked for; `arguments` is JSON. `key` names it in events."""

    key: str
    tool: str
    arguments: str
    cut: bool = False


class Said(Model):
    """One message of a thread. `cut`: `text` is the beginning of a longer one.

    `ordinal` is that of the model's message, for a tool's answer the one that asked for it. An
    answer carries the `key` of its call, the hits of a search, and the receipt of a write.
    """

    speaker: Speaker
    ordinal: int
    text: str
    cut: bool = False
    calls: tuple[ToolUse, ...] = ()
    key: str = ""
    tool: str = ""
    failed: bool = False
    hits: tuple[Hit, ...] = ()
    receipt: Receipt | None = None
