"""Lessons of the worker as stored: evidence, proposals, and what runs were shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models import Agent
from core.domain.models.lessons import ChangeFact, Evidence, LessonState, RunFact, ShownLesson


class LessonLog(Protocol):
    """Where evidence is collected, and how far each lesson has come."""

    async def cursor(self) -> str:
        """Return the place in the event log up to which evidence has been collected."""

    async def collected(self, found: Sequence[Evidence], cursor: str, until: str) -> bool:
        """Store evidence and move the place; False, and nothing, if another has moved it."""

    async def changes(self, change_ids: Sequence[str]) -> Sequence[ChangeFact]:
        """Return decided changes as far as they can be evidence."""

    async def recovered(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[RunFact]:
        """Return the runs of these candidates that went right after a failed one."""

    async def shown(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[ShownLesson]:
        """Return the lessons that the runs of these candidates were shown."""

    async def evidence(self, tenant_id: str, key: str, limit: int) -> Sequence[Evidence]:
        """Return the newest evidence for a lesson that counts."""

    async def keys(self, like: Evidence, limit: int) -> Sequence[Evidence]:
        """Return the first evidence of each lesson of the same kind and about the same."""

    async def states(self, tenant_id: str | None) -> Sequence[LessonState]:
        """Return how far each lesson has come, by tenant and key."""

    async def proposed(
        self,
        lesson: LessonState,
        *,
        change_id: str | None,
        item_id: str | None,
        refused: str | None,
    ) -> None:
        """Store the next proposal of a lesson."""

    async def standing(self, tenant_id: str) -> Sequence[str]:
        """Return the ids of the tenant's lessons that people approved and that still stand."""

    async def note_recurring(self) -> None:
        """Count the evidence for lessons that stand as what came back although they were shown."""


class LessonsShown(Protocol):
    """Shows a run the lessons that matter for it."""

    async def __call__(self, task: str, agent: Agent, feedback_id: str, candidate_id: str) -> str:
        """Return a block for the run's input, "" if there is nothing to show."""
