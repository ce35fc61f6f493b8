"""The section `lessons` of `skill-worker.yaml`."""

from __future__ import annotations

from pydantic import Field

from core.domain.models.base import Model


class LessonRules(Model):
    """Whether lessons are proposed, and how many later runs are shown.

    With `propose` the worker proposes lessons, each of which waits for a person. `budget` is how
    many tokens those that were approved may take in the input of a run; 0 shows none.
    """

    budget: int = Field(default=400, ge=0, le=8_000)
    propose: bool = True
