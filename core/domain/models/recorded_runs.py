"""Runs as they are on record: what each was about, how it ended, its tags, what it came from."""

from __future__ import annotations

from datetime import datetime

from core.domain.models.base import Model, Text


class RecordedRun(Model):
    """One run of the ReAct agent, the newest of its candidate; `id` is that of its thread.

    `pruned`: its transcript is no longer stored. `status` is that of its verdict, None until it has
    ended. `forked_from` is the run whose first steps it took over, with the step it began at.
    """

    id: str
    feedback_id: str
    candidate_id: str
    generation: int
    tenant_id: str
    agent_id: str
    agent_name: str
    content: Text
    status: str | None = None
    reason: Text = ""
    pruned: bool = False
    tags: tuple[str, ...] = ()
    forked_from: str | None = None
    from_step: int | None = None
    created_at: datetime


class RunFilter(Model):
    """Filter a list of runs; None matches any."""

    tenant_id: str | None = None
    agent_id: str | None = None
    feedback_id: str | None = None
    tag: str | None = None


class Fork(Model):
    """A run that begins with the first steps of another: those before the model's answer `step`."""

    run: str
    from_run: str
    step: int
    by: str
