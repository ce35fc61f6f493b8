"""Cases that a held change breaks, and a person who gives them up: on record, with a reason."""

from __future__ import annotations

from collections.abc import Mapping

from core.changes.cases.judging import Tried
from core.changes.cases.wording import all_broken
from core.changes.gate import records
from core.changes.gate.deps import GateDeps
from core.domain.errors import Refused, Stale
from core.domain.messages import Message
from core.domain.models import Change


async def judged_by_cases(change: Change, blobs: Mapping[str, bytes], deps: GateDeps) -> Tried:
    """Return a change with its cases and what it breaks, where cases are run."""
    return Tried(change) if deps.cases is None else await deps.cases.judge(change, blobs)


async def retiring(change: Change, reason: str, deps: GateDeps) -> Change:
    """Return a held change that retires the cases it breaks, for the `reason` that a person gives.

    Raises Refused without one, and Stale if it breaks others than it did when it was prepared.
    """
    gate = deps.cases
    if gate is None or not gate.judges(change):
        return change
    blobs = await records.files_of(change, deps.changes)
    tried = await gate.judge(change, blobs, asks=False)
    now = tried.change
    change = change.model_copy(update={"tried": now.tried, "retires": now.retires})
    if not tried.broken:
        return change
    what = all_broken(tried.broken)
    if not set(now.breaks) <= set(change.breaks):
        raise Stale(Message("case.breaks_more", what=what))
    if not reason:
        raise Refused(
            Message("case.not_retired", id=change.id, n=len(tried.broken), what=what),
            hint=Message("case.hint_retire", id=change.id),
        )
    given_up = (*now.retires, *now.breaks)
    return change.model_copy(update={"retires": given_up, "decision": reason})
