"""What an agent sees of what it knows, as data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue

from core.domain.models import HitPolicy, Scope
from core.domain.models.base import Model, Text
from core.domain.models.uses import UsedItem
from core.entrypoints.service.items import KnownFile


class Recalled(Model):
    """A memory that a search found, whole; higher `score` is more similar."""

    id: str
    version: int
    content: str
    score: float
    taught_at: datetime | None = None
    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None


class Recollection(Model):
    """Memories, best first."""

    items: tuple[Recalled, ...]


class MatchedRow(Model):
    """A row of a decision table whose tests all hold; `counts` if the hit policy selects it."""

    id: str
    annotation: str
    counts: bool


class MissingInput(Model):
    """An input that a decision needs, with its FEEL type."""

    name: str
    type: str


class Decision(Model):
    """What a decision table says about a case.

    `output` is an object, or a list of them under a policy that collects; null if no row counts, or
    if inputs are `missing`. `defaulted`: no row matched, the table's defaults stand in. `notes` say
    why outputs are null.
    """

    id: str
    name: str
    version: int
    hit_policy: HitPolicy
    output: JsonValue = None
    matched: tuple[MatchedRow, ...] = ()
    missing: tuple[MissingInput, ...] = ()
    defaulted: bool = False
    notes: tuple[Text, ...] = ()


class TableInUse(Model):
    """A decision table by what it asks and answers: column -> FEEL type."""

    id: str
    name: str
    version: int
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


class SkillInUse(Model):
    """A skill on an agent's list; `digest` covers all its files."""

    id: str
    name: str
    description: str
    version: int
    digest: str
    files: tuple[KnownFile, ...]


class SkillDetail(SkillInUse):
    """A skill with its frontmatter as the author wrote it."""

    frontmatter: Mapping[str, JsonValue]


class LoadedFile(SkillInUse):
    """A skill with the content of one of its files: `text`, or `base64` if it is binary."""

    path: str
    text: str | None = None
    base64: str | None = None


class RefusedItem(UsedItem):
    """An item that an outcome cannot be put down to, and why."""

    reason: Text


class OutcomeTaken(Model):
    """To which items an outcome was put down; nothing is on record if all were refused.

    `left_out` are items on trial that matched the task, and that it was by lot not given.
    """

    kept: tuple[UsedItem, ...]
    refused: tuple[RefusedItem, ...] = ()
    left_out: tuple[str, ...] = ()
