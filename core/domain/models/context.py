"""What may belong in the context of a task, as a search finds it."""

from __future__ import annotations

from core.domain.models.base import Model
from core.domain.models.changes import KnownText
from core.domain.models.knowledge import Kind


class TaskMatch(Model):
    """An item that holds now and that the agent may use, and how it matches a task.

    `content` is text, DMN XML, or the indexed text of a skill. `matched` is what the words it has
    of the task weigh: from 1 on they are no chance. `score` is BM25. `closeness` is that in
    meaning, 0 to 1, None if no model is asked or the item is not among the nearest. `small_talk` is
    that of the task to what people ask anybody.
    """

    kind: Kind
    id: str
    name: str
    version: int
    content: str
    matched: float = 0.0
    score: float = 0.0
    closeness: float | None = None
    small_talk: float | None = None


class TaskMeaning(Model):
    """What is near to a task in meaning: the nearest items of each kind, best first.

    `small_talk` is how near it is to what people ask anybody, 0 to 1, None if that is not measured.
    """

    items: tuple[KnownText, ...] = ()
    small_talk: float | None = None
