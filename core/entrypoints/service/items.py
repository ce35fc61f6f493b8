"""What people see of the knowledge, as data."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from core.domain.models import DecisionTable, Hit, Kind, KnowledgeItem, Page
from core.domain.models.base import Model, Text
from core.domain.models.views import Cause, Listed, Version


class KnownPage(Page[Listed]):
    """A page of what is known; `warnings` say what may be missing from it."""

    warnings: tuple[Text, ...] = ()


class Found(Model):
    """Hits of a search in one tenant, best first; `warnings` say what may be missing."""

    tenant_id: str
    items: tuple[Hit, ...]
    warnings: tuple[Text, ...] = ()


class KnownFile(Model):
    """A file of a skill; `size` in bytes. Valid UTF-8 without a NUL is text."""

    path: str
    size: int
    executable: bool
    sha256: str
    is_text: bool


class KnownText(KnownFile):
    """A file with its text, None if it is binary."""

    text: str | None


class Known(Model):
    """A version of an item, and how it came about.

    `versions` is the number of versions, `replaces` the one it replaced; `by` is None if it was not
    made by this program. `table` is a decision table's, None if `table_problem` says why.
    """

    item: KnowledgeItem
    as_of: datetime | None = None
    versions: int
    replaces: int | None = None
    by: Cause | None = None
    files: tuple[KnownFile, ...] = ()
    table: DecisionTable | None = None
    table_problem: Text = ""


class Versions(Model):
    """The versions of an item with its deletions, newest first; `left_out` counts omitted ones."""

    kind: Kind
    id: str
    tenant_id: str
    items: tuple[Version, ...]
    left_out: int = 0


class Source(StrEnum):
    """Who brought a part of a text.

    `others`: it was there before our first change, or was written in between; `older`: a version
    before those that were read; `unread`: it is too large to be traced.
    """

    VERSION = "version"
    OTHERS = "others"
    OLDER = "older"
    UNREAD = "unread"


class Part(Model):
    """Lines or rows from `first` to `last`, counted from 1, and the version that brought them."""

    first: int
    last: int
    source: Source
    version: int | None = None


class Provenance(Model):
    """Which version brought each line of a text, or each row of a decision table.

    `lines` are empty for a binary file. `versions` are those that `parts` refer to, oldest first.
    """

    kind: Kind
    id: str
    tenant_id: str
    path: str
    lines: tuple[str, ...] = ()
    table: DecisionTable | None = None
    parts: tuple[Part, ...] = ()
    versions: tuple[Version, ...] = ()
