"""Which feedback said what others had said, as rows beside the changes."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.models import Change, Echo, Kind
from core.postgres.queries import Pool, execute, fetch_all
from core.snapshots import state_hash


class PostgresEchoes:
    """The `Echoes` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note(self, change: Change) -> None:
        """Note that the change's feedback said what its target holds already."""
        await execute(
            self._pool,
            "echoes.note",
            feedback_id=change.feedback_id,
            tenant_id=change.tenant_id,
            kind=change.kind,
            target_id=change.target_id,
            hash=state_hash(change.after),
        )

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Echo]:
        """Give which feedback said again what a target held, oldest first."""
        place = {"kind": kind, "tenant_id": tenant_id, "target_id": target_id}
        return [_echo(row) for row in await fetch_all(self._pool, "echoes.at", **place)]

    async def of_feedback(self, feedback_id: str) -> Sequence[Echo]:
        """Give what a piece of feedback said again, oldest first."""
        rows = await fetch_all(self._pool, "echoes.of_feedback", feedback_id=feedback_id)
        return [_echo(row) for row in rows]

    async def forget(self, feedback_id: str) -> None:
        """Forget what a piece of feedback said again."""
        await execute(self._pool, "echoes.forget", feedback_id=feedback_id)


def _echo(row: DictRow) -> Echo:
    return Echo.model_validate(dict(row))
