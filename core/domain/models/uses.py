"""Uses: which items reached an agent, by what way, and what came of it; no query is among it."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from core.domain.models.base import Model
from core.domain.models.knowledge import Kind


class Way(StrEnum):
    """How an item reached an agent: found, put into a context, used to decide, or opened."""

    RECALLED = "recalled"
    SHOWN = "shown"
    DECIDED = "decided"
    LOADED = "loaded"


class Use(Model):
    """One item that reached one agent; `digest` is the SHA-256 (hex) of its content."""

    at: datetime
    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    version: int
    digest: str
    way: Way


class UsedItem(Model):
    """An item as an agent names it; without a version it is the one that stands."""

    id: str = Field(min_length=1, max_length=200)
    version: int | None = Field(default=None, ge=1)


class OutcomeReport(Model):
    """How a task ended in which items were used."""

    at: datetime
    tenant_id: str
    agent_id: str
    used: tuple[UsedItem, ...]
    success: bool
    note: str = ""


class UseCount(Model):
    """How often one version of an item reached an agent by one way on one day in UTC.

    `item_id` is "" for items that were too many to be told apart.
    """

    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    version: int
    digest: str
    way: Way
    day: date
    times: int
    first_at: datetime
    last_at: datetime


class Arm(Model):
    """Whether an item on trial was left out of a task that it matched."""

    tenant_id: str
    agent_id: str
    item_id: str
    at: datetime
    left_out: bool
