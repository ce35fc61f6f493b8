"""A source over a list, for tests of how sources are used."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.models import Agent, FeedbackStatus, Fetched, NewFeedback, Outcome


class ListSource:
    """A source over a list that remembers what it was told; `error` is raised instead."""

    def __init__(
        self, *pieces: NewFeedback, agents: Sequence[Agent] = (), name: str = "list"
    ) -> None:
        self.name = name
        self.fetched = Fetched(agents=tuple(agents), pieces=pieces)
        self.accepted: list[str | None] = []
        self.told: list[tuple[str, FeedbackStatus]] = []
        self.masked: list[str] = []
        self.error: Exception | None = None

    async def fetch(self, limit: int) -> Fetched:
        """Return the list."""
        self._see()
        return self.fetched

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        """Remember."""
        self._see()
        self.accepted += [piece.id for piece in pieces]

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Remember."""
        self._see()
        self.told.append((source_id, outcome.status))
        self.masked += outcome.masked

    async def ping(self) -> None:
        """Answer."""
        self._see()

    def _see(self) -> None:
        if self.error is not None:
            raise self.error
