"""Forty pieces of feedback on six subjects, and what is known once a reviewer has decided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from core.app.program import App
from core.decision_table import parse_xml
from core.domain.models import Agent, DecisionRow, Kind, NewFeedback

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
TENANT, AGENT = "t", "clerk"

SUBJECTS: dict[str, tuple[str, ...]] = {
    "delivery": (
        "제주도 배송은 3일이 걸립니다",
        "제주도 배송은 3일이 걸립니다",
        "제주도 배송은 5일이 걸립니다",
        "냉동식품은 드라이아이스와 함께 포장합니다",
        "울릉도 배송은 7일이 걸립니다",
        "반품 택배는 한진택배만 이용합니다",
    ),
    "reports": (
        "주간 매출 보고서는 매주 월요일 오전 9시에 발송합니다",
        "주간 매출 보고서는 매주 월요일 오전 10시에 발송합니다",
        "주간 매출 보고서의 금액은 원 단위로 적습니다",
        "주간 매출 보고서에는 지난주와 비교한 증감률을 넣습니다",
        "이사회 자료의 차트는 남색을 주로 씁니다",
        "주간 매출 보고서의 차트는 막대로 그립니다",
        "월간 재고 현황은 매월 마지막 영업일에 냅니다",
    ),
    "manner": (
        "고객에게는 항상 존댓말로 답합니다",
        "고객에게는 항상 존댓말로 답합니다",
        "김 부장님은 금액을 소수점 없이 원화로 보기를 원하십니다",
        "박 대리님은 금액을 소수점 없이 달러로 보기를 원하십니다",
        "회의록은 회의 당일에 노션에 올립니다",
        "회의록에는 참석자 이름을 적습니다",
        "주차권은 1층 안내대에서 받습니다",
    ),
    "approval": (
        "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다",
        "주문 금액이 500만원을 넘으면 대표 승인을 받아야 합니다",
        "주문 금액이 100만원을 넘으면 사장 승인을 받아야 합니다",
        "주문 금액이 300만원을 넘으면 본부장 승인을 받아야 합니다",
        "주문 금액이 10만원 미만이면 담당자 전결로 처리합니다",
        "주문 금액이 10만원 미만이면 담당자 전결로 처리합니다",
    ),
    "discount": (
        "회원 등급이 골드이면 할인율은 10%입니다",
        "회원 등급이 실버이면 할인율은 5%입니다",
        "회원 등급이 브론즈이면 할인율은 2%입니다",
        "회원 등급이 골드이면 할인율은 12%입니다",
        "회원 등급이 플래티넘이면 할인율은 20%입니다",
        "회원 등급이 실버이면 할인율은 5%입니다",
        "회원 등급이 패밀리이면 할인율은 30%입니다",
    ),
    "procedures": (
        "부분 환불은 먼저 주문 번호를 확인하고, 그 다음 취소 금액을 계산하고, 마지막으로 승인을"
        " 요청합니다",
        "부분 환불을 할 때는 먼저 영수증을 받고, 그 다음 카드사에 취소 전문을 보내고, 마지막으로"
        " 고객에게 문자를 보냅니다",
        "해외 주문은 먼저 통관 번호를 확인하고, 그 다음 관세를 계산하고, 마지막으로 창고에"
        " 출고를 지시합니다",
        "신규 거래처 등록은 먼저 사업자등록증을 받고, 그 다음 신용을 조회하고, 마지막으로 코드를"
        " 발급합니다",
        "부분 환불 절차에 고객 계좌 확인 단계를 추가해 주세요",
        "해외 주문 절차에 원산지 증명서 확인 단계를 추가해 주세요",
        "주차권 지침은 더 이상 쓰지 않으니 삭제해 주세요",
    ),
}

# What the reviewer turns down, and what they put in other words.
REFUSED = {"회원 등급이 플래티넘이면 할인율은 20%입니다"}
PUT_OTHERWISE = {"월간 재고 현황은 매월 마지막 영업일에 냅니다": "재고 현황은 매월 25일에 냅니다"}


def pieces(subjects: Sequence[str]) -> list[NewFeedback]:
    """Return the pieces about some subjects as they are said: the subjects take turns."""
    chosen = [SUBJECTS[subject] for subject in subjects]
    longest = max(map(len, chosen))
    texts = [said[turn] for turn in range(longest) for said in chosen if turn < len(said)]
    return [
        NewFeedback(
            id=f"p{number}",
            tenant_id=TENANT,
            agent_ids=(AGENT,),
            content=text,
            said_at=BEGIN + timedelta(minutes=number),
        )
        for number, text in enumerate(texts)
    ]


async def known(app: App) -> dict[str, list[str]]:
    """Return what is known: memories, rows of tables by name, files of skills; and the list."""
    found: dict[str, list[str]] = {"MEMORY": []}
    for item in await app.stores.knowledge.list(tenant_id=TENANT, agent_id=AGENT, kind=None):
        if item.kind is Kind.DMN_RULE:
            rows = parse_xml(item.content).rows
            said = sorted(f"{row.inputs} -> {row.outputs} # {_sentence(row)}" for row in rows)
            found.setdefault(item.name, []).extend(said)
        elif item.kind is Kind.MEMORY:
            found["MEMORY"].append(item.content)
    found["MEMORY"].sort()
    agent: Agent = await app.stores.agents.get(TENANT, AGENT)
    for name in sorted(agent.skills):
        bundle = await app.stores.skills.read(name, TENANT)
        assert bundle is not None
        found[f"skill {name}"] = [
            f"{p}: {f.data.decode()}" for p, f in sorted(bundle.files.items())
        ]
    return found


def _sentence(row: DecisionRow) -> str:
    """Return the sentence that a row was learnt from; the stand-in adds where it matches now."""
    return row.annotation.partition(" [")[0]
