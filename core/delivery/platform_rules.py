"""Decision tables as rows of the platform's `proc_def`, each change a version of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from uuid import UUID, uuid5

from core.domain.errors import NoSuchTable, NotFound, NotWritten
from core.domain.messages import Message
from core.domain.models import Change, HistoryRecord, MergeMode, Snapshot
from core.domain.models.audit import ERASED
from core.domain.ports import Knowledge, PlatformRow, PlatformRows, WriteBackRecords
from core.domain.tasks import aside

SPACE = UUID("8a3c1f5e-6f0d-5b51-9a55-2f0c7c1d9e41")  # of all ids that are given here
FIRST = "1.0.0"
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")
_STEPS = {MergeMode.REPLACE: 0, MergeMode.EXTEND: 1, MergeMode.REFINE: 2}
_TAGS = ("major", "minor", "patch")
DIFF_CHARS = 200_000


def table_id(tenant_id: str, target_id: str) -> str:
    """Return the id of a decision table on the platform: a UUID, its own if it is one."""
    try:
        return str(UUID(target_id))
    except ValueError:
        return str(uuid5(SPACE, f"table:{tenant_id}:{target_id}"))


def version_id(change_id: str) -> str:
    """Return the UUID of the version that a change makes."""
    return str(uuid5(SPACE, f"version:{change_id}"))


def next_version(latest: str | None, mode: MergeMode | None) -> tuple[str, str]:
    """Return the version after `latest`, and whether it is major, minor or patch.

    What has none becomes 1.0.0; without a mode, as for what is restored, all of it is replaced.
    """
    known = _parts(latest)
    if not known:
        return FIRST, _TAGS[0]
    step = _STEPS[mode or MergeMode.REPLACE]
    raised = [*known[:step], known[step] + 1, 0, 0][:3]
    return ".".join(map(str, raised)), _TAGS[step]


def newest(versions: Iterable[str | None]) -> str | None:
    """Return the highest of these versions; what is none does not count."""
    return max(filter(_parts, versions), key=_parts, default=None)


def _parts(version: str | None) -> list[int]:
    found = _VERSION.fullmatch(version or "")
    return [int(part or 0) for part in found.groups()] if found else []


@dataclass(frozen=True)
class RuleWriter:
    """Writes decision tables, and a version for each change that gave them content."""

    rows: PlatformRows
    records: WriteBackRecords
    knowledge: Knowledge

    async def write(self, change: Change, record: HistoryRecord) -> Sequence[str]:
        """Write what a change made of a table, unless a later one has been written already.

        Return why it is left out, if it is.
        """
        where: PlatformRow = {
            "id": table_id(change.tenant_id, change.target_id),
            "tenant_id": change.tenant_id,
        }
        try:
            await self._write(change, record, where)
        except NotWritten:
            return ()
        except NoSuchTable as error:  # which the adapter has warned of
            return (Message("platform.left_table", why=error.message),)
        return ()

    async def _write(self, change: Change, record: HistoryRecord, where: PlatformRow) -> None:
        gone: PlatformRow = {"isdeleted": await self._is_gone(change)}
        versions = await self._versions(where)
        written = None if versions is None else {row.get("uuid") for row in versions}
        later = {version_id(one) for one in await self.records.later(change)}
        # Without versions nothing tells what was written: what is not the last is left alone.
        has_later = bool(later) if written is None else not later.isdisjoint(written)
        if change.after is None or has_later:
            await self.rows.change("proc_def", where, gone)
            return
        found = await self.rows.read("proc_def", where, ("bpmn", "prod_version"))
        version = await self._version(change, record, where, versions or (), found)
        values: PlatformRow = {
            "name": change.after.name,
            "bpmn": change.after.content,
            "owner": change.agent_id,
            "type": "dmn",
            "prod_version": version,
            **gone,
        }
        if not await self.rows.change("proc_def", where, values):
            uuid = str(uuid5(SPACE, f"row:{where['tenant_id']}:{where['id']}"))
            await self.rows.add("proc_def", {**where, "uuid": uuid, "definition": None, **values})

    async def erase(self, change: Change) -> Sequence[str]:
        """Empty the row of a change's version as the change is emptied here, and a table's own."""
        table: PlatformRow = {
            "id": table_id(change.tenant_id, change.target_id),
            "tenant_id": change.tenant_id,
        }
        own: PlatformRow = {
            "uuid": version_id(change.id),
            "proc_def_id": table["id"],
            "tenant_id": change.tenant_id,
        }
        is_empty = change.after is not None and change.after.content == ERASED
        said: PlatformRow = {"message": str(change.reason)}
        content: PlatformRow = {"snapshot": ERASED, "diff": None} if is_empty else {}
        with suppress(NoSuchTable, NotWritten):
            await self.rows.change("proc_def_version", own, {**said, **content})
        if is_empty and await self._is_gone(change):
            with suppress(NoSuchTable, NotWritten):
                gone: PlatformRow = {"name": ERASED, "bpmn": ERASED, "isdeleted": True}
                await self.rows.change("proc_def", table, gone)
        return ()

    async def _is_gone(self, change: Change) -> bool:
        try:
            await self.knowledge.get(change.kind, change.tenant_id, change.target_id)
        except NotFound:
            return True
        return False

    async def _versions(self, where: PlatformRow) -> Sequence[PlatformRow] | None:
        """Return the versions that are there; None where the platform has no table of them."""
        of_table: PlatformRow = {"proc_def_id": where["id"], "tenant_id": where["tenant_id"]}
        try:
            return await self.rows.read("proc_def_version", of_table, ("uuid", "version"))
        except NoSuchTable:
            return None

    async def _version(
        self,
        change: Change,
        record: HistoryRecord,
        where: PlatformRow,
        versions: Sequence[PlatformRow],
        found: Sequence[PlatformRow],
    ) -> str:
        """Return the version that a change makes, and write its row.

        The row comes before the table's own: a write that is cut off finds it, and counts once.
        """
        assert change.after is not None
        own = version_id(change.id)
        for row in versions:
            if row.get("uuid") == own:
                return str(row.get("version"))
        present: PlatformRow = next(iter(found), {})
        in_force = str(present.get("prod_version") or "")
        if not versions and present.get("bpmn") == change.after.content and in_force:
            return in_force
        latest = newest([in_force, *(str(row.get("version") or "") for row in versions)])
        version, tag = next_version(latest, change.merge_mode)
        row = {
            "arcv_id": f"{where['id']}_{version}",
            "proc_def_id": where["id"],
            "version": version,
            "version_tag": tag,
            "snapshot": change.after.content,
            "timeStamp": record.created_at.isoformat() if record.created_at else None,
            "diff": await _diff(change.before, change.after.content),
            "message": str(change.reason),
            "uuid": own,
            "tenant_id": where["tenant_id"],
            "parent_version": latest,
        }
        with suppress(NoSuchTable):
            await self.rows.add("proc_def_version", row)
        return version


async def _diff(before: Snapshot | None, after: str) -> str | None:
    """Return what a change made of the text of a table; None of one that is new, or too long."""
    if before is None or len(before.content) + len(after) > DIFF_CHARS:
        return None
    return await aside(len(after), _lines_of_diff, before.content, after)


def _lines_of_diff(before: str, after: str) -> str:
    return "\n".join(unified_diff(before.splitlines(), after.splitlines(), lineterm=""))
