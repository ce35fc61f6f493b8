"""The offline model's rules of thumb, tested through a whole run."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from core.agent.offline.model import OfflineChatModel
from core.agent.offline.reasons import STAND_IN
from core.agent.offline.stated.amounts import amount
from core.agent.offline.tables import rows_of
from core.decision_table import draft_to_table, to_xml
from core.domain.models import (
    Hit,
    Kind,
    ListEdit,
    Operation,
    Receipt,
    ReceiptStatus,
    RuleDraft,
    RuleRequest,
    SkillListRequest,
    SkillRequest,
    VerdictStatus,
)
from core.react_agent import process_feedback_with_react
from tests.support.react import AGENT, CANDIDATE, FEEDBACK, Bench, FixedSearch, item_change

ORDERS = "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다"


def hit(kind: str, excerpt: str, item_id: str = "h1", agent: str | None = None) -> Hit:
    return Hit(
        id=item_id,
        kind=Kind(kind),
        name=item_id if kind == "SKILL" else excerpt[:20],
        excerpt=excerpt,
        score=1.0,
        agent_id=agent,
    )


@dataclass
class Case:
    """One feedback on the offline model."""

    text: str
    hits: list[Hit] = field(default_factory=list)
    bench: Bench = field(init=False)

    async def run(self) -> tuple[VerdictStatus, list[tuple[str, str]]]:
        self.bench = getattr(self, "bench", None) or Bench([])
        self.bench.search = FixedSearch(self.hits)
        self.bench.model = OfflineChatModel()  # type: ignore[assignment]
        self.verdict = await process_feedback_with_react(
            AGENT.id,
            self.text,
            candidate=CANDIDATE.model_copy(update={"content": self.text}),
            feedback=FEEDBACK.model_copy(update={"content": self.text}),
            agent=AGENT,
            deps=self.bench.deps,
        )
        asked = [(str(r.kind), str(r.operation)) for r, _ in self.bench.gate.submitted]
        return self.verdict.status, asked


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("고마워요! 보고서가 정말 좋았어요.", "noise"),
        ("Great job, thank you!", "noise"),
        ("네트워크 오류가 났네요. 다시 시도해 주세요", "noise"),
        ("It timed out, try again", "noise"),
        ("이번 건만 영어로 작성해 주세요", "one_off"),
        ("Just this once, send it as a PDF", "one_off"),
        ("음…", "unclear"),
        ("좀 이상한데?", "unclear"),
        ("Something is off here", "unclear"),
    ],
)
async def test_nothing_to_learn_is_said_with_its_category(text: str, category: str) -> None:
    case = Case(text)
    status, asked = await case.run()
    assert (status, asked) == (VerdictStatus.NO_ACTION, [])
    assert case.verdict.receipts[0].category == category
    assert STAND_IN in case.verdict.reason


@pytest.mark.parametrize(
    ("text", "hits", "expected"),
    [
        ("김 부장님은 금액을 원 단위로 보고 싶어 합니다", [], ("MEMORY", "CREATE")),
        ("Ms. Kim prefers amounts in KRW without decimals", [], ("MEMORY", "CREATE")),
        (
            "이제 김 부장님은 금액을 달러로 원합니다",
            [hit("MEMORY", "김 부장님은 금액을 원 단위로 원합니다")],
            ("MEMORY", "UPDATE"),
        ),
        (
            "더 이상 김 부장님께 참조를 걸지 마세요",
            [hit("MEMORY", "보고서는 김 부장님께 참조를 건다")],
            ("MEMORY", "DELETE"),
        ),
        (ORDERS, [], ("DMN_RULE", "CREATE")),
        ("Orders over 1,000,000 KRW need a manager's approval", [], ("DMN_RULE", "CREATE")),
        ("VIP 고객인 경우 담당자가 직접 전화합니다", [], ("DMN_RULE", "CREATE")),
        (
            "The discount threshold rule is obsolete",
            [hit("DMN_RULE", "discount threshold rule: discount > 20")],
            ("DMN_RULE", "DELETE"),
        ),
        ("부분 환불 절차: 먼저 주문을 확인하고 다음에 금액을 계산하세요", [], ("SKILL", "CREATE")),
        (
            "How to reconcile a partial refund: first check the order, then the fee",
            [],
            ("SKILL", "CREATE"),
        ),
        (
            "부분 환불 절차에 영수증 확인 단계를 추가해 주세요",
            [hit("SKILL", "부분 환불을 처리하는 절차와 확인 방법", "partial-refund")],
            ("SKILL", "UPDATE"),
        ),
        (
            "The partial refund skill is no longer needed, delete it",
            [hit("SKILL", "How to handle a partial refund", "partial-refund")],
            ("SKILL", "DELETE"),
        ),
        (
            "송장 검증은 기존 스킬 invoice-check 그대로 하면 됩니다",
            [hit("SKILL", "송장 검증 절차", "invoice-check")],
            ("AGENT_SKILLS", "UPDATE"),
        ),
    ],
)
async def test_each_lesson_goes_to_its_store(
    text: str, hits: list[Hit], expected: tuple[str, str]
) -> None:
    case = Case(text, hits)
    status, asked = await case.run()
    assert asked == [expected]
    assert status is VerdictStatus.COMPLETED
    assert STAND_IN in case.verdict.reason


@pytest.mark.parametrize(
    "known",
    [
        hit("MEMORY", "김 부장님은 금액을 원 단위로 원합니다."),
        hit("SKILL", "김 부장님은 금액을 원 단위로 원합니다", "month-end"),
    ],
)
async def test_what_is_known_is_a_duplicate(known: Hit) -> None:
    case = Case("김 부장님은 금액을 원 단위로 원합니다", [known])
    assert (await case.run())[0] is VerdictStatus.NO_ACTION
    assert case.verdict.receipts[0].category == "duplicate"


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("월말 정산 스킬은 이 에이전트 목록에서 빼 주세요", ListEdit.REMOVE),
        ("month-end 스킬을 목록에서 제외해 주세요", ListEdit.REMOVE),
        ("Please take month-end off this agent's list", ListEdit.REMOVE),
        ("탈퇴한 분은 발송 목록에서 빼 주세요", None),
        ("Remove unsubscribed people from the mailing list", None),
    ],
)
async def test_a_skill_that_is_to_leave_the_list_is_detached(
    text: str, edit: ListEdit | None
) -> None:
    case = Case(text, [hit("SKILL", "월말 정산: 부서별로 마감한다", "month-end")])
    await case.run()
    ((request, _),) = case.bench.gate.submitted
    found = request.edit if isinstance(request, SkillListRequest) else None
    assert found is edit
    if isinstance(request, SkillListRequest):
        assert request.skill_ids == ("month-end",)


async def test_another_agent_s_memory_is_not_taken_for_one_s_own() -> None:
    known = hit("MEMORY", "김 부장님은 금액을 원 단위로 원합니다", agent="other")
    assert (await Case(known.excerpt, [known]).run())[1] == [("MEMORY", "CREATE")]


@pytest.mark.parametrize("note", ["", "고객 등급과 무관합니다. " * 1200])
async def test_a_rule_on_a_known_subject_edits_the_row_it_changes(note: str) -> None:
    draft = RuleDraft.model_validate(
        {
            "name": "주문 금액 규칙",
            "rows": [
                {"inputs": {"주문 금액": "> 1000000"}, "outputs": {"처리": '"팀장 승인"'}},
                {
                    "inputs": {"주문 금액": "<= 1000000"},
                    "outputs": {"처리": '"자동"'},
                    "annotation": note,  # a long table is read in parts
                },
            ],
        }
    )
    rows = iter(["row-1", "row-2"])
    xml = to_xml(draft_to_table(draft, new_row_id=lambda: next(rows)), decision_id="r1")
    case = Case("이제 주문 금액이 200만원을 넘으면 팀장 승인을 받아야 합니다")
    case.bench = Bench([])
    case.bench.knowledge.write(item_change(Kind.DMN_RULE, "r1", "주문 금액 규칙", xml))
    case.hits = [hit("DMN_RULE", "주문 금액 규칙: 주문 금액 > 1000000", "r1")]
    status, asked = await case.run()
    request = case.bench.gate.submitted[0][0]
    assert isinstance(request, RuleRequest)
    assert (status, asked) == (VerdictStatus.COMPLETED, [("DMN_RULE", "UPDATE")])
    assert [(row.id, row.inputs) for row in request.rule.rows] == [
        ("row-1", {"주문 금액": "> 2000000"})
    ]


async def test_a_refused_create_is_called_again_as_update_of_the_item_named() -> None:
    case = Case("환불 절차: 먼저 주문을 확인하고 다음에 금액을 계산하세요")
    case.bench = Bench([])
    taken = hit("SKILL", "환불", "refund")
    refused = Receipt(
        status=ReceiptStatus.REFUSED,
        message="a skill named 'refund' exists",
        kind=Kind.SKILL,
        target_id="refund",
        hits=(taken,),
    )
    case.bench.gate = type(case.bench.gate)([refused])
    await case.run()
    requests = [request for request, _ in case.bench.gate.submitted]
    assert [request.operation for request in requests] == [Operation.CREATE, Operation.UPDATE]
    assert isinstance(requests[1], SkillRequest)
    assert requests[1].target_id == "refund"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("100만", "1000000"),
        ("1억 5천만", "150000000"),
        ("1,000.5", "1000.5"),
        ("3천", "3000"),
        ("10 million", "10000000"),
        ("0", "0"),
    ],
)
def test_amounts_are_written_out(text: str, number: str) -> None:
    assert amount(text) == number


def test_several_rules_stay_several_rows_of_one_subject() -> None:
    rows = rows_of("출장비가 50만원 이상이면 임원 승인. 10만원 미만이면 자동 승인.")
    assert [(row.subject, row.test) for row in rows] == [
        ("출장비", ">= 500000"),
        ("출장비", "< 100000"),
    ]


async def test_the_same_messages_get_the_same_answer() -> None:
    one, two = Case(ORDERS), Case(ORDERS)
    assert await one.run() == await two.run()
    assert one.verdict == two.verdict
    assert one.verdict.usage.input_tokens > 0


def test_a_case_names_its_subject_where_it_can() -> None:
    rows = rows_of("배송지가 제주이면 배송비는 3000원입니다. 배송지가 도서산간이면 5000원입니다.")
    assert [(row.subject, row.test) for row in rows] == [
        ("배송지", '"제주"'),
        ("배송지", '"도서산간"'),
    ]


async def test_a_reason_is_in_the_user_s_language() -> None:
    korean, english = Case("고마워요! 정말 좋았어요"), Case("Thank you, great job!")
    await korean.run()
    await english.run()
    assert "칭찬" in korean.verdict.reason
    assert "praise" in english.verdict.reason
