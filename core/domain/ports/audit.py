"""What is on record for auditors: the chain of digests, calls, and what was erased."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from core.domain.models.audit import (
    Call,
    CallFilter,
    ChainEntry,
    ChainHead,
    ErasedTenant,
    SaidPiece,
)


class Audit(Protocol):
    """The chains of digests over history, decisions and erasures, one a tenant. None: of all."""

    def entries(self, tenant_id: str | None) -> AsyncIterator[ChainEntry]:
        """Yield the entries by tenant and `seq`, each with its row as it is now."""

    async def unchained(self, tenant_id: str | None) -> Sequence[tuple[str, str, str]]:
        """Return tenant, kind and id of rows that no entry is about, at most 1,000."""

    async def heads(self, tenant_id: str | None) -> Sequence[ChainHead]:
        """Return the heads that were logged."""

    async def log_heads(self, seconds: float) -> int:
        """Log the heads of chains that have grown, unless a process did so within `seconds`."""


class Calls(Protocol):
    """The record of calls."""

    async def add(self, calls: Sequence[Call]) -> None:
        """Store calls."""

    async def page(
        self, wanted: CallFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Call], str | None]:
        """Return calls, newest first, and the cursor of the next page. Raises InvalidInput."""

    async def prune(self, seconds: float) -> int:
        """Delete calls older than `seconds`; return their number."""


class Erasing(Protocol):
    """A person's words, and what identifies them, wherever they are stored."""

    async def tenants(self, author: str, tenant_id: str | None) -> Sequence[str]:
        """Return the tenants in which anything is known of them, or was."""

    async def said(self, author: str, tenant_id: str) -> Sequence[SaidPiece]:
        """Return what they said, oldest first."""

    async def held(self, feedback_ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of changes of this feedback that wait for a person."""

    async def erase(self, author: str, tenant_id: str, by: str, *, dry_run: bool) -> ErasedTenant:
        """Erase all in one transaction, on record by a digest of the name; or count what would be.

        Raises Refused while a worker is at any of it.
        """

    async def token(self, author: str) -> str | None:
        """Return the name of their token, if there is one of theirs."""
