"""Having the worker decide the cases of a set, each by what its agent knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.domain.errors import Refused, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeFilter,
    ChangeStatus,
    Feedback,
    FeedbackStatus,
    NewFeedback,
    Operation,
    Receipt,
    ReceiptStatus,
    SubmitContext,
    Verdict,
    VerdictStatus,
)
from core.domain.tasks import in_name_of
from core.entrypoints.evals.cases import RoutingCase
from core.entrypoints.evals.judging import CaseResult, Decided, Made, judge

if TYPE_CHECKING:
    from core.app.program import App

SOURCE = "eval"
MOST_CHANGES = 50
_COUNTED = {ChangeStatus.APPLIED, ChangeStatus.HELD}

_WOULD = {ReceiptStatus.PREPARED, ReceiptStatus.HELD}


async def decide_in(
    app: App,
    cases: Sequence[RoutingCase],
    *,
    concurrency: int,
    stop: asyncio.Event,
    on_progress: Callable[[Mapping[str, int]], None],
) -> list[CaseResult]:
    """Decide cases that say what is known, each as a tenant of its own of an empty database.

    A case whose known items cannot be stored has failed, with the reason. What is not decided when
    `stop` is set is left out.
    """
    places = []
    for number, case in enumerate(cases, 1):
        if stop.is_set():
            break
        places.append(await _place(app, f"case-{number}", case))
    await app.run(True, concurrency, stop, on_progress)
    found = [await _result(app, one, stop) if isinstance(one, _Place) else one for one in places]
    return [one for one in found if one is not None]


class _Place:
    """A case with its tenant, its feedback, and the ids that its known items got."""

    def __init__(self, case: RoutingCase, tenant_id: str, feedback_id: str) -> None:
        self.case = case
        self.tenant_id = tenant_id
        self.feedback_id = feedback_id
        self.ids: dict[str, str] = {}


async def _place(app: App, tenant_id: str, case: RoutingCase) -> _Place | CaseResult:
    with in_name_of(tenant_id):
        await app.stores.agents.save(case.agent.agent(tenant_id))
        ids = {}
        for number, item in enumerate(case.known or ()):
            context = SubmitContext(
                key=f"{SOURCE}:{tenant_id}:{number}", tenant_id=tenant_id, agent_id=case.agent.id
            )
            try:
                ids[await _stored(app.gate.submit(item.request(), context))] = item.id
            except SkillWorkerError as error:
                why = Message("eval.not_stored", item=item.id, why=error.sentences)
                return judge(case, Decided(failed=why))
        ((feedback_id, _),) = await app.stores.inbox.add(SOURCE, [_piece(case, tenant_id)])
    place = _Place(case, tenant_id, feedback_id)
    place.ids = ids
    return place


async def _stored(submitting: Awaitable[Receipt]) -> str:
    receipt = await submitting
    if receipt.change_id is None:
        raise Refused(receipt.message)
    return str(receipt.target_id)


def _piece(case: RoutingCase, tenant_id: str) -> NewFeedback:
    return NewFeedback(
        id=f"{tenant_id}:{case.id}",
        tenant_id=tenant_id,
        agent_ids=(case.agent.id,),
        content=case.feedback,
        author=case.author,
        output=case.output or case.in_reply_to,
    )


async def _result(app: App, place: _Place, stop: asyncio.Event) -> CaseResult | None:
    with in_name_of(place.tenant_id):
        piece = await app.stores.inbox.get(place.feedback_id)
        if stop.is_set() and not _has_ended(piece):
            return None
        wanted = ChangeFilter(feedback_id=place.feedback_id)
        changes, _ = await app.stores.reader.changes(wanted, limit=MOST_CHANGES, cursor=None)
    made = tuple(_made(one, place.ids) for one in changes if one.status in _COUNTED)
    failed = _why_failed(piece)
    return judge(place.case, Decided(made=made, failed=failed, usage=piece.usage))


def _made(change: Change, ids: Mapping[str, str]) -> Made:
    state = change.after
    files = " ".join(sorted(state.files or ())) if state else ""
    return Made(
        kind=change.kind,
        operation=change.operation,
        target=None if change.before is None else ids.get(change.target_id, change.target_id),
        text=f"{state.name}\n{state.content}\n{files}" if state else "",
    )


def _why_failed(piece: Feedback) -> str:
    if piece.status in {FeedbackStatus.FAILED, FeedbackStatus.DEAD}:
        return piece.error or Message("eval.failed")
    return "" if _has_ended(piece) else Message("eval.cut")


def _has_ended(piece: Feedback) -> bool:
    return piece.status.is_end or piece.status is FeedbackStatus.HELD


async def decide_beside(
    app: App, cases: Sequence[RoutingCase], stop: asyncio.Event
) -> list[CaseResult]:
    """Decide cases by what an opened database knows, until `stop` is set.

    `app` is a dry run, so nothing is written.
    """
    from core.polling_manager import decide

    assert app.learning is not None
    results = []
    for case in cases:
        if stop.is_set():
            break
        tenant_id = case.tenant or ""
        with in_name_of(tenant_id):
            await app.stores.agents.get(tenant_id, case.agent.id)
        piece = Feedback(
            id=f"{SOURCE}:{case.id}",
            source=SOURCE,
            source_id=case.id,
            tenant_id=tenant_id,
            agent_ids=(case.agent.id,),
            content=case.feedback,
            author=case.author,
            output=case.output or case.in_reply_to,
            status=FeedbackStatus.PROCESSING,
            epoch=1,
        )
        verdicts = await decide(piece, deps=app.learning.polling)
        results.append(judge(case, _decided(verdicts), reads_texts=False))
    return results


def _decided(verdicts: Sequence[Verdict]) -> Decided:
    failed = [one.reason for one in verdicts if one.status is VerdictStatus.FAILED]
    receipts = [receipt for one in verdicts for receipt in one.receipts]
    return Decided(
        made=tuple(_would_make(one) for one in receipts if one.status in _WOULD and not failed),
        failed=failed[0] if failed else "",
        usage=sum((one.usage for one in verdicts), Decided().usage),
    )


def _would_make(receipt: Receipt) -> Made:
    is_new = receipt.operation is Operation.CREATE
    return Made(
        kind=str(receipt.kind),
        operation=str(receipt.operation),
        target=None if is_new else receipt.target_id,
    )
