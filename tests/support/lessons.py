"""What people decide about the worker's work, and the lessons that come of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from core.adapters.postgres.queries import Pool, connection
from core.app.bootstrap.learning import build_lessons
from core.app.program import App
from core.domain.models import (
    Change,
    ChangeFilter,
    ChangeStatus,
    Edited,
    MemoryRequest,
    Operation,
    SubmitContext,
)
from core.domain.models.feedback import WORKER_AGENT
from tests.support.effect import complain

WHY = "너무 구체적입니다. 부산 지점에만 해당하는 내용입니다"
SAID = "부산 지점 배송비는 3000원으로 안내한다"


async def asked(app: App, content: str, *, tenant_id: str = "t", **given: object) -> str:
    """Have an agent's run ask for a change of a memory; return the change's id."""
    agent_id = "a" if tenant_id == "t" else "c"
    feedback_id = await complain(app, f"{content} 라고 해 주세요", tenant_id, agent_id)
    known = {"operation": Operation.CREATE, "content": content, **given}
    context = SubmitContext(
        key=f"{feedback_id}:1:0:0",
        tenant_id=tenant_id,
        agent_id=agent_id,
        feedback_id=feedback_id,
        source="test",
        author="kim",
    )
    receipt = await app.gate.submit(MemoryRequest.model_validate(known), context)
    assert receipt.change_id is not None, receipt
    return receipt.change_id


async def rejected(app: App, why: str = WHY, content: str = SAID, *, tenant_id: str = "t") -> str:
    """Have a person reject what a run asked for; return the change's id."""
    change_id = await asked(app, content, tenant_id=tenant_id)
    await app.gate.decisions.reject(change_id, by="lee", reason=why)
    return change_id


async def approved(app: App, change_id: str, *, text: str | None = None) -> Change:
    """Have a person approve a change, edited where a text is given."""
    if text is not None:
        await app.gate.decisions.edit(change_id, Edited(content=text), by="lee")
    await app.gate.decisions.approve(change_id, by="lee")
    return await app.stores.changes.get(change_id)


async def proposed(app: App, after: timedelta = timedelta(), tenant_id: str = "t") -> list[Change]:
    """Have the worker look for lessons, as if it were later; return those that wait."""
    lessons = build_lessons(app.stores, app.gate)
    await replace(lessons, now=lambda: lessons.now() + after).work()
    return await waiting(app, tenant_id)


async def waiting(app: App, tenant_id: str = "t") -> list[Change]:
    """Return the lessons that wait for a person."""
    wanted = ChangeFilter(tenant_id=tenant_id, statuses=(ChangeStatus.HELD,))
    heads, _ = await app.stores.reader.changes(wanted, limit=50, cursor=None)
    found = [await app.stores.changes.get(head.id) for head in heads]
    return [change for change in found if change.agent_id == WORKER_AGENT]


async def learnt(app: App, why: str = WHY, content: str = SAID) -> Change:
    """Have the worker learn a lesson from a rejection, approved by a person."""
    await rejected(app, why, content)
    (lesson,) = await proposed(app)
    return await approved(app, lesson.id)


async def ran(pool: Pool, feedback_id: str, candidate: str, status: str, at: datetime) -> None:
    """Put on record that a run ended."""
    async with connection(pool) as conn:
        await conn.execute(
            "INSERT INTO run_events (at, name, tenant_id, feedback_id, candidate_id, data)"
            " SELECT %s, 'run.finished', tenant_id, id, %s, jsonb_build_object('status', %s::text,"
            " 'error', 'no_commit: it ended without an outcome') FROM feedback WHERE id = %s",
            (at, candidate, status, feedback_id),
        )
