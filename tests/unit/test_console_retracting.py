"""The result of a retraction, shown completely in the reader's language."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from starlette.requests import Request

from core.changes.retraction.retract import Effect, Retraction, Standpoint
from core.domain.messages import Message
from core.domain.models import DuplicateWaiter, Kind, Operation, Receipt, ReceiptStatus
from core.entrypoints.console.language import Language
from core.entrypoints.console.pages.run.retracting import effects, standing
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.session import Session

VISIT = Visit(cast("Request", None), cast("Session", None), Language.KO, lambda: datetime.now(UTC))
DELETES = Message("policy.deletes")
REWRITES = Message("retract.rewrites")
NOW = datetime(2026, 11, 22, tzinfo=UTC)
TARGET = {"kind": Kind.MEMORY, "target_id": "m1", "target_name": "배송비"}


def test_each_target_is_told_and_what_is_forgotten_of_others() -> None:
    waiter = DuplicateWaiter(feedback_id="f1", kind=Kind.MEMORY, target_id="m2", hash="h", at=NOW)
    effect = Effect.model_validate({**TARGET, "operation": Operation.DELETE})
    done = Retraction(feedback_id="f1", effects=(effect,), rejected=("c1",), unsaid=(waiter,))
    first, second, third = effects(VISIT, done)
    assert first == "메모리 배송비 · 삭제"
    assert second == "검토를 기다리는 변경 1건을 거절합니다"
    assert third.startswith("다른 피드백이 가르친 항목 1개는 그대로")


def test_what_is_more_than_done_is_told_with_its_message() -> None:
    waits = Message("receipt.waits", receipt="…", why=DELETES)
    receipts = (
        Receipt(status=ReceiptStatus.APPLIED, message="MEMORY '배송비' deleted"),
        Receipt(status=ReceiptStatus.HELD, message=waits),
    )
    done = [
        Effect.model_validate({**TARGET, "operation": Operation.DELETE, "receipt": receipt})
        for receipt in receipts
    ]
    first, second = effects(VISIT, Retraction(feedback_id="f1", effects=tuple(done)))
    assert first == "메모리 배송비 · 삭제"
    assert second.endswith("검토 대기: 삭제하는 변경입니다")


def test_what_was_changed_past_the_worker_is_told_as_that() -> None:
    stands = {**TARGET, "feedback_id": None, "why": REWRITES}
    past = Standpoint.model_validate({**stands, "change_id": None})
    assert standing(VISIT, past) == "배송비: 워커를 거치지 않고 변경되었습니다"
    later = Standpoint.model_validate({**stands, "change_id": "c2"})
    assert standing(VISIT, later) == "배송비 (c2): 철회할 내용을 고쳐 쓴 변경입니다"
