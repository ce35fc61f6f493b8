"""Work at the desk: whether anything new is begun, and letting it begin or not."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.errors import Forbidden
from core.domain.models import Pause
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.entrypoints.service.session import Session


class IntakeState(Model):
    """Whether a person has paused all work, and what holds it back, a pause or the model."""

    paused: bool
    hold: Pause | None = None


@dataclass(frozen=True)
class WorkService:
    """Every method raises Forbidden without its role. A pause is for all tenants."""

    session: Session

    async def state(self) -> IntakeState:
        """Say whether work is paused, since when and why."""
        self.session.needs(Role.READ)
        return await self._state()

    async def pause(self, reason: str) -> IntakeState:
        """Begin no new work; what runs goes on to its end, and feedback is still taken in."""
        self._needs_all()
        await self.session.stores.intake.pause(reason)
        return await self._state()

    async def resume(self) -> IntakeState:
        """Begin new work again; fine where it was not paused."""
        self._needs_all()
        await self.session.stores.intake.resume()
        return await self._state()

    def _needs_all(self) -> None:
        """Raise Forbidden where the principal may not operate all tenants."""
        self.session.needs(Role.OPERATE)
        if self.session.who.tenant_id is not None:
            raise Forbidden(
                "a pause holds back all tenants, and this token is of one",
                hint="use a token of all tenants",
            )

    async def _state(self) -> IntakeState:
        paused = await self.session.stores.intake.paused()
        return IntakeState(
            paused=paused is not None, hold=paused or await self.session.app.current_pause()
        )
