"""The fence that keeps a worker from going on with work that another has taken over."""

from __future__ import annotations

from core.models.base import Model


class Fence(Model):
    """The right to write for a candidate: lost once another worker raised the epoch."""

    candidate_id: str
    epoch: int
