"""The `Echoes` port in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.models import Change, Echo, Kind
from core.snapshots import state_hash


class MemoryEchoes:
    """Echoes with their tenants, oldest first."""

    def __init__(self) -> None:
        self._echoes: list[tuple[str, Echo]] = []

    async def note(self, change: Change) -> None:
        """Note that the change's feedback said what its target holds already."""
        assert change.feedback_id is not None
        made = Echo(
            feedback_id=change.feedback_id,
            kind=change.kind,
            target_id=change.target_id,
            hash=state_hash(change.after),
            at=datetime.now(UTC),
        )
        known = {(tenant, echo.model_copy(update={"at": made.at})) for tenant, echo in self._echoes}
        if (change.tenant_id, made) not in known:
            self._echoes.append((change.tenant_id, made))

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Echo]:
        """Give which feedback said again what a target held, oldest first."""
        place = (tenant_id, kind, target_id)
        return [e for tenant, e in self._echoes if (tenant, e.kind, e.target_id) == place]

    async def of_feedback(self, feedback_id: str) -> Sequence[Echo]:
        """Give what a piece of feedback said again, oldest first."""
        return [echo for _, echo in self._echoes if echo.feedback_id == feedback_id]

    async def forget(self, feedback_id: str) -> None:
        """Forget what a piece of feedback said again."""
        self._echoes = [(t, echo) for t, echo in self._echoes if echo.feedback_id != feedback_id]
