"""The stand-in reads rules as people say them, and learns whole what no row can hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.offline import rules
from core.agent.offline.tables import rows_of
from tests.evals.rules import lines

Rows = list[tuple[tuple[str, ...], str]]
SAID: list[tuple[str, Rows]] = [
    ("5만원 이상 주문은 무료 배송이고 그 미만은 배송비 3천원입니다.",
     [((">= 50000",), "무료 배송임"), (("< 50000",), "배송비 3천원입니다")]),
    ("100만원을 넘어도 VIP 고객은 승인 없이 처리합니다.",
     [(("> 1000000", '"VIP 고객"'), "승인 없이 처리합니다")]),
    ("주문 수량 100개까지는 개당 1200원, 101개부터 500개까지는 1000원, 그 이상은 900원이에요.",
     [(("<= 100",), "개당 1200원"), (("[101..500]",), "1000원"), (("> 500",), "900원이에요")]),
    ("18세 이상 65세 미만은 일반 요금, 나머지는 할인 요금입니다.",
     [(("[18..65)",), "일반 요금"), (("not([18..65))",), "할인 요금입니다")]),
    ("출장비가 50만원 이상이면 임원 승인, 10만원 이상이면 팀장 승인입니다.",
     [((">= 500000",), "임원 승인"), (("[100000..500000)",), "팀장 승인입니다")]),
    ("60세 이상이거나 임산부면 우선 접수합니다.",
     [((">= 60",), "우선 접수합니다"), (('"임산부"',), "우선 접수합니다")]),
    ("서울이나 경기면 당일 배송, 그 외 지역은 이틀 걸립니다.",
     [(('"서울", "경기"',), "당일 배송"), (('not("서울", "경기")',), "이틀 걸립니다")]),
    ("방문 예약이 없으면 대기실로 모시고, 있으면 바로 안내해 주세요.",
     [(('"없음"',), "대기실로 모심"), (('"있음"',), "바로 안내해 주세요")]),
    ("오후 3시 전에 들어온 주문은 당일 출고, 3시 이후는 다음 날 출고예요.",
     [(('< time("15:00:00")',), "당일 출고"), (('>= time("15:00:00")',), "다음 날 출고예요")]),
    ("Loans of up to 10,000 are approved by the branch, larger ones by head office.",
     [(("<= 10000",), "are approved by the branch"), (("> 10000",), "by head office")]),
    ("If the child is under 3, no ticket; from 3 to 11, half fare; 12 and over, full fare.",
     [(("< 3",), "no ticket"), (("[3..11]",), "half fare"), ((">= 12",), "full fare")]),
    ("Even if the bill is over $1000, gold members pay no service fee.",
     [(("> 1000", '"gold"'), "pay no service fee")]),
    ("Orders above $500 require two signatures, otherwise one is enough.",
     [(("> 500",), "require two signatures"), (("<= 500",), "one is enough")]),
    ("Use the express lane for 10 items or fewer.", [(("<= 10",), "Use the express lane")]),
    ("Students pay nothing, unless they book by phone, then it's $4.",
     [(('"Students"', 'not("book by phone")'), "pay nothing"),
      (('"Students"', '"book by phone"'), "it's $4")]),
    ("Samples below 4 degrees or above 8 degrees are discarded.",
     [(("< 4",), "are discarded"), (("> 8",), "are discarded")]),
    ("등급이 3점이면 무료, 그 이상은 유료입니다.", [(("3",), "무료"), (("> 3",), "유료입니다")]),
    ("5kg까지 4천원, 10kg까지 6천원이고요, 10kg 넘는 건 접수 불가예요.",
     [(("<= 5",), "4천원"), (("(5..10]",), "6천원임"), (("> 10",), "접수 불가예요")]),
    ("19세 미만은 동의서가 없으면 접수가 안 되고, 있으면 됩니다.",
     [(("< 19", '"없음"'), "접수가 안 됨"), (("< 19", '"있음"'), "됩니다")]),
    ("바로 지급합니다, 청구액이 오십만 원 이하일 때는요.", [(("<= 500000",), "바로 지급합니다")]),
    ("26세부터 70세까지만 가입 가능하고, 그보다 어리거나 많으면 불가입니다.",
     [(("[26..70]",), "가입 가능함"), (("not([26..70])",), "불가입니다")]),
    ("100만원을 넘으면 팀장 승인을 받아요. VIP 고객이면 넘어도 승인 없이 진행합니다.",
     [(("> 1000000", 'not("VIP 고객")'), "팀장 승인을 받아요"),
      (("> 1000000", '"VIP 고객"'), "승인 없이 진행합니다")]),
    ("어제 상담원이 반대로 안내했더라고요. 5천 달러를 넘으면 필요하고 그 이하는 불필요합니다.",
     [(("> 5000",), "필요함"), (("<= 5000",), "불필요합니다")]),
    ("Racking: up to and including 400 kg goes on top, over 400 and up to 900 the middle one, "
     "and anything heavier than 900 stays on the floor.",
     [(("<= 400",), "goes on top"), (("(400..900]",), "the middle one"),
      (("> 900",), "stays on the floor")]),
    ("Shipments over two hundred and fifty kg go by road, provided the destination is domestic.",
     [(("> 250", '"domestic"'), "go by road")]),
    ("Under-25s pay $20, except on corporate bookings where there's no fee.",
     [(("< 25", 'not("corporate")'), "pay $20"), (("< 25", '"corporate"'), "there's no fee")]),
    ("Returns are free within 14 days, after that there's a fee.",
     [(("<= 14",), "Returns are free"), (("> 14",), "there's a fee")]),
    ("Discounts: 10% from 50 units, 15% from 200. Below fifty they pay list.",
     [(("[50..200)",), "10%"), ((">= 200",), "15%"), (("< 50",), "they pay list")]),
    ("Dogs up to 15 kg go in small kennels, 15 to 30 in medium, anything heavier in the barn.",
     [(("<= 15",), "go in small kennels"), (("(15..30]",), "in medium"),
      (("> 30",), "in the barn")]),
    ("A deploy touching billing needs Amara's sign-off; infra needs Piotr's.",
     [(('"deploy touching billing"',), "needs Amara's sign-off"), (('"infra"',), "needs Piotr's")]),
    ("Returns with a receipt get a refund, returns without a receipt get store credit.",
     [(('"with"',), "get a refund"), (('"without"',), "get store credit")]),
    ("The cap is $250 in London and Zurich and $150 in all other cities.",
     [(('"London", "Zurich"',), "$250"), (('not("London", "Zurich")',), "$150")]),
    ("제주는 3천원, 울릉도는 6천원 추가입니다. 다른 데는 추가 없어요.",
     [(('"제주"',), "3천원"), (('"울릉도"',), "6천원 추가입니다"),
      (('not("제주", "울릉도")',), "추가 없어요")]),
    ("A/S는 1년 이내면 무상, 1년 넘고 3년 이내면 부품비만, 그 뒤로는 유상이에요.",
     [(("<= 1",), "무상"), (("(1..3]",), "부품비만"), (("> 3",), "유상이에요")]),
    ("법인카드 한도는 팀원 50만원, 팀장 100만원입니다.",
     [(('"팀원"',), "50만원"), (('"팀장"',), "100만원입니다")]),
    ("초진은 30분, 단골은 10분 잡아 주세요. 소아는 상관없이 40분요.",
     [(('"초진"', 'not("소아")'), "30분"), (('"단골"', 'not("소아")'), "10분 잡아 주세요"),
      (('"소아"',), "상관없이 40분요")]),
    ("손님 5명 이상이면 대형택시로 배차하고 4명까지는 일반택시 보내",
     [((">= 5",), "대형택시로 배차함"), (("<= 4",), "일반택시 보내")]),
    ("안녕하세요, 총무팀입니다. 회의실은 10명 이하면 소회의실, 11명부터는 대회의실로 잡아주세요.",
     [(("<= 10",), "소회의실"), ((">= 11",), "대회의실로 잡아주세요")]),
    ("조식은 투숙객이면 1만 5천원, 외부 손님은 2만 5천원 받으셔야 해요",
     [(('"투숙객"',), "1만 5천원"), (('"외부 손님"',), "2만 5천원 받으셔야 해요")]),
    ("로그인 실패 5회 이상이면 계정 잠금, 3회나 4회면 캡차 띄우고, 2회까지는 그냥 둡니다",
     [((">= 5",), "계정 잠금"), (("[3..4]",), "캡차 띄움"), (("<= 2",), "그냥 둡니다")]),
    ("타이어 트레드 1.6mm 이하는 즉시 교체, 1.6 넘고 3mm 이하면 교체 권유, "
     "그보다 많이 남았으면 통과",
     [(("<= 1.6",), "즉시 교체"), (("(1.6..3]",), "교체 권유"), (("> 3",), "통과")]),
    ("냉동고 영하 15도보다 올라가면 알람, 영하 15도 이하면 정상으로 기록해",
     [(("> -15",), "알람"), (("<= -15",), "정상으로 기록해")]),
    ("결석이 3일 이상이면 진단서를 받고, 하루나 이틀은 학부모 확인서만 있으면 됩니다.",
     [((">= 3",), "진단서를 받음"), (("[1..2]",), "학부모 확인서만 있으면 됩니다")]),
    ("소방 출동은 신고가 화재일 경우 펌프차, 구조일 경우 구조공작차, 구급일 경우 구급차를 보낸다.",
     [(('"화재"',), "펌프차"), (('"구조"',), "구조공작차"), (('"구급"',), "구급차를 보낸다")]),
    ("고철, 구리, 알루미늄은 매입하고 납이랑 수은은 거절. 헷갈리면 안 됨",
     [(('"고철", "구리", "알루미늄"',), "매입함"), (('"납", "수은"',), "거절")]),
    ("GPA of 3.7 or higher gets the full scholarship, 3.3 up to but not including 3.7 gets half, "
     "and below 3.3 there's none.",
     [((">= 3.7",), "gets the full scholarship"), (("[3.3..3.7)",), "gets half"),
      (("< 3.3",), "there's none")]),
    ("Fraud score at or above 85 means block. From 60 to just below 85 means manual review. "
     "Anything lower, approve.",
     [((">= 85",), "means block"), (("[60..85)",), "means manual review"),
      (("< 60",), "approve")]),
    ("Quiz score of 70% or better passes, below that they have to retake it",
     [((">= 70",), "passes"), (("< 70",), "they have to retake it")]),
    ("Donations of $1,000 or more get a handwritten card. Anyone who gives less than that gets an "
     "email.", [((">= 1000",), "get a handwritten card"), (("< 1000",), "gets an email")]),
    ("P1: page on-call. P2: Slack. Anything else: backlog.",
     [(('"P1"',), "page on-call"), (('"P2"',), "Slack"), (('not("P1", "P2")',), "backlog")]),
    ("체온 38도 이상은 격리실, 미만은 대기실로 보내세요. 어제 또 섞였어요.",
     [((">= 38",), "격리실"), (("< 38",), "대기실로 보내세요")]),
]  # fmt: skip
WHOLE = [
    "주문이 100만원을 넘으면 팀장 승인을 받되, 단골이면 생략합니다. 다만 금요일은 예외입니다.",
    "출장이 2박 이상이면 숙박비 청구 가능하고 당일 출장은 교통비만 됩니다.",
    "비 오는 날이면 배달비 천원 더 받아요.",
    "매출이 전월보다 20% 이상 떨어지면 본사에 보고합니다.",
    "4등급 이하 자재는 반품, 3등급 이상 자재는 입고합니다.",
    "해외 주문이 10만원을 넘으면 관세를 안내합니다.",
    "50만원 넘는 건 웬만하면 부장님께 먼저 여쭤보세요.",
    "답변은 3문장 이하로 써 주세요.",
    "저희 매장은 2층이고 주차는 10대까지 됩니다.",
    "3시 이후 주문은 다음 날 발송합니다.",
    "Orders over $500 need approval unless the customer is long-standing.",
    "Orders over $50 from Norway need a customs form.",
    "Most orders over $500 come from returning customers.",
    "Keep summaries under 200 words.",
    "Kim prefers calls before 10 am.",
    "Weekend orders over $50 ship free.",
    "If the caller sounds upset, slow down and listen.",
    "You told a mum she could visit intensive care. Children under 12 are not allowed on it.",
    "Nobody under 16 gets a solo rental.",
    "Orders over $50 and gold members or staff ship free.",
    "여자 탈의실은 2층, 남자 탈의실은 3층입니다.",
    "직원은 10만원 이상이면 승인이 필요합니다. 10만원 미만이면 그냥 써도 됩니다.",
    "재고가 10개 이상이고 평일이거나 VIP면 당일 발송합니다.",
    "국내 출장은 5만원, 해외는 12만원이에요. 도쿄는 15만원입니다.",
    "지난주 VIP 건이었는데요, 50만원 이상이면 팀장 승인, 미만은 자동 승인입니다.",
    "김 과장님은 PDF, 박 대리님은 엑셀로 보내 주세요.",
    "보고서는 3장 이내로 쓰고 표는 2개까지만 넣어 주세요.",
    "환불은 7일 이내면 전액, 14일 이내면 반액이에요. 세일 상품은 환불이 안 됐어요.",
    "Refunds are fine within 30 days, exchanges within 60.",
    "That was for wholesale. Over 100 units it's 10% off, otherwise list price.",
    "Essays get 2 weeks, lab reports 1 week, and group projects a month.",
    "The limit is 500 for juniors and 2,000 for seniors unless finance says otherwise.",
    "New hires get 20 days holiday, after 5 years it goes up to 25.",
    "레이트 체크아웃은 14시 전이면 2만원, 14시 이후면 8만원. 근데 골드 회원은 14시 전이면 0원이야",
    "경로우대는 만 65세 이상 반값, 초등학생 이하(12세까지)도 반값이고 나머지는 정가요",
    "3회나 7회면 확인하고, 8회 이상이면 잠급니다.",
    "Offer a loan car if the customer holds a full licence, is at least 23 and the repair takes "
    "more than 2 days. Otherwise offer a taxi voucher.",
    "Airport pickups or train station pickups get a $5 surcharge. No surcharge anywhere else.",
    "Only take a fridge if the coolant's been drained AND it's under 150 kg, turn it away in every "
    "other case.",
    "Our scrap yard moved to 48 Mill Road in March, same phone number as before",
]


@pytest.mark.parametrize(("text", "rows"), SAID)
def test_a_rule_is_read_as_it_is_said(text: str, rows: Rows) -> None:
    read = rows_of(text)
    assert [(tuple(one.test for one in row.when), row.outcome) for row in read] == rows


@pytest.mark.parametrize("text", WHOLE)
def test_what_no_row_can_hold_is_learnt_whole(text: str) -> None:
    tool, args = rules.decide(rules.View(text=text, task="", related=()))
    assert (tool, args.get("content")) == ("commit_to_memory", text)


def test_two_limits_in_different_units_are_put_in_one() -> None:
    (short, long) = rows_of("계약이 1년 이상이면 할인하고, 6개월 미만이면 보증금을 받습니다.")
    assert (short.test, long.test, short.subject) == (">= 12", "< 6", long.subject)


PIECES = st.sampled_from(
    re.findall(
        r"\S+",
        "100만원 30일 3시 오후 이상 이하 넘으면 면 이면 은 는 그 이상은 나머지는 아니면 없으면 "
        "VIP 서울 이나 고 , . 무료 거나 어도 if over under $50 or more and unless orders get "
        "everyone else otherwise from to 5 kg : ; free not",
    )
)


@given(st.lists(PIECES, max_size=14).map(" ".join) | st.text(max_size=60))
def test_any_text_is_read_or_left(text: str) -> None:
    assert all(row.outcome for row in rows_of(text))


WORDS = st.sampled_from(sorted({w for line in lines("open") for w in str(line["text"]).split()}))


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_words_of_rules_in_any_order_are_read_or_left(text: str) -> None:
    assert all(row.outcome for row in rows_of(text))


@pytest.mark.parametrize("text", ["가" * 20_000, "그 이상 " * 3_000, "5 " * 5_000])
def test_a_text_too_long_for_a_rule_is_not_searched_for_one(text: str) -> None:
    assert rows_of(text) == []
