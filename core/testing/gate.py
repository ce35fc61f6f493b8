"""A change gate in memory: records submissions and answers from a script."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import KeyReused, SkillWorkerError
from core.domain.models import (
    ChangeRequest,
    Fence,
    Kind,
    ListEdit,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    SkillListRequest,
    SubmitContext,
)

Answer = Receipt | SkillWorkerError


class FakeGate:
    """Answer from `script` in order, then with applied receipts; idempotent by key.

    An error in the script is raised *after* the effect, as when a process dies before it records
    the answer: the same key then returns the receipt. `submitted` has each new submission.
    """

    def __init__(self, script: Sequence[Answer] = ()) -> None:
        self._script = list(script)
        self._receipts: dict[str, tuple[ChangeRequest, Receipt]] = {}
        self._failure: tuple[int, SkillWorkerError] | None = None
        self.submitted: list[tuple[ChangeRequest, SubmitContext]] = []
        self.resumed: list[Fence] = []

    def fail_next(self, error: SkillWorkerError, *, after: int) -> None:
        """Raise `error` once, before any effect, after `after` submissions."""
        self._failure = (after, error)

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        known = self._receipts.get(context.key)
        if known is not None:
            if known[0] != request:
                raise KeyReused(f"key {context.key} was used for another request")
            return known[1]
        if self._failure is not None and self._failure[0] == len(self.submitted):
            error, self._failure = self._failure[1], None
            raise error
        answer = self._script.pop(0) if self._script else self._done(request)
        receipt = answer if isinstance(answer, Receipt) else self._done(request)
        self._receipts[context.key] = (request, receipt)
        self.submitted.append((request, context))
        if isinstance(answer, SkillWorkerError):
            raise answer
        return answer

    async def submit_all(
        self, asked: Sequence[tuple[ChangeRequest, SubmitContext]]
    ) -> Sequence[Receipt | SkillWorkerError]:
        """Submit one after another."""
        return [await self.submit(request, context) for request, context in asked]

    async def masked(self, request: ChangeRequest) -> ChangeRequest:
        """Return the request: nothing is masked."""
        return request

    async def resume(self, fence: Fence) -> int:
        """Record the call: there is nothing to finish."""
        self.resumed.append(fence)
        return 0

    def _done(self, request: ChangeRequest) -> Receipt:
        is_attach = isinstance(request, SkillListRequest) and request.edit is not ListEdit.REMOVE
        kind = request.target_kind if isinstance(request, RestoreRequest) else Kind(request.kind)
        number = len(self.submitted) + 1
        return Receipt(
            status=ReceiptStatus.ATTACHED if is_attach else ReceiptStatus.APPLIED,
            message=f"{kind} {request.operation} done",
            change_id=f"change-{number}",
            kind=kind,
            operation=request.operation,
            target_id=request.target_id or f"item-{number}",
        )
