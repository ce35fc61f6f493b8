"""History records and events of the gate, and the states they refer to."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from core.changes.three_way_merge import State
from core.domain.errors import SkillWorkerError
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    FileRef,
    HistoryRecord,
    HistoryStatus,
    Kind,
    RunEvent,
    SkillFile,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import ChangeLog


class StoredStates:
    """Read stored states, each blob once. Raises NotFound if a blob is gone."""

    def __init__(self, changes: ChangeLog) -> None:
        self._changes = changes
        self._blobs: dict[str, bytes] = {}

    async def read(self, state: Snapshot | None) -> State | None:
        """Return the whole state, None for absent."""
        if state is None:
            return None
        if state.files is None:
            return State(state.content, state.name)
        files = await self.folder(state.files)
        document = files.pop(SKILL_MD)
        return State(document.data.decode("utf-8"), state.name, files, document.executable)

    async def folder(self, refs: Mapping[str, FileRef]) -> dict[str, SkillFile]:
        """Return the files behind references."""
        missing = [ref for ref in refs.values() if ref.sha256 not in self._blobs]
        if missing:
            self._blobs |= await self._changes.blobs(missing)
        return {
            path: SkillFile(data=self._blobs[ref.sha256], executable=ref.executable)
            for path, ref in refs.items()
        }


def applied(change: Change, record_id: str) -> HistoryRecord:
    """Return the history row of an applied change, or of one that reverted another."""
    status = HistoryStatus.REVERTED if change.undoes else HistoryStatus.APPLIED
    return _history(change, record_id, None, status)


def failed(change: Change, record_id: str, error: SkillWorkerError) -> HistoryRecord:
    """Return the history row of a failed attempt."""
    return _history(change, record_id, error, HistoryStatus.FAILED)


def _history(
    change: Change, record_id: str, error: SkillWorkerError | None, status: HistoryStatus
) -> HistoryRecord:
    """Return the history row of a change, with its whole before and after."""
    return HistoryRecord(
        id=record_id,
        knowledge_type=change.kind,
        knowledge_id=change.target_id,
        knowledge_name=change.target_name,
        agent_id=change.agent_id,
        tenant_id=change.tenant_id,
        operation=change.operation,
        previous_content=change.before.content if change.before else None,
        new_content=_with_failure(change, error),
        previous_files=change.before.files if change.before else None,
        new_files=change.after.files if change.after else None,
        feedback_content=change.feedback_content,
        feedback_id=change.feedback_id,
        change_id=change.id,
        attempt=change.attempt,
        status=status,
        error=error.message if error else None,
    )


def event(name: str, change: Change, error: str | None = None, **more: JsonValue) -> RunEvent:
    """Return an event about a change; `more` is added to its data."""
    data: dict[str, JsonValue] = {
        "kind": change.kind.value,
        "operation": change.operation.value,
        "target_id": change.target_id,
        "target_name": change.target_name,
    }
    if change.warnings:
        data["warnings"] = len(change.warnings)
    if error:
        data["error"] = error
    data |= more
    return RunEvent(
        name=name,
        tenant_id=change.tenant_id,
        feedback_id=change.feedback_id,
        candidate_id=change.candidate_id,
        change_id=change.id,
        data=data,
    )


def refused_event(
    request: ChangeRequest, context: SubmitContext, error: SkillWorkerError
) -> RunEvent:
    """Return the event of a refused request."""
    return RunEvent(
        name="change.refused",
        tenant_id=context.tenant_id,
        feedback_id=context.feedback_id,
        candidate_id=context.fence.candidate_id if context.fence else None,
        data={
            "kind": str(request.kind),
            "operation": request.operation.value,
            "target_id": request.target_id,
            "error": error.message,
        },
    )


def _with_failure(change: Change, error: SkillWorkerError | None) -> str | None:
    content = change.after.content if change.after else None
    if error is None or change.kind is not Kind.SKILL:
        return content
    # The marker of contracts, section 3; an unescaped `-->` would end the comment early.
    reason = error.message.replace("-->", "--&gt;")
    return f"{content or ''}\n<!-- [이력] skill-creator 반영 실패: {reason} -->"
