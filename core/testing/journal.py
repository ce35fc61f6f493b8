"""The `Journal` port in memory."""

from __future__ import annotations

from core.domain.models import NO_USAGE, RunEvent, Usage
from core.domain.observers import nobody
from core.domain.ports import Observer
from core.testing.changes import MemoryChangeLog
from core.testing.runs import MemoryRuns


class MemoryJournal:
    """Events in a list; with a change log they join that log's events, in one order.

    With runs, the usage of an event is added to its candidate.
    """

    def __init__(
        self,
        *,
        log: MemoryChangeLog | None = None,
        runs: MemoryRuns | None = None,
        observe: Observer = nobody,
    ) -> None:
        self._own: list[RunEvent] = []
        self._log = log
        self._runs = runs
        self._observe = observe

    @property
    def events(self) -> list[RunEvent]:
        """All events, oldest first."""
        return self._own if self._log is None else self._log.events

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        self.events.append(event)
        if self._runs is not None and event.candidate_id is not None:
            self._runs.spend(event.candidate_id, spent)
        self._observe(event, spent)
