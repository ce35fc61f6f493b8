"""Feedback at the desk: put it in, see where it stands, retry it, cancel it, take it back."""

from __future__ import annotations

from dataclasses import dataclass

from core.desk.seat import Seat
from core.models import Feedback
from core.models.access import Role


@dataclass(frozen=True)
class FeedbackDesk:
    """Every method raises Forbidden without its role; another tenant's piece is NotFound."""

    seat: Seat

    async def get(self, feedback_id: str) -> Feedback:
        """Give one piece. Raises NotFound."""
        self.seat.needs(Role.READ)
        return await self._own(feedback_id)

    async def retry(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again. Raises NotFound, Refused."""
        self.seat.needs(Role.OPERATE)
        await self._own(feedback_id)
        return await self.seat.app.intake.revive(feedback_id)

    async def _own(self, feedback_id: str) -> Feedback:
        piece = await self.seat.app.inbox.get(feedback_id)
        self.seat.sees(piece.tenant_id, "feedback", feedback_id)
        return piece
