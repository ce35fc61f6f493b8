"""Erase a person's words and name: what is in work is ended first, then all tables are emptied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from core.domain.errors import NotFound, Refused
from core.domain.messages import Message
from core.domain.models import Change, Feedback
from core.domain.models.audit import ERASED, ErasedTenant, Erasure
from core.domain.ports import Erasing

log = structlog.get_logger(__name__)

_IN_WORK = frozenset({"queued", "processing"})


@dataclass(frozen=True, kw_only=True)
class Eraser:
    """Erases what a person said; `cancel` ends a piece in work, `reject` a change that waits."""

    erasing: Erasing
    cancel: Callable[[str, str], Awaitable[Feedback]]
    reject: Callable[..., Awaitable[Change]]

    async def erase(
        self, author: str, tenant_id: str | None, *, by: str, dry_run: bool = False
    ) -> Erasure:
        """Erase, in one tenant or in all; repeating it erases what has ended since.

        Raises NotFound if nothing was ever known of them, Refused while a worker is at any of it.
        """
        tenants = await self.erasing.tenants(author, tenant_id)
        if not tenants:
            raise NotFound(Message("erase.nobody"), hint=Message("erase.hint_author"))
        done = tuple([await self._one(author, tenant, by, dry_run=dry_run) for tenant in tenants])
        if not dry_run:
            rows = sum(one.feedback for one in done)
            log.info("author.erased", tenants=len(done), feedback=rows)
        return Erasure(tenants=done, token=await self.erasing.token(author))

    async def _one(self, author: str, tenant_id: str, by: str, *, dry_run: bool) -> ErasedTenant:
        said = await self.erasing.said(author, tenant_id)
        working = [piece.id for piece in said if piece.status in _IN_WORK]
        held = await self.erasing.held([piece.id for piece in said])
        if not dry_run:
            for feedback_id in working:
                await self._end(feedback_id)
            for change_id in held:
                await self.reject(change_id, by=by, reason=ERASED)
        found = await self.erasing.erase(author, tenant_id, by, dry_run=dry_run)
        return found.model_copy(update={"ended": len(working), "rejected": len(held)})

    async def _end(self, feedback_id: str) -> None:
        try:
            await self.cancel(feedback_id, ERASED)
        except Refused:  # it has ended meanwhile
            log.info("feedback.ended_meanwhile", feedback_id=feedback_id)
