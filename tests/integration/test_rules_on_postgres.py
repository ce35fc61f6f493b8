"""Rules through the gate on PostgreSQL: checks, cases and documents live with the stored text."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest

from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reviews import PostgresReviews
from core.adapters.postgres.runs import PostgresJournal
from core.adapters.postgres.scoped_search import ScopedSearch
from core.adapters.postgres.search import PostgresSearch
from core.app.bootstrap.stores import new_id, utc_now
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.decision_table import decide, parse_xml
from core.decision_table.learning.cases import cases_of
from core.domain.models import (
    Kind,
    KnowledgeItem,
    Receipt,
    ReceiptStatus,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SubmitContext,
)
from core.learning_committers.dmn_rule_committer import DmnRuleCommitter
from tests.support.rules import learnt, row
from tests.support.skills import FlakyStore

BIG, SMALL = row("> 1000000", "팀장", example=1500000), row("<= 1000000", "없음")


class Rules:
    """A gate over PostgreSQL for the rules of one agent."""

    def __init__(self, pool: Pool) -> None:
        self.knowledge = PostgresKnowledge(pool, FlakyStore())
        self.numbers = count(1)
        search = ScopedSearch(PostgresSearch(pool, None), utc_now)
        self.gate = ChangeGate(
            GateDeps(
                committers={Kind.DMN_RULE: DmnRuleCommitter(self.knowledge, search)},
                changes=PostgresChangeLog(pool),
                target_locks=PostgresTargetLocks(pool),
                reviews=PostgresReviews(pool),
                steps=PostgresSteps(pool),
                duplicate_waiters=PostgresDuplicateWaiters(pool),
                journal=PostgresJournal(pool),
                new_id=new_id,
                sleep=lambda seconds: asyncio.sleep(min(seconds, 0.01)),
            )
        )

    async def ask(self, *rows: RowEdit, **given: object) -> Receipt:
        draft = RuleDraft(name=str(given.pop("name", "")), rows=rows)
        asked = {"operation": "CREATE", "rule": draft, **given}
        context = SubmitContext(key=f"k{next(self.numbers)}", tenant_id="t", agent_id="a")
        return await self.gate.submit(RuleRequest.model_validate(asked), context)

    async def only(self) -> KnowledgeItem:
        (item,) = await self.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.DMN_RULE)
        return item


@pytest.fixture
def rules(pool: Pool) -> Rules:
    return Rules(pool)


async def test_a_rule_is_learnt_refined_and_taken_back_with_its_cases(rules: Rules) -> None:
    made = await rules.ask(BIG, SMALL, name="승인")
    assert made.status is ReceiptStatus.APPLIED
    first = await rules.only()
    row_id, other_id = (found.id for found in parse_xml(first.content).rows)
    assert cases_of(first.content)[row_id][0].inputs == {"금액": 1500000}
    update = {"operation": "UPDATE", "target_id": first.id, "merge_mode": "REFINE"}
    clash = await rules.ask(row("> 500000", row_id=row_id), **update)
    assert clash.status is ReceiptStatus.REFUSED
    assert all(told in clash.message for told in (row_id, other_id, "UNIQUE"))
    assert (await rules.only()).content == first.content
    moved = await rules.ask(
        row("> 2000000", row_id=row_id), row("<= 2000000", row_id=other_id), **update
    )
    assert any("1500000" in warning for warning in moved.warnings)
    table = parse_xml((await rules.only()).content)
    assert decide(table, {"금액": 1500000}).result == {"승인자": "없음"}
    await rules.gate.revert(str(moved.change_id), "the threshold was right")
    assert (await rules.only()).content == first.content


async def test_two_creates_of_one_table_at_once_leave_one(rules: Rules) -> None:
    receipts = await asyncio.gather(*(rules.ask(BIG, SMALL, name="승인") for _ in range(4)))
    assert (await rules.only()).name == "승인"
    done = {ReceiptStatus.APPLIED, ReceiptStatus.KNOWN, ReceiptStatus.REFUSED}
    assert {receipt.status for receipt in receipts} <= done
    assert sum(receipt.status is ReceiptStatus.APPLIED for receipt in receipts) == 1


async def test_a_document_is_stored_with_every_byte(rules: Rules) -> None:
    document = "\ufeff" + learnt(BIG, SMALL).xml.replace("\n", "\r\n") + "<!-- 끝 🏁 -->\r\n"
    await rules.ask(document=document)
    item = await rules.only()
    assert item.content == document
    again = await rules.ask(document=document, operation="UPDATE", target_id=item.id)
    assert again.status is ReceiptStatus.KNOWN
    grown = await rules.ask(
        row("null", "사장"), operation="UPDATE", target_id=item.id, merge_mode="EXTEND"
    )
    assert grown.status is ReceiptStatus.APPLIED
    head, tail = document.split("\r\n    </decisionTable>")
    content = (await rules.only()).content
    assert content.startswith(head)
    assert content.endswith("\r\n    </decisionTable>" + tail)
