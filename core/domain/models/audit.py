"""The chain of digests over what was changed and decided, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import JsonValue

from core.domain.models.base import Model, Text

ERASED = "[erased]"
"""What stands in the place of an erased text."""


class ChainEntry(Model):
    """An entry of a tenant's chain, and its row as it is now.

    `body` is the JSON that `digest` covers, together with the digest of the entry before. `salts`
    are those of the contents whose digests `body` has; an erased content has none. `facts` and
    `contents` are read from the row: None where there is none, or where it is not to be compared.
    """

    tenant_id: str
    seq: int
    kind: str
    subject: str
    body: str
    digest: str
    salts: Mapping[str, str] = {}
    facts: Mapping[str, JsonValue] | None = None
    contents: Mapping[str, str] | None = None


class ChainHead(Model):
    """The last entry of a tenant's chain, or one that was it when it was written to the log."""

    tenant_id: str
    seq: int
    digest: str


class Fault(StrEnum):
    """What is wrong with a row or an entry."""

    CHANGED = "changed"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"


class ChainProblem(Model):
    """Something that is not as it was chained: `subject` is the id of the row."""

    fault: Fault
    tenant_id: str
    seq: int | None = None
    kind: str = ""
    subject: str = ""
    message: Text


class Verification(Model):
    """What looking through chains came to."""

    entries: int
    erased: int
    heads: tuple[ChainHead, ...]
    problems: tuple[ChainProblem, ...]


class Via(StrEnum):
    """How a call came in."""

    API = "api"
    CONSOLE = "console"
    CLI = "cli"


class Call(Model):
    """A call that changed something, or was refused; never with what it said.

    `caller` is the name of its token or person, "" if unknown. `route` is a template (`POST
    /v1/changes/{change_id}/approve`), the name of an action, or of a command; `ids` is what it was
    about. `outcome` is `done`, else the kind of the error. `times` counts equal refusals of one
    moment. `tenant_id` is "" where it is of none, or of all.
    """

    id: int = 0
    tenant_id: str = ""
    at: datetime
    via: Via
    caller: str = ""
    token_id: str | None = None
    method: str = ""
    route: str
    ids: Mapping[str, str] = {}
    outcome: str
    status: int | None = None
    times: int = 1


class CallFilter(Model):
    """Filter calls; `since` is inclusive. `refused`: only those that were refused or failed."""

    tenant_id: str | None = None
    caller: str | None = None
    since: datetime | None = None
    refused: bool | None = None


class LeftItem(Model):
    """Knowledge that was learnt from erased words and stands, and by which feedback.

    `by_others`: others taught it too.
    """

    kind: str
    id: str
    name: str
    feedback_ids: tuple[str, ...]
    by_others: bool


class ErasedTenant(Model):
    """What of a person was erased in one tenant, as numbers of rows, and what is left.

    `sent` is of how many changes others are told, by the name of the hook or platform; `sources`
    says where how many pieces of feedback came from.
    """

    tenant_id: str
    feedback: int = 0
    ended: int = 0
    rejected: int = 0
    changes: int = 0
    history: int = 0
    items: int = 0
    names: int = 0
    runs_of_others: int = 0
    left: tuple[LeftItem, ...] = ()
    sent: Mapping[str, int] = {}
    sources: Mapping[str, int] = {}


class Erasure(Model):
    """What came of erasing a person; `token` is that of their name, which still lets them in."""

    tenants: tuple[ErasedTenant, ...]
    token: str | None = None


class SaidPiece(Model):
    """A piece of feedback of the person; `is_named` until their name is erased."""

    id: str
    status: str
    is_named: bool
