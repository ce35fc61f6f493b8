"""A circuit breaker of one process: opened by refused keys, closed by an answer to a probe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from core.agent.circuit_breaker import BreakerOptions, LocalBreaker, failure_weight
from core.domain.errors import ConfigurationError
from core.domain.models import Pause

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class SimpleBreaker:
    """Enough for its callers; rates, places and what workers share are tested in PostgreSQL."""

    def __init__(self) -> None:
        self._options = BreakerOptions()
        self._local = LocalBreaker(self._options, lambda: _NOW)
        self._has_answered = False

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        self._local.require_none()
        try:
            yield
        except ConfigurationError as error:
            weight = failure_weight(error, self._options, has_answered=self._has_answered)
            self._local.note_failure(error, weight)
            raise
        self._has_answered = True
        self._local.note_answer()

    async def current_pause(self) -> Pause | None:
        return self._local.current_pause()

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        if self._local.current_pause() is not None:
            await ask()
            self._local.reset()
