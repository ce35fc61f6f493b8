"""What may belong in the context of a task, as a search finds it."""

from __future__ import annotations

from core.domain.models.base import Model
from core.domain.models.knowledge import Kind


class TaskMatch(Model):
    """An item that holds now and that the agent may use, and how it matches a task.

    `content` is text, DMN XML, or the indexed text of a skill. `matched` is what the words it has
    of the task weigh: from 1 on they are no chance. `score` is BM25. `closeness` is that in
    meaning, 0 to 1, None if no model is asked or the item is not among the nearest.
    """

    kind: Kind
    id: str
    name: str
    version: int
    content: str
    matched: float = 0.0
    score: float = 0.0
    closeness: float | None = None
