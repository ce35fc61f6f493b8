"""Held changes, and a reviewer's calls about them."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.models import (
    ChangeRequest,
    MemoryRequest,
    Operation,
    ReceiptStatus,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.access import Principal
from tests.support.api import EVERYTHING, Api

SKILL_MD = "---\nname: refund\ndescription: 부분 환불을 대사한다\n---\n\n# 절차\n\n1. 확인한다\n"


def remember(content: str, **given: object) -> MemoryRequest:
    """Return a request to remember a text."""
    return MemoryRequest.model_validate({"operation": "CREATE", "content": content, **given})


def skill(
    files: Mapping[str, bytes], operation: Operation = Operation.CREATE, *executable: str
) -> SkillRequest:
    """Return a request for the skill `refund` with its own folder, or for an edit of it."""
    folder = {
        path: SkillFile(data=data, executable=path in executable)
        for path, data in {"SKILL.md": SKILL_MD.encode(), **files}.items()
    }
    return SkillRequest(
        operation=operation,
        target_id="refund",
        folder=folder,
        merge_mode=None if operation is Operation.CREATE else "REPLACE",
    )


class Reviewing:
    """The API under a policy that holds everything."""

    def __init__(self, api: Api) -> None:
        self.api, self.app = api, api.app
        self._count = 0

    async def held(self, request: ChangeRequest, agent_id: str = "a", tenant: str = "t") -> str:
        """Submit a change, which is then held; return its id."""
        self._count += 1
        context = SubmitContext(key=f"k{self._count}", tenant_id=tenant, agent_id=agent_id)
        receipt = await self.app.gate.submit(request, context)
        assert receipt.status is ReceiptStatus.HELD, receipt
        assert receipt.change_id is not None
        return receipt.change_id

    async def learnt(self, request: ChangeRequest, agent_id: str = "a") -> str:
        """Submit and approve a change; return the target's id."""
        change_id = await self.held(request, agent_id)
        receipt = await self.app.gate.decisions.approve(change_id, by="setup")
        assert receipt.target_id is not None
        return receipt.target_id

    async def review_view(self, change_id: str, who: Principal = EVERYTHING) -> dict:  # type: ignore[type-arg]
        """Return the review view as JSON."""
        answer = await self.api.call("GET", f"/v1/changes/{change_id}/review", who=who)
        assert answer.status_code == 200, answer.text
        found: dict = answer.json()  # type: ignore[type-arg]
        return found

    async def seen(self, change_id: str) -> str:
        """Return the content hash of the change as shown now."""
        return (await self.app.stores.changes.get(change_id)).content_hash

    async def decide(
        self,
        act: str,
        change_id: str,
        body: Mapping[str, object] | None = None,
        who: Principal = EVERYTHING,
    ) -> tuple[int, dict]:  # type: ignore[type-arg]
        """Call one of the decisions; the seen hash is the present one unless given."""
        given = {"seen": await self.seen(change_id)} if act in {"approve", "reject", "edit"} else {}
        path = f"/v1/changes/{change_id}/{act}"
        answer = await self.api.call("POST", path, {**given, **(body or {})}, who=who)
        return answer.status_code, answer.json()
