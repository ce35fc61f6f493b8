"""Many changes at once: each prepared and judged by itself, those that are new written together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from core.changes.gate import drafts, receipts, records
from core.changes.gate.deps import GateDeps
from core.changes.gate.screening import masked_request, screened
from core.domain.errors import InvalidInput, NotFound, Refused, SkillWorkerError, Stale, TargetBusy
from core.domain.hashing import request_digest
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    MemoryRequest,
    Operation,
    Receipt,
    SubmitContext,
)
from core.domain.models.feedback import is_reserved
from core.domain.ports import Concluded

Asked = tuple[ChangeRequest, SubmitContext]
Outcome = Receipt | SkillWorkerError
Submit = Callable[[ChangeRequest, SubmitContext], Awaitable[Receipt]]
# Changes of a transaction, which is written while the next are prepared: the server and the disk
# work beside the comparison of texts, and no more than these few are waited for at the end.
TOGETHER = 25


@dataclass
class _Set:
    """Outcomes by place, the changes that wait to be written together, and those being written."""

    asked: Sequence[Asked]
    submit: Submit
    deps: GateDeps
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    waiting: dict[int, Change] = field(default_factory=dict)
    writing: asyncio.Task[None] | None = None

    async def add(self, place: int, change: Change) -> None:
        """Write a change with those that wait, once they are enough."""
        self.waiting[place] = change
        if len(self.waiting) == TOGETHER:
            await self._begin()
        await asyncio.sleep(0)  # what is being written goes on: nothing else here waits

    async def write(self) -> None:
        """Write all that waits."""
        await self._begin()
        await self.written()

    async def written(self) -> None:
        """Wait for what is being written. Raises what it raises."""
        writing, self.writing = self.writing, None
        if writing is not None:
            await writing

    async def _begin(self) -> None:
        await self.written()
        if self.waiting:
            waiting, self.waiting = self.waiting, {}
            self.writing = asyncio.create_task(_write(self, waiting))


async def submit_all(asked: Sequence[Asked], submit: Submit, deps: GateDeps) -> Sequence[Outcome]:
    """Submit in order: new memories in sets, what else there is by `submit`."""
    asked = [(await masked_request(request, deps.screen), context) for request, context in asked]
    used = await deps.changes.find_all([context.key for _, context in asked])
    done = _Set(asked, submit, deps)
    try:
        for place, (request, context) in enumerate(asked):
            change = None
            if context.key not in used and _is_plain(request, context):
                change = await _prepared(request, context, deps)
            if change is not None:
                await done.add(place, change)
                continue
            await done.write()
            done.outcomes[place] = await _alone(request, context, submit)
        await done.write()
    finally:
        if done.writing is not None:
            await asyncio.gather(done.writing, return_exceptions=True)
    return [done.outcomes[place] for place in range(len(asked))]


def _is_plain(request: ChangeRequest, context: SubmitContext) -> bool:
    """Whether a request can only add a memory that its caller has compared already."""
    is_new = isinstance(request, MemoryRequest) and request.operation is Operation.CREATE
    is_free = context.fence is None and not is_reserved(context.agent_id)
    return is_new and is_free and context.compared is not None


async def _prepared(
    request: ChangeRequest, context: SubmitContext, deps: GateDeps
) -> Change | None:
    """Return the change to write; None if it is refused, held or none, which `submit` tells."""
    digest = request_digest(request)
    draft = drafts.draft(request, context, digest=digest, attempt=1, change_id=deps.new_id())
    try:
        change = drafts.filled(draft, await drafts.prepare(request, context, deps))
    except (Refused, InvalidInput, NotFound):
        return None
    # What is known already is told by `submit`, which also asks hooks one by one.
    if change.before is not None or deps.before_applied:
        return None
    change = await screened(change, {}, deps.screen, deps.changes)
    is_plain = not deps.denies(change, is_draft=False) and not drafts.held_because(change, deps)
    return change if is_plain else None


async def _write(done: _Set, waiting: dict[int, Change]) -> None:
    """Write changes in one transaction; if that cannot be, one after another."""
    deps = done.deps
    if deps.dry_run:
        for change in waiting.values():
            deps.would_write(change)
        done.outcomes |= {place: receipts.receipt_of(change) for place, change in waiting.items()}
        return
    made = {place: _concluded(change, deps) for place, change in waiting.items()}
    try:
        await deps.changes.conclude([*made.values()])
    except (Stale, TargetBusy):
        for place in waiting:
            done.outcomes[place] = await _alone(*done.asked[place], done.submit)
    else:
        done.outcomes |= {place: receipts.receipt_of(one.change) for place, one in made.items()}


def _concluded(change: Change, deps: GateDeps) -> Concluded:
    applied = change.model_copy(update={"status": ChangeStatus.APPLIED})
    history = records.applied(applied, deps.new_id())
    return Concluded(applied, history, records.event("change.applied", applied))


async def _alone(request: ChangeRequest, context: SubmitContext, submit: Submit) -> Outcome:
    try:
        return await submit(request, context)
    except SkillWorkerError as error:
        if error.retryable and not isinstance(error, Stale | TargetBusy):
            raise
        return error
