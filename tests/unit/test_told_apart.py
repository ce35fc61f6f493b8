"""No two texts that differ pass for the same: marks, case, roles, voice, numbers as written."""

from __future__ import annotations

import pytest

from core.domain.text import normal_form
from core.knowledge.duplicates import Evidence, Known, evidence, sentences

APART = """
Notifications are on | Notifications are off
Leave the lights on | Leave the lights off
Members opt in | Members opt out
The part is out of stock | The part is of stock
상태: ● | 상태: ○
등급 = VIP 이면 무료 | 등급 != VIP 이면 무료
판정: ⭕ | 판정: ❌
Vote 👍 for release | Vote 👎 for release
Swipe → to accept | Swipe ← to accept
단가는 500₩ | 단가는 500¥
Fee is 50£ | Fee is 50¥
프로그램 버전 2.10을 쓴다 | 프로그램 버전 2.1을 쓴다
Use Node 18.10 | Use Node 18.1
우편번호는 04524다 | 우편번호는 4524다
Badge 0045 opens the lab | Badge 45 opens the lab
팩스는 02-555-0100 | 팩스는 2-555-0100
사번 07이 당직이다 | 사번 7이 당직이다
Mail sales_team@acme.com | Mail sales-team@acme.com
변수 이름은 user_name 으로 한다 | 변수 이름은 user-name 으로 한다
The key is app.port | The key is app/port
백업은 /backup/Daily 에 둔다 | 백업은 /backup/daily 에 둔다
Path is lib/Core/x.py | Path is lib/core/x.py
Open C:\\Temp\\Log | Open C:\\Temp\\log
Get it from https://a.com/Get | Get it from https://a.com/get
Token xY7Zq2 is valid | Token xy7zq2 is valid
Search with grep -v first | Search with grep -V first
투약량은 20 mg이다 | 투약량은 20 Mg이다
The link has 50 Mb | The link has 50 MB
Few orders are late | A few orders are late
부장이 평가한다 | 부장을 평가한다
협력사는 점검한다 | 협력사를 점검한다
직원의 가족 할인 | 직원은 가족 할인
감사팀이 조사한다 | 감사팀이 조사된다
교육을 받을 직원을 적는다 | 교육을 받은 직원을 적는다
교육을 받는 직원을 적는다 | 교육을 받은 직원을 적는다
목록을 보낸다 | 목록을 보냈다
The auditor informed | The auditor is informed
Vendors will bill | Vendors will be billed
Customers who buy get points | Customers who bought get points
The store was closed | The store is closed
면접은 오후 2시 | 면접은 2시
점검은 4시다 | 점검은 16시다
"""
CLASHING = """
매주 월요일에 재고를 센다 | 매주 금요일에 재고를 센다 | number
정기 점검은 격주로 한다 | 정기 점검은 매주 한다 | number
안전 교육은 월 1회 | 안전 교육은 연 1회 | number
청소는 주 1회 | 청소는 일 1회 | number
계약서는 두 통 만든다 | 계약서는 세 통 만든다 | number
창고 온도는 영하 18도 | 창고 온도는 18도 | number
서버실은 지하 2층 | 서버실은 2층 | number
Freezer is at minus 5 | Freezer is at 5 | number
Backups run weekly | Backups run monthly | number
이수진 대리는 영수증을 스캔본으로 받는다 | 이수민 대리는 영수증을 스캔본으로 받는다 | name
박지훈님은 영어로 답장한다 | 박지운님은 영어로 답장한다 | name
Mr. Carter signs the forms | Mr. Porter signs the forms | name
가격을 올린다 | 가격을 내린다 | negation
휴가 신청을 승인한다 | 휴가 신청을 반려한다 | negation
Active accounts are billed | Inactive accounts are billed | negation
Customers inside the EU pay VAT | Customers outside the EU pay VAT | negation
Increase the discount | Decrease the discount | negation
Notifications are on | Notifications are off | negation
재고가 있으면 출고한다 | 재고가 없으면 출고한다 | negation
포털은 크롬으로 연다 | 포털은 엣지로 연다 | words
"""
# What says the same, and must be told without any clash.
SAME = """
50만원을 넘는 구매는 팀장 승인이 필요하다 | 구매 금액이 50만 원을 초과하면 팀장 승인이 필요하다
반품은 7일 이내에 접수한다 | 반품은 일주일 안에 접수한다
금액은 소수점 없이 적는다 | 금액은 소수점을 빼고 적는다
비밀번호는 90일마다 바꾼다 | 비밀번호는 90일에 한 번씩 바꾼다
주간 보고는 월요일마다 보낸다 | 주간 보고는 매주 월요일에 보낸다
보고서는 한 장으로 쓴다 | 보고서는 1장으로 쓴다
재고가 10개 미만이면 발주한다 | 재고가 10개보다 적으면 발주한다
Send the weekly report on Mondays | The weekly report should be sent every Monday
Change passwords every 90 days | Change passwords once every 90 days
Invoices are sent by email | Send invoices by e-mail
Backups run daily | Backups run every day
Attach the receipt to the claim | The receipt must be attached to the claim
"""
CLASHES = {"number", "negation", "order", "scope", "limit", "duty"}


def rows(text: str) -> list[list[str]]:
    return [line.split(" | ") for line in text.strip().splitlines()]


def between(new: str, known: str) -> Evidence:
    return evidence(new, Known("k", "k", known))


@pytest.mark.parametrize(("one", "other"), rows(APART))
def test_what_differs_in_a_mark_or_a_form_is_told(one: str, other: str) -> None:
    for new, known in ((one, other), (other, one)):
        found = between(new, known)
        assert (found.is_exact, bool(found.told)) == (False, True)


@pytest.mark.parametrize(("one", "other", "what"), rows(CLASHING))
def test_what_excludes_each_other_clashes(one: str, other: str, what: str) -> None:
    for new, known in ((one, other), (other, one)):
        assert what in {found.what for found in between(new, known).clashes}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("국내 출장은 기차로 간다", "해외 출장은 법인카드로 결제한다"),
        ("Raise complaints with Kim", "Lower shelves hold paper"),
        ("월요일에는 재고를 센다", "화요일에는 영수증을 모은다"),
    ],
)
def test_opposites_of_two_facts_do_not_clash(one: str, other: str) -> None:
    assert between(one, other).told
    assert between(one, other).clashes == ()


@pytest.mark.parametrize(("one", "other"), rows(SAME))
def test_what_says_the_same_in_other_words_does_not_clash(one: str, other: str) -> None:
    for new, known in ((one, other), (other, one)):
        found = between(new, known)
        assert found.is_near
        assert not CLASHES & {difference.what for difference in found.told}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("환불을 처리한다", "환불이 처리된다"),
        ("목록을 보낸다", "목록을 보냅니다"),
        ("Meet at 15:00 in A동", "Meet at 3 pm in A동"),
        ("가격은 3.50달러다", "가격은 3.5달러입니다"),
        ("Ask the manager", "Ask a manager"),
    ],
)
def test_what_differs_in_nothing_is_told_nothing(one: str, other: str) -> None:
    assert between(one, other).told == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PDF and/or Excel", "pdf And/Or excel"),
        ("5 KG, 9 AM, 100 KRW", "5 kg, 9 am, 100 krw"),
        ("Ask GitHub or YouTube", "ask github or youtube"),
        ("Mail Kim@Example.com", "mail kim@example.com"),
        ("Ticket PROJ-12", "ticket proj-12"),
        ("See HTTPS://Example.COM/a", "see https://example.com/a"),
    ],
)
def test_case_that_says_nothing_is_folded(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


def test_a_short_sentence_that_restricts_goes_with_the_one_before_it() -> None:
    whole = "Refunds take 7 days. No exceptions."
    assert sentences(whole) == [whole]
    assert sentences("Refunds take 7 days. Thanks.") == ["Refunds take 7 days."]
