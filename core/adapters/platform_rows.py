"""Rows of the platform's tables over PostgREST, as far as it has them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import structlog
from pydantic import JsonValue

from core.adapters.sources.transport import PostgrestTransport, UnknownColumn
from core.delivery.platform_names import KEYS, PlatformNames, column_name, table_name
from core.domain.errors import NoSuchTable, NotWritten, SourceDown
from core.domain.messages import Message
from core.domain.ports import PlatformRow, Sleep

log = structlog.get_logger(__name__)
T = TypeVar("T")
PAUSES = (0.1, 0.4)  # seconds before a call is repeated


class PostgrestRows:
    """The port `PlatformRows`, by the names that the platform has for tables and columns.

    What is not there is looked for again with each call: it may come.
    """

    def __init__(
        self, transport: PostgrestTransport, names: PlatformNames, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._transport = transport
        self._sleep = sleep
        self._names = names
        self._warned: set[tuple[str, str]] = set()

    async def read(
        self, table: str, where: PlatformRow, columns: Sequence[str]
    ) -> Sequence[PlatformRow]:
        async def ask(there: str, named: Mapping[str, str]) -> Sequence[PlatformRow]:
            wanted = {name: named[name] for name in columns if name in named}
            select = ",".join(wanted.values() or map(named.__getitem__, where))
            found = await self._transport.get(there, {"select": select, **_filters(where, named)})
            rows = [row for row in found if isinstance(row, dict)]
            return [{name: row.get(wanted[name]) for name in wanted} for row in rows]

        return await self._known(table, where, columns, ask)

    async def change(self, table: str, where: PlatformRow, values: PlatformRow) -> int:
        async def ask(there: str, named: Mapping[str, str]) -> int:
            keys = ",".join(named[name] for name in KEYS[table])
            params = {"select": keys, **_filters(where, named)}
            return len(await self._transport.patch(there, params, _named(values, named)))

        return await self._known(table, (*where, *KEYS[table]), values, ask)

    async def add(self, table: str, row: PlatformRow) -> None:
        async def ask(there: str, named: Mapping[str, str]) -> None:
            await self._transport.post(there, _named(row, named))

        await self._known(table, KEYS[table], row, ask)

    async def remove(self, table: str, where: PlatformRow) -> None:
        async def ask(there: str, named: Mapping[str, str]) -> None:
            await self._transport.delete(there, _filters(where, named))

        await self._known(table, where, (), ask)

    async def lacks(self, table: str, columns: Sequence[str]) -> Sequence[str]:
        """Return which columns a table does not have. Raises NoSuchTable."""

        async def ask(there: str, named: Mapping[str, str]) -> Sequence[str]:
            params = {"select": ",".join(named.values()), "limit": "0"}
            await self._transport.get(there, params)
            return [name for name in columns if name not in named]

        return await self._known(table, KEYS[table], columns, ask)

    async def _known(
        self,
        table: str,
        needed: Iterable[str],
        others: Iterable[str],
        ask: Callable[[str, Mapping[str, str]], Awaitable[T]],
    ) -> T:
        """Ask with what the platform calls the table, the columns needed, and others as it has.

        Rows are never looked for with a condition less: that would be other rows.
        """
        there = table_name(self._names, table)
        if there is None:
            raise NotWritten(Message("platform.not_written", table=table))
        needed = frozenset(needed)
        given = {name: column_name(self._names, table, name) for name in (*needed, *others)}
        named = {name: column for name, column in given.items() if column is not None}
        while True:
            try:
                return await self._asked(lambda: ask(there, named))
            except NoSuchTable as error:
                self._warn(there, "", error.message)
                raise
            except UnknownColumn as error:
                missing = _named_in(error.said, named)
                if missing is None or missing in needed:
                    self._warn(there, "", error.message)
                    raise NoSuchTable(error.message, hint=error.hint) from error
                self._warn(there, named.pop(missing), error.message)

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again at once where the platform fails: else one of many calls undoes all of them.

        Every call may be repeated: what it has done already it does not do again.
        """
        for seconds in PAUSES:
            try:
                return await ask()
            except SourceDown as error:
                if error.retry_after is not None:
                    raise
            await self._sleep(seconds)
        return await ask()

    def _warn(self, table: str, column: str, why: str) -> None:
        if (table, column) not in self._warned:
            self._warned.add((table, column))
            log.warning("platform.skipped", table=table, column=column or None, error=why)


def _named_in(said: str, named: Mapping[str, str]) -> str | None:
    """Return which of the columns an error is about: the one it names by itself."""
    found = [
        name
        for name, column in named.items()
        if re.search(rf"(?<!\w){re.escape(column)}(?!\w)", said)
    ]
    return found[0] if len(found) == 1 else None


def _named(values: PlatformRow, named: Mapping[str, str]) -> dict[str, JsonValue]:
    return {named[name]: value for name, value in values.items() if name in named}


def _filters(where: PlatformRow, named: Mapping[str, str]) -> dict[str, str]:
    return {named[name]: _filter(value) for name, value in where.items() if name in named}


def _filter(value: JsonValue) -> str:
    if value is None:
        return "is.null"
    if isinstance(value, list):
        return f"eq.{{{','.join(map(_element, value))}}}"
    return f"eq.{value}"


def _element(value: JsonValue) -> str:
    r"""Format an element of PostgreSQL's array literal: in quotes, `"` and `\` escaped by `\`."""
    if value is None:
        return "NULL"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
