"""The intake of work: whether new work is started, pausing and resuming it."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.errors import Forbidden
from core.domain.messages import Message
from core.domain.models import Pause
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.entrypoints.service.session import Session, acting


class IntakeState(Model):
    """Whether a person has paused all work, and what holds it back, a pause or the model."""

    paused: bool
    hold: Pause | None = None


@dataclass(frozen=True)
class WorkService:
    """Every method raises Forbidden without its role. A pause is for all tenants."""

    session: Session

    async def state(self) -> IntakeState:
        """Return whether work is paused, since when and why."""
        self.session.require(Role.READ)
        return await self._state()

    @acting
    async def pause(self, reason: str) -> IntakeState:
        """Start no new work; what runs continues to its end, and feedback is still accepted."""
        self._require_all_tenants()
        await self.session.stores.intake.pause(reason)
        return await self._state()

    @acting
    async def resume(self) -> IntakeState:
        """Start new work again; no error if it was not paused."""
        self._require_all_tenants()
        await self.session.stores.intake.resume()
        return await self._state()

    def _require_all_tenants(self) -> None:
        """Raise Forbidden if the principal may not operate all tenants."""
        self.session.require(Role.OPERATE)
        if self.session.principal.tenant_id is not None:
            raise Forbidden(Message("pause.all_tenants"), hint=Message("pause.token"))

    async def _state(self) -> IntakeState:
        paused = await self.session.stores.intake.paused()
        return IntakeState(
            paused=paused is not None, hold=paused or await self.session.app.current_pause()
        )
