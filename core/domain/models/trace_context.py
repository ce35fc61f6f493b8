"""Trace context as W3C has it: whose trace a call, and the work that it brings, belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from core.domain.models.base import Model

# Level 1 of the standard: later versions may add fields behind.
_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_STATE = re.compile(r"[\x20-\x7e]{0,512}")
_LONGEST = 512


class TraceContext(Model):
    """The two headers of it."""

    traceparent: str
    tracestate: str = Field(default="", exclude_if=lambda state: not state)


def read_context(parents: Sequence[str], states: Sequence[str] = ()) -> TraceContext | None:
    """Return the context that a caller sent; None for none, and for one that breaks the rules.

    The rules ask for that: a trace that cannot be read is begun anew, and no call fails for it.
    """
    if len(parents) != 1 or len(parents[0]) > _LONGEST:
        return None
    parent = parents[0].strip(" \t")
    found = _PARENT.match(parent)
    if found is None or not parent.isascii() or not parent.isprintable():
        return None
    rest = parent[found.end() :]
    if rest and (parent.startswith("00") or not rest.startswith("-")):
        return None
    state = ",".join(states).strip(" \t")
    return TraceContext(traceparent=parent, tracestate=state if _STATE.fullmatch(state) else "")
