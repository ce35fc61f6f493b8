"""Contract of change logs for tables of the same columns that two runs add concurrently."""

from __future__ import annotations

import asyncio

import pytest

from core.decision_table import to_xml
from core.domain.errors import Repeated
from core.domain.models import (
    Change,
    ChangeStatus,
    DecisionRow,
    DecisionTable,
    InputColumn,
    Kind,
    OutputColumn,
    Snapshot,
)
from core.domain.ports import ChangeLog
from tests.contracts.suites.change_log import remembered


def ruled(item_id: str, seen: int | None, *, column: str = "금액", agent_id: str = "a") -> Change:
    """Return an intent to create a table over one column."""
    table = DecisionTable(
        name=item_id,
        inputs=(InputColumn(name=column, type="number"),),
        outputs=(OutputColumn(name="승인자"),),
        rows=(DecisionRow(id="r1", inputs=("> 5",), outputs=(f'"{item_id}"',)),),
    )
    after = Snapshot(content=to_xml(table, decision_id=item_id), name=item_id)
    update = {"kind": Kind.DMN_RULE, "after": after}
    return remembered(item_id, "", seen, agent_id=agent_id).model_copy(update=update)


class RuleNeighboursContract:
    """Tests for any change log; a test class supplies `change_log`."""

    async def _write(self, change_log: ChangeLog, change: Change) -> None:
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.write_item(change)
            await unit.close(change.id, ChangeStatus.APPLIED)

    async def test_a_table_of_the_same_columns_makes_a_new_one_stale(
        self, change_log: ChangeLog
    ) -> None:
        await self._write(change_log, ruled("r1", 0))
        with pytest.raises(Repeated, match="r1"):
            await self._write(change_log, ruled("r2", 0))

    async def test_other_columns_other_agents_and_what_was_not_compared_do_not(
        self, change_log: ChangeLog
    ) -> None:
        await self._write(change_log, ruled("r1", 0))
        await self._write(change_log, ruled("r2", 0, column="등급"))
        await self._write(change_log, ruled("r3", 0, agent_id="b"))
        await self._write(change_log, ruled("r4", None))

    async def test_a_table_that_was_known_is_not_taken_for_one_that_is_new(
        self, change_log: ChangeLog
    ) -> None:
        known, new = ruled("r1", 0), ruled("r2", 0, column="등급")
        await self._write(change_log, known)
        newer = ruled("r3", 1)
        await self._write(change_log, new)
        await self._write(change_log, newer)

    async def test_of_two_tables_at_the_same_moment_one_is_stale(
        self, change_log: ChangeLog
    ) -> None:
        ended = await asyncio.gather(
            *(self._write(change_log, ruled(f"r{number}", 0)) for number in (1, 2)),
            return_exceptions=True,
        )
        assert [type(end) for end in ended if end] == [Repeated]
