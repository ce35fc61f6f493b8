"""The platform's tables as lists of rows: the port `PlatformRows`, and how it fails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from core.delivery.platform_names import KEYS
from core.domain.errors import NoReference, NoSuchTable, NotWritten
from core.domain.ports import PlatformRow


class Rows:
    """Rows by table; `missing` tables are not there, `unwanted` ones the settings leave out.

    A row of an agent among `strangers` refers to nothing that the platform has.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, object]]] = defaultdict(list)
        self.missing: set[str] = set()
        self.unwanted: set[str] = set()
        self.strangers: set[str] = set()

    async def read(
        self, table: str, where: PlatformRow, columns: Sequence[str]
    ) -> Sequence[PlatformRow]:
        return [{name: row.get(name) for name in columns} for row in self._found(table, where)]  # type: ignore[misc]

    async def change(self, table: str, where: PlatformRow, values: PlatformRow) -> int:
        found = self._found(table, where)
        for row in found:
            row |= values
        return len(found)

    async def add(self, table: str, row: PlatformRow) -> None:
        if row.get("agent_id") in self.strangers:
            raise NoReference(f"no user {row['agent_id']}")
        if not self._found(table, {name: row[name] for name in KEYS[table]}):
            self.tables[table].append({**row})

    async def remove(self, table: str, where: PlatformRow) -> None:
        gone = self._found(table, where)
        self.tables[table] = [row for row in self.tables[table] if row not in gone]

    def _found(self, table: str, where: PlatformRow) -> list[dict[str, object]]:
        if table in self.missing:
            raise NoSuchTable(f"no table {table}")
        if table in self.unwanted:
            raise NotWritten(f"{table} is not written")
        rows = self.tables[table]
        return [row for row in rows if all(row.get(name) == where[name] for name in where)]
