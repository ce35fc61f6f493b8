"""Records of history as rows of the platform's `agent_knowledge_history`."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from core.delivery.platform_rules import SPACE
from core.domain.errors import NoReference, NoSuchTable, NotWritten
from core.domain.messages import Message
from core.domain.models import SKILL_MD, FileRef, HistoryRecord, Kind, Reach
from core.domain.models.audit import ERASED
from core.domain.ports import ChangeLog, PlatformRow, PlatformRows
from core.domain.tasks import aside

_KINDS = {Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL}


def record_id(record: HistoryRecord) -> str:
    """Return the UUID of a record: of its change, attempt and status."""
    return str(uuid5(SPACE, f"history:{record.change_id}:{record.attempt}:{record.status.value}"))


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class HistoryWriter:
    """Writes records, each once. `skip` warns once that an agent is not written, and why."""

    rows: PlatformRows
    changes: ChangeLog
    skip: Callable[[str, str], None]

    async def write(self, records: Sequence[HistoryRecord]) -> Sequence[str]:
        """Write the records of one change, in order; return why they are left out, if they are."""
        for record in records:
            if record.knowledge_type is Kind.AGENT_SKILLS:
                return ()  # has no row of its own
            why = await self._left_out(record)
            if why:
                return (Message("platform.left_history", why=why),)
        return ()

    async def erase(self, records: Sequence[HistoryRecord]) -> Sequence[str]:
        """Empty the rows of these records as they are emptied here, where they were written."""
        try:
            for record in records:
                row = {"id": record_id(record)}
                await self.rows.change("agent_knowledge_history", row, await self._emptied(record))
        except NotWritten:
            return ()
        except NoSuchTable as error:  # which the adapter has warned of
            return (Message("platform.left_history", why=error.message),)
        return ()

    async def _emptied(self, record: HistoryRecord) -> PlatformRow:
        row = await self._row(record)
        whole = {"knowledge_name", "previous_content", "new_content"}
        of = {"feedback_content", *(whole if record.knowledge_name == ERASED else ())}
        return {name: row[name] for name in row if name in of}

    async def _left_out(self, record: HistoryRecord) -> str:
        """Write one record, or return why it cannot be; "" too where the settings say not to."""
        if record.knowledge_type not in _KINDS:
            return Message("platform.no_kind", kind=record.knowledge_type)
        if not record.agent_id:
            return Message("platform.no_agent")
        if not is_uuid(record.agent_id):
            return self._skipped(record.agent_id, Message("platform.no_uuid"))
        try:
            await self.rows.add("agent_knowledge_history", await self._row(record))
        except NotWritten:
            return ""
        except NoSuchTable as error:  # which the adapter has warned of
            return error.message
        except NoReference as error:
            return self._skipped(record.agent_id, error.message)
        return ""

    def _skipped(self, agent_id: str, why: str) -> str:
        self.skip(agent_id, why)
        return Message("platform.of_agent", agent=agent_id, why=why)

    async def _row(self, record: HistoryRecord) -> PlatformRow:
        return {
            "id": record_id(record),
            "knowledge_type": record.knowledge_type.value,
            "knowledge_id": record.knowledge_id,
            "knowledge_name": record.knowledge_name,
            "agent_id": record.agent_id,
            "tenant_id": record.tenant_id,
            "operation": record.operation.value,
            "previous_content": await self._content(
                record, record.previous_content, record.previous_files, record.previous_reach
            ),
            "new_content": await self._content(
                record, record.new_content, record.new_files, record.new_reach
            ),
            "feedback_content": record.feedback_content,
            "created_at": record.created_at.isoformat() if record.created_at else None,
        }

    async def _content(
        self,
        record: HistoryRecord,
        content: str | None,
        files: Mapping[str, FileRef] | None,
        reach: Reach | None,
    ) -> str | None:
        """Return a content in the form that the platform has for its kind."""
        if content is None or record.knowledge_type is Kind.DMN_RULE:
            return content
        if record.knowledge_type is Kind.MEMORY:
            return memory_content(record, content, reach)
        blobs = await self.changes.blobs([*files.values()]) if files else {}
        size = sum(map(len, blobs.values()))
        return await aside(size, skill_content, content, files or {}, blobs)


def memory_content(record: HistoryRecord, content: str, reach: Reach | None) -> str:
    """Return a memory as JSON `{memory, metadata}`."""
    metadata = {
        "agent_id": record.agent_id,
        "tenant_id": record.tenant_id,
        "name": record.knowledge_name,
        "feedback_id": record.feedback_id,
        "change_id": record.change_id,
        **(reach.model_dump(mode="json") if reach else {}),
    }
    known = {name: value for name, value in metadata.items() if value is not None}
    return json.dumps({"memory": content, "metadata": known}, ensure_ascii=False)


def skill_content(document: str, files: Mapping[str, FileRef], blobs: Mapping[str, bytes]) -> str:
    """Return a skill as JSON `{path: text}` of all its files.

    `document` is its SKILL.md, with what a failed attempt noted at its end. A file that is no text
    is a data URL.
    """
    texts = {path: _text(blobs[ref.sha256]) for path, ref in sorted(files.items())}
    return json.dumps({**texts, SKILL_MD: document}, ensure_ascii=False)


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return text
    return f"data:application/octet-stream;base64,{base64.b64encode(data).decode('ascii')}"
