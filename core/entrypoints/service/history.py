"""History: the record of every change that was made or attempted."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.models import HistoryFilter, HistoryRecord, Page
from core.domain.models.access import Role
from core.domain.models.audit import Call, CallFilter
from core.entrypoints.service.session import Session


@dataclass(frozen=True)
class HistoryService:
    """Every method raises Forbidden without its role; another tenant's record is NotFound."""

    session: Session

    async def page(
        self, wanted: HistoryFilter, *, limit: int, cursor: str | None = None
    ) -> Page[HistoryRecord]:
        """Return records, newest first. Raises InvalidInput on another list's cursor."""
        self.session.require(Role.READ)
        scope = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        items, following = await self.session.stores.reader.history(
            scope, limit=limit, cursor=cursor
        )
        return Page(items=tuple(items), next=following)

    async def get(self, record_id: str) -> HistoryRecord:
        """Return one record. Raises NotFound."""
        self.session.require(Role.READ)
        finding = self.session.stores.reader.history_record(record_id)
        return await self.session.own(finding, "history record", record_id)

    async def calls(
        self, wanted: CallFilter, *, limit: int, cursor: str | None = None
    ) -> Page[Call]:
        """Return the calls on record, newest first. Raises InvalidInput on a foreign cursor."""
        self.session.require(Role.OPERATE)
        scope = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        items, following = await self.session.stores.calls.page(scope, limit=limit, cursor=cursor)
        return Page(items=tuple(items), next=following)
