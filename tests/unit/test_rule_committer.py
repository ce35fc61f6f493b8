"""Rules through the gate: refused, warned of, already known, or too similar to another."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest

from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
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
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.steps import MemorySteps
from tests.support.gate import Events
from tests.support.knowledge_search import KnowledgeSearch
from tests.support.react import item_change
from tests.support.rules import learnt, row

BIG = row("> 1000000", "팀장", example=1500000)
SMALL = row("<= 1000000", "없음")
REFUSED, KNOWN, APPLIED = ReceiptStatus.REFUSED, ReceiptStatus.KNOWN, ReceiptStatus.APPLIED


class Rules:
    """A gate over memory for the rules of one agent."""

    def __init__(self) -> None:
        self.knowledge = MemoryKnowledge()
        self.log = MemoryChangeLog(self.knowledge)
        self.numbers = count(1)
        self.gate = ChangeGate(
            GateDeps(
                committers={
                    Kind.DMN_RULE: DmnRuleCommitter(self.knowledge, KnowledgeSearch(self.knowledge))
                },
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=MemoryDuplicateWaiters(),
                journal=Events(),
                new_id=lambda: f"id-{next(self.numbers)}",
                sleep=self.sleep,
            )
        )

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")

    async def ask(
        self,
        *rows: RowEdit,
        agent: str = "a",
        shown: frozenset[str] | None = None,
        **given: object,
    ) -> Receipt:
        draft = RuleDraft.model_validate({"rows": rows, **given.pop("draft", {})})  # type: ignore[dict-item]
        asked = {"operation": "CREATE", "rule": draft, **given}
        number = next(self.numbers)
        context = SubmitContext(
            key=f"k{number}", tenant_id="t", agent_id=agent, feedback_id="fb", shown=shown
        )
        return await self.gate.submit(RuleRequest.model_validate(asked), context)

    async def create(self, *rows: RowEdit, name: str = "승인", **given: object) -> Receipt:
        return await self.ask(*rows, draft={"name": name}, **given)

    async def items(self) -> list[KnowledgeItem]:
        return [*await self.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.DMN_RULE)]


@pytest.fixture
async def rules() -> Rules:
    made = Rules()
    assert (await made.create(BIG, SMALL)).status is APPLIED
    return made


async def test_the_case_is_stored_with_the_feedback(rules: Rules) -> None:
    (item,) = await rules.items()
    (case, *_) = next(iter(cases_of(item.content).values()))
    assert (case.inputs, case.origin, case.feedback_id) == ({"금액": 1500000}, "feedback", "fb")


@pytest.mark.parametrize("name", ["승인", "결재"])
@pytest.mark.parametrize("rows", [(BIG,), (SMALL, BIG), (row("> 1000000.00", "팀장"),)])
async def test_what_a_table_of_the_agent_states_is_known(
    rules: Rules, rows: tuple[RowEdit, ...], name: str
) -> None:
    receipt = await rules.create(*rows, name=name)
    assert (receipt.status, receipt.target_name) == (KNOWN, "승인")
    assert len(await rules.items()) == 1


async def test_rows_that_belong_into_a_table_are_sent_there(rules: Rules) -> None:
    receipt = await rules.create(row("null", "사장"), name="결재")
    (item,) = await rules.items()
    assert receipt.status is REFUSED
    assert [(hit.id, hit.name, hit.why) for hit in receipt.hits] == [
        (item.id, "승인", "same columns")
    ]
    assert f"UPDATE and rule_id {item.id}" in receipt.message
    blank = await rules.create(
        row("null", "사장"), name="결재", relationship="UNRELATED", reason=" "
    )
    assert blank.status is REFUSED


async def test_a_reason_lets_a_table_stand_beside_another_and_is_kept(rules: Rules) -> None:
    why = "해외 지사의 규칙이다"
    given = {"relationship": "UNRELATED", "reason": why}
    receipt = await rules.create(row("> 5", "지사장"), name="해외 승인", **given)
    assert receipt.status is APPLIED
    assert any("'승인'" in warning and why in warning for warning in receipt.warnings)
    assert rules.log.history[-1].knowledge_name == "해외 승인"
    assert rules.log.events[-1].data["warnings"] == len(receipt.warnings)


async def test_a_run_calls_unrelated_only_what_it_was_shown_or_names(rules: Rules) -> None:
    (item,) = await rules.items()
    given = {"relationship": "UNRELATED", "reason": "해외 지사의 규칙이다"}
    unseen = await rules.create(row("> 5", "가"), name="해외", shown=frozenset(), **given)
    assert (unseen.status, [hit.id for hit in unseen.hits]) == (REFUSED, [item.id])
    shown = frozenset({item.id})
    assert (
        await rules.create(row("> 5", "가"), name="해외", shown=shown, **given)
    ).status is APPLIED


async def test_a_run_may_name_what_it_calls_unrelated_in_its_reason(rules: Rules) -> None:
    (item,) = await rules.items()
    given = {"relationship": "UNRELATED", "reason": f"{item.id}는 본사의 규칙이다"}
    named = await rules.create(row("> 5", "가"), name="해외", shown=frozenset(), **given)
    assert named.status is APPLIED
    assert item.id in named.warnings[-1]


async def test_what_two_runs_call_unrelated_at_once_is_shown_to_the_later(rules: Rules) -> None:
    (item,) = await rules.items()
    given = {"relationship": "UNRELATED", "reason": "해외 지사의 규칙이다"}
    shown = frozenset({item.id})
    receipts = await asyncio.gather(
        *(rules.create(row("> 5", name), name=name, shown=shown, **given) for name in "가나")
    )
    by_status = {receipt.status: receipt for receipt in receipts}
    assert by_status.keys() == {APPLIED, REFUSED}
    first = by_status[APPLIED].target_name
    assert [hit.name for hit in by_status[REFUSED].hits] == [first]


async def test_rows_that_another_row_decides_first_are_not_known(rules: Rules) -> None:
    first = (row("> 100", "사장"), row("> 50", "팀장"))
    made = await rules.ask(*first, agent="b", draft={"name": "순서", "hit_policy": "FIRST"})
    assert made.status is APPLIED
    again = await rules.ask(*first, agent="b", draft={"name": "또", "hit_policy": "FIRST"})
    assert again.status is KNOWN
    for rows, policy in (((first[1],), "UNIQUE"), (first, "COLLECT")):
        draft = {"name": "또", "hit_policy": policy}
        receipt = await rules.ask(*rows, agent="b", draft=draft)
        assert (receipt.status, receipt.hits[0].name) == (REFUSED, "순서")
    document = learnt(first[1], name="서류").xml
    assert (await rules.ask(document=document, agent="b")).status is REFUSED


@pytest.mark.parametrize(("name", "status"), [("해외 승인", APPLIED), ("승인", KNOWN)])
async def test_a_table_that_is_stated_may_stand_alone_for_a_reason(
    rules: Rules, name: str, status: ReceiptStatus
) -> None:
    given = {"relationship": "UNRELATED", "reason": "해외 지사의 규칙이다"}
    receipt = await rules.create(BIG, name=name, **given)
    assert receipt.status is status
    assert any("해외 지사" in warning for warning in receipt.warnings) is (status is APPLIED)


async def test_of_two_tables_that_say_the_same_at_once_one_is_known(rules: Rules) -> None:
    receipts = await asyncio.gather(
        *(rules.create(BIG, name=name, agent="b") for name in ("하나", "둘"))
    )
    assert {receipt.status for receipt in receipts} == {APPLIED, KNOWN}
    assert len(await rules.items()) == 2
    other = await asyncio.gather(
        rules.create(row("> 5", "가"), name="셋", agent="c"),
        rules.create(row("> 5", "나"), name="넷", agent="c"),
    )
    assert {receipt.status for receipt in other} == {APPLIED, REFUSED}


async def test_other_agents_and_other_columns_are_no_duplicates(rules: Rules) -> None:
    assert (await rules.create(BIG, name="남의 표", agent="b")).status is APPLIED
    other = RowEdit(inputs={"등급": '"VIP"'}, outputs={"승인자": '"팀장"'})
    assert (await rules.create(other, name="등급")).status is APPLIED


async def test_a_taken_name_is_refused_with_the_table(rules: Rules) -> None:
    other = RowEdit(inputs={"등급": '"VIP"'}, outputs={"승인자": '"팀장"'})
    receipt = await rules.create(other)
    assert receipt.status is REFUSED
    assert [hit.why for hit in receipt.hits] == ["same name"]
    assert f"UPDATE and rule_id {receipt.hits[0].id}" in receipt.message


async def test_a_table_that_cannot_be_read_stands_in_nobody_s_way(rules: Rules) -> None:
    broken = item_change(Kind.DMN_RULE, "r9", "깨진 표", "<broken")
    rules.knowledge.write(broken.model_copy(update={"tenant_id": "t", "agent_id": "b"}))
    assert (await rules.create(row("> 3", "a"), name="새 표", agent="b")).status is APPLIED


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ((row("> 5", "a"), row("> 7", "b")), "UNIQUE allows one"),
        ((row("-", "조심"),), "MEMORY"),
        ((row("> 5", "a", example=3),), "does not meet"),
        ((row("> > 5", "a"),), "금액"),
        ((RowEdit(inputs={"없는": ">"}, outputs={"x": "1"}),), "없는"),
    ],
)
async def test_what_is_wrong_is_refused_and_writes_nothing(
    rules: Rules, rows: tuple[RowEdit, ...], told: str
) -> None:
    receipt = await rules.create(*rows, name="새 표")
    assert receipt.status is REFUSED
    assert told in receipt.message
    assert len(await rules.items()) == 1


async def test_an_edit_carries_its_warnings_and_names_unknown_columns(rules: Rules) -> None:
    (item,) = await rules.items()
    moved = {"operation": "UPDATE", "target_id": item.id, "merge_mode": "REFINE"}
    row_id = next(iter(cases_of(item.content)))
    receipt = await rules.ask(row("> 2000000", row_id=row_id), **moved)
    assert receipt.status is APPLIED
    assert any("1500000" in warning for warning in receipt.warnings)
    odd = RowEdit(id=row_id, inputs={"미지": "> 1"}, outputs={"결재선": "1"})
    receipt = await rules.ask(odd, **moved)
    assert all(name in receipt.message for name in ("'미지'", "'결재선'", "'금액'", "'승인자'"))


async def test_text_that_reads_like_a_test_is_a_warning_of_the_change(rules: Rules) -> None:
    spoken = RowEdit(inputs={"나이": '"19세 미만"'}, outputs={"요금": "0"})
    receipt = await rules.create(spoken, name="요금")
    assert receipt.status is APPLIED
    (warning,) = [said for said in receipt.warnings if "19세 미만" in said]
    assert "reads like a test" in warning
    assert "< 19" in warning


async def test_a_document_is_created_and_replaced_byte_for_byte(rules: Rules) -> None:
    document = learnt(row("[1..5]", "부장"), name="회계").xml.replace("\n", "\r\n")
    why = {"relationship": "UNRELATED", "reason": "회계 부서의 표"}
    made = await rules.ask(document=document, **why)
    assert made.status is APPLIED
    (item, _) = await rules.items()
    assert (item.name, item.content) == ("회계", document)
    swap = {"operation": "UPDATE", "target_id": item.id}
    other = document.replace("부장", "이사")
    assert (await rules.ask(document=other, merge_mode="EXTEND", **swap)).status is REFUSED
    receipt = await rules.ask(document=other, merge_mode="REPLACE", **swap)
    assert receipt.status is APPLIED
    assert any("부장" in warning and "이사" in warning for warning in receipt.warnings)
    assert (await rules.items())[0].content == other
    assert (await rules.ask(document=other, **swap)).status is KNOWN


async def test_a_change_of_a_rule_reverts_to_the_bytes_before(rules: Rules) -> None:
    (item,) = await rules.items()
    update = {"operation": "UPDATE", "target_id": item.id, "merge_mode": "EXTEND"}
    receipt = await rules.ask(row("null", "사장"), **update)
    assert (await rules.items())[0].content != item.content
    await rules.gate.revert(str(receipt.change_id), "wrong")
    assert (await rules.items())[0].content == item.content


async def test_a_deleted_table_does_not_come_back_into_a_name_that_is_taken(rules: Rules) -> None:
    (item,) = await rules.items()
    gone = await rules.ask(operation="DELETE", target_id=item.id)
    other = RowEdit(inputs={"등급": '"VIP"'}, outputs={"승인자": '"팀장"'})
    taken = await rules.create(other)
    refused = await rules.gate.revert(str(gone.change_id), "wrong")
    assert refused.status is REFUSED
    assert [(hit.id, hit.why) for hit in refused.hits] == [(taken.target_id, "same name")]
    assert [found.id for found in await rules.items()] == [taken.target_id]
    await rules.ask(operation="DELETE", target_id=taken.target_id)
    again = await rules.gate.revert(str(gone.change_id), "wrong")
    assert again.status is APPLIED
    assert (await rules.items())[0].content == item.content
