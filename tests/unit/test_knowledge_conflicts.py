"""What code can prove about two texts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.duplicates import Evidence, Known, compare, evidence, normal_form
from core.knowledge.duplicates.words import words_of
from tests.support import wordings_en, wordings_ko


def between(new: str, known: str) -> Evidence:
    return evidence(new, Known("k", "k", known))


def what_differs(new: str, known: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    found = between(new, known)
    assert found.is_near, found
    return {d.what: (d.new, d.known) for d in found.differs}


def test_form_case_space_and_closing_or_quotation_marks_do_not_matter() -> None:
    decomposed = unicodedata.normalize("NFD", "“금액”은  원 단위, KRW")
    (found,) = compare("금액은 원 단위, krw.", [Known("m1", "금액", decomposed)])
    assert (found.is_exact, found.is_near, found.similarity) == (True, False, 1.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use C++", "Use C"),
        ("Use C#.", "Use C."),
        ("더한 값은 -5", "더한 값은 5"),
        ("버전 1.5", "버전 15"),
        ("10%", "10"),
        ("금액 > 5", "금액 ≥ 5"),
        ("5 m²", "5 m2"),
        ("환불됩니다", "환불됩니다?"),
        ("don't", "dont"),
        ('5" x 3"', "5 x 3"),
    ],
)
def test_what_changes_meaning_is_no_matter_of_form(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)
    assert not between(one, other).is_exact


def test_a_text_of_nothing_but_marks_is_kept() -> None:
    assert normal_form("...") == "..."
    assert normal_form("   ") == ""
    assert not between("…", "가").is_exact


@given(st.text(max_size=80))
def test_the_normal_form_does_not_depend_on_how_a_text_is_composed(text: str) -> None:
    forms = {normal_form(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@given(st.text(alphabet="가각힣 aZ0.,!\"'“”-+", max_size=40), st.text(max_size=40))
def test_a_text_equals_itself_and_any_two_compare(text: str, other: str) -> None:
    assert between(text, text).is_exact
    found = between(text, other)
    assert 0 <= found.similarity <= 1
    assert found.similarity == between(other, text).similarity


def test_the_nearest_comes_first_and_another_subject_is_not_near() -> None:
    known = [
        Known("other", "배송", "배송은 사흘 안에 끝냅니다"),
        Known("near", "금액", "김 부장님은 금액을 원 단위로 원하십니다"),
    ]
    first, second = compare("김 부장님은 금액을 원 단위로 원합니다", known)
    assert (first.known.id, first.is_near) == ("near", True)
    assert (second.known.id, second.is_near) == ("other", False)


@pytest.mark.parametrize(
    ("new", "known", "what", "sides"),
    [
        ("환불은 7일 이내", "환불은 14일 이내", "number", (("7일",), ("14일",))),
        ("Orders over $5,000", "Orders over $500", "number", (("$5,000",), ("$500",))),
        ("Calls end at 9 am", "Calls end at 9 pm", "number", (("9 am",), ("9 pm",))),
        ("Email customers", "Never email customers", "negation", ((), ("Never",))),
        ("Ms. Kim wants KRW", "Mr. Lee wants KRW", "name", (("Kim",), ("Lee",))),
        ("김 부장님은 원화를 씁니다", "박 과장님은 원화를 씁니다", "name", (("김",), ("박",))),
        ("Use C++ for drivers", "Use C for drivers", "name", (("C++",), ("C",))),
        ("고객 17번은 원화", "고객 18번은 원화", "name", (("17번",), ("18번",))),
    ],
)
def test_what_tells_a_contradiction_or_another_subject_is_named(
    new: str, known: str, what: str, sides: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    assert what_differs(new, known)[what] == sides


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("100만원 이상은 승인", "1,000,000원 이상은 승인"),
        ("발송은 오전 9시", "발송은 9:00"),
        ("마감은 일주일 뒤", "마감은 7일 뒤"),
        ("The desk closes at noon", "The desk closes at 12:00"),
        ("Wait a week", "Wait seven days"),
    ],
)
def test_a_value_written_another_way_does_not_differ(one: str, other: str) -> None:
    assert "number" not in what_differs(one, other)


def test_a_line_of_a_longer_item_is_found() -> None:
    item = "\n".join(fact[0] for fact in wordings_en.FACTS[:6])
    assert between(wordings_en.FACTS[3][1], item).is_near
    assert not between(wordings_en.FACTS[9][1], item).is_near


@pytest.mark.parametrize("language", [wordings_en, wordings_ko])
def test_other_wordings_are_near_and_other_facts_are_not(language: object) -> None:
    facts: tuple[tuple[str, str, str], ...] = language.FACTS  # type: ignore[attr-defined]
    different: tuple[tuple[str, str], ...] = language.DIFFERENT  # type: ignore[attr-defined]
    wordings = [(a, b) for fact in facts for a in fact for b in fact if a != b]
    others = [(a, b) for fact in facts for other in facts if fact != other
              for a, b in zip(fact, other, strict=True)]  # fmt: skip
    assert [pair for pair in wordings if not between(*pair).is_near] == []
    assert sum(between(*pair).is_near for pair in others) <= 0.005 * len(others)
    assert sum(between(*pair).is_near for pair in different) <= 0.4 * len(different)


def test_short_and_empty_texts_compare() -> None:
    assert between("", "").is_exact
    assert not between("가", "나").is_near


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("배송비는 삼천 원", "배송비는 3,000원"),
        ("한도는 오만원", "한도는 50,000원"),
        ("상금은 십이만 삼천 원", "상금은 123,000원"),
        ("정원은 이십 명", "정원은 20명"),
        ("할인은 삼십 퍼센트", "할인은 30%"),
        ("휴가는 열흘", "휴가는 10일"),
    ],
)
def test_a_korean_number_in_words_is_that_number(one: str, other: str) -> None:
    assert "number" not in what_differs(one, other)
    assert between(one, other).contained == 1.0


def test_a_syllable_that_may_be_a_number_is_a_word() -> None:
    for text in ("이 원칙을 지킨다", "이 년", "만일 늦으면", "천천히", "사원 교육"):
        assert words_of(text).quantities == (), text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("제주도는 배송비 3,000원 추가", "제주 지역 배송은 삼천 원이 더 붙는다"),
        ("출장비는 사후 정산", "출장 경비는 다녀와서 정산한다"),
        ("회의록은 당일 공유", "회의가 끝나면 그날 바로 회의록을 돌린다"),
    ],
)
def test_a_word_that_has_a_sense_is_found_in_a_compound_too(one: str, other: str) -> None:
    assert between(one, other).is_near


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("배송비는 3,000원", "점심값은 3,000원까지"),
        ("Invoices are due in 30 days", "Passwords change every 30 days"),
        ("A사는 선불", "B사는 후불로 결제"),
        ("Logs are in UTC", "Logs are kept for 90 days"),
        ("보고서는 한 장", "보고서 표지는 파란색"),
        ("Sara handles returns", "Sara is on leave in July"),
    ],
)
def test_a_subject_alone_or_a_value_alone_makes_no_duplicate(one: str, other: str) -> None:
    assert not between(one, other).is_near
