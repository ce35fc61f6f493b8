"""What becomes of spans: the work's account of itself, for people who watch many programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from pydantic import JsonValue

from core.domain.models import TraceContext

Value: TypeAlias = str | int | float | bool | Sequence[str]
Attributes: TypeAlias = Mapping[str, Value | None]  # what is None is left out


class Tracer(Protocol):
    """What becomes of spans; it raises nothing."""

    def span(
        self, name: str, attributes: Attributes, *, is_call: bool
    ) -> AbstractContextManager[None]:
        """Return a span around a block, however that ends; `is_call`: to another process."""

    def under(self, context: TraceContext) -> AbstractContextManager[None]:
        """Return a block whose spans belong to the trace of another."""

    def context(self) -> TraceContext | None:
        """Return the context of the current span."""

    def note(self, attributes: Attributes) -> None:
        """Add to the current span."""

    def fail(self, error_type: str) -> None:
        """Mark the current span as one that has failed."""

    def content(self, name: str, make: Callable[[], JsonValue]) -> None:
        """Add what was said to the current span, masked, if content is kept."""
