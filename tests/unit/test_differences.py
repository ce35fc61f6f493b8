"""What differs is never called the same: the sets of `tests/evals`, and what a contrast is."""

from __future__ import annotations

import pytest

from core.knowledge.duplicates import Evidence, Known, evidence
from tests.evals import differences


def between(new: str, known: str) -> Evidence:
    return evidence(new, Known("k", "k", known))


def told(new: str, known: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {d.what: (d.new, d.known) for d in between(new, known).told}


# The sealed half is counted, so that a failure shows none of its lines.
@pytest.mark.parametrize("hand", differences.HANDS)
def test_no_pair_that_differs_is_the_same_or_near_untold(hand: str) -> None:
    counts = differences.told(differences.pairs(hand, "differences"))
    assert (counts.all, counts.same, counts.near_untold) == (300, 0, 0)


@pytest.mark.parametrize("hand", differences.HANDS)
def test_polarity_is_told_of_pairs_that_turn_on_it(hand: str) -> None:
    lines = differences.lines(hand, "differences")
    given = [(str(line["a"]), str(line["b"])) for line in lines if line["differs"] == "polarity"]
    turned = ["negation" in told(*pair) for pair in given]
    assert sum(turned) >= 0.75 * len(turned)  # the others are told as other words


@pytest.mark.nightly
@pytest.mark.parametrize("hand", differences.HANDS)
def test_texts_drawn_at_random_are_near_once_in_a_thousand(hand: str) -> None:
    counts = differences.told(differences.random_pairs(hand))
    assert counts.near <= 0.001 * counts.all


@pytest.mark.parametrize(
    ("new", "known", "what", "sides"),
    [
        (
            "A동은 비공개입니다",
            "A동은 공개입니다",
            "negation",
            (("비공개입니다",), ("공개입니다",)),
        ),
        ("표가 불필요합니다", "표가 필요합니다", "negation", (("불필요합니다",), ("필요합니다",))),
        ("제 담당이 아녜요", "제 담당이에요", "negation", (("아녜요",), ())),
        ("승인 없이 보냅니다", "승인 받아 보냅니다", "negation", (("없이",), ())),
        ("주차는 무료입니다", "주차는 유료입니다", "negation", (("무료입니다",), ("유료입니다",))),
        ("Entries are invalid", "Entries are valid", "negation", (("invalid",), ("valid",))),
        ("Ship it without a form", "Ship it with a form", "negation", (("without",), ())),
        ("표는 팀장만 봅니다", "표는 팀장도 봅니다", "scope", (("만",), ("도",))),
        ("Only Kim signs", "Kim also signs", "scope", (("Only",), ("also",))),
        ("속옷을 빼고 교환합니다", "속옷을 교환합니다", "scope", (("빼고",), ())),
        ("50개 미만이면 삽니다", "50개 이하이면 삽니다", "limit", (("미만",), ("이하",))),
        ("At least 5 boxes", "More than 5 boxes", "limit", (("At least",), ("More than",))),
        (
            "명찰을 달아도 됩니다",
            "명찰을 달아야 합니다",
            "duty",
            (("아도 됩니다",), ("아야 합니다",)),
        ),
        ("Guests may sign in", "Guests must sign in", "duty", (("may",), ("must",))),
        (
            "수도권은 3077건, 지방은 2315건",
            "수도권은 2315건, 지방은 3077건",
            "order",
            (("3077건", "2315건"), ("2315건", "3077건")),
        ),
        ("담임이 학부모에게 알린다", "학부모가 담임에게 알린다", "order", None),
        ("Call before shipping", "Call after shipping", "order", (("before",), ("after",))),
        ("Send it from Leeds to York", "Send it from York to Leeds", "order", None),
    ],
)
def test_a_contrast_is_told_by_what_it_is(
    new: str, known: str, what: str, sides: tuple[tuple[str, ...], tuple[str, ...]] | None
) -> None:
    found = told(new, known)
    assert what in found, found
    assert sides in {None, found[what]}


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("불고기는 화요일 메뉴입니다", "불고기는 화요일 메뉴예요"),
        ("미국 지점의 비용", "미국 지점 비용"),
        ("무게는 안내데스크에서 잽니다", "안내데스크에서 무게를 잽니다"),
        ("Invoices include interest", "Invoices include the interest"),
    ],
)
def test_polarity_is_no_matter_of_a_first_syllable(new: str, known: str) -> None:
    assert "negation" not in told(new, known)


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("환불은 7일 이내입니다", "환불은 7일 이내예요"),
        ("한도는 100만원입니다", "한도는 1,000,000원이에요"),
        ("The meeting starts at 3 pm", "The meeting begins at 15:00"),
    ],
)
def test_what_differs_in_form_alone_has_no_contrast(new: str, known: str) -> None:
    assert told(new, known) == {}


def test_a_list_in_another_order_is_no_contrast_if_each_has_its_value() -> None:
    assert "order" not in told("성인 2만 원, 청소년 1만 원", "청소년 1만 원, 성인 2만 원")


@pytest.mark.parametrize(("new", "known"), [("월요일 회의", "수요일 회의"), ("A동", "B동")])
def test_the_end_of_a_word_in_common_makes_it_no_common_word(new: str, known: str) -> None:
    assert between(new, known).told
