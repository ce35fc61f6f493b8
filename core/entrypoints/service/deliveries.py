"""Deliveries: what went out to hooks and others, what failed, and sending it again."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.models import Page
from core.domain.models.access import Role
from core.domain.models.deliveries import Delivered, Delivery, DeliveryFilter
from core.entrypoints.service.session import Session, acting


@dataclass(frozen=True)
class DeliveriesService:
    """Every method raises Forbidden without its role; another tenant's delivery is NotFound."""

    session: Session

    async def page(
        self, wanted: DeliveryFilter, *, limit: int, cursor: str | None = None
    ) -> Page[Delivery]:
        """Return deliveries, newest first. Raises InvalidInput on another list's cursor."""
        self.session.require(Role.READ)
        scope = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        items, following = await self.session.stores.delivery_log.page(
            scope, limit=limit, cursor=cursor
        )
        return Page(items=tuple(items), next=following)

    async def get(self, delivery_id: str) -> Delivered:
        """Return one delivery with its attempts. Raises NotFound."""
        self.session.require(Role.READ)
        await self._own(delivery_id)
        return await self.session.stores.delivery_log.get(delivery_id)

    @acting
    async def replay(self, delivery_id: str) -> Delivery:
        """Let one go out once more. Raises NotFound, Refused."""
        self.session.require(Role.OPERATE)
        await self._own(delivery_id)
        return await self.session.stores.delivery_log.replay(delivery_id)

    async def _own(self, delivery_id: str) -> None:
        async def find() -> Delivery:
            return (await self.session.stores.delivery_log.get(delivery_id)).delivery

        await self.session.own(find(), "delivery", delivery_id)
