"""Teaching an opened program without a model: feedback, and the changes it caused."""

from __future__ import annotations

from collections.abc import Mapping

from core.app.program import App
from core.domain.models import (
    SKILL_MD,
    ChangeRequest,
    InputColumn,
    Kind,
    MemoryRequest,
    MergeMode,
    NewFeedback,
    Operation,
    OutputColumn,
    Receipt,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillRequest,
    SubmitContext,
)

Files = Mapping[str, bytes | tuple[bytes, bool]]


class Teacher:
    """Teaches one tenant's agent; each lesson has its own feedback."""

    def __init__(self, app: App, tenant_id: str = "t", agent_id: str = "a") -> None:
        self._app, self._tenant_id, self._agent_id = app, tenant_id, agent_id

    async def memory(self, content: str, target: str | None = None, said: str = "") -> Receipt:
        """Teach a memory, or a new text for one."""
        request = MemoryRequest(
            operation=Operation.UPDATE if target else Operation.CREATE,
            target_id=target,
            content=content,
            merge_mode=MergeMode.REPLACE if target else None,
            is_import=True,
        )
        return await self._teach(request, said)

    async def rule(
        self, *rows: tuple[str, str], target: str | None = None, said: str = ""
    ) -> Receipt:
        """Teach a table of amounts (a FEEL test) and approvers, or more rows for one."""
        edits = tuple(
            RowEdit(inputs={"amount": test}, outputs={"approver": f'"{who}"'}) for test, who in rows
        )
        draft = RuleDraft(rows=edits)
        if target is None:
            draft = RuleDraft(
                name="approval",
                inputs=(InputColumn(name="amount", type="number"),),
                outputs=(OutputColumn(name="approver"),),
                rows=edits,
            )
        request = RuleRequest(
            operation=Operation.UPDATE if target else Operation.CREATE,
            target_id=target,
            rule=draft,
            merge_mode=MergeMode.EXTEND if target else None,
        )
        return await self._teach(request, said)

    async def skill(
        self, name: str, body: str, files: Files | None = None, *, said: str = "", new: bool = True
    ) -> Receipt:
        """Teach a skill's whole folder; a pair is a file and whether it is executable."""
        document = f"---\nname: {name}\ndescription: How to {name}.\n---\n{body}"
        folder = {SKILL_MD: SkillFile(data=document.encode())}
        for path, given in (files or {}).items():
            data, executable = given if isinstance(given, tuple) else (given, False)
            folder[path] = SkillFile(data=data, executable=executable)
        request = SkillRequest(
            operation=Operation.CREATE if new else Operation.UPDATE,
            target_id=None if new else name,
            merge_mode=None if new else MergeMode.REPLACE,
            folder=folder,
            is_import=True,
        )
        return await self._teach(request, said)

    async def forget(self, target: str) -> Receipt:
        """Have a memory deleted."""
        return await self._teach(MemoryRequest(operation=Operation.DELETE, target_id=target), "")

    async def _teach(self, request: ChangeRequest, said: str) -> Receipt:
        said = said or "a lesson"
        piece = NewFeedback(
            tenant_id=self._tenant_id, agent_ids=(self._agent_id,), content=said, author="kim"
        )
        ((feedback_id, _),) = await self._app.stores.inbox.add("test", [piece])
        context = SubmitContext(
            key=feedback_id,
            tenant_id=self._tenant_id,
            agent_id=self._agent_id,
            feedback_id=feedback_id,
            feedback_content=said,
        )
        receipt = await self._app.gate.submit(request, context)
        assert receipt.status == "applied", receipt
        assert receipt.kind in Kind
        return receipt
