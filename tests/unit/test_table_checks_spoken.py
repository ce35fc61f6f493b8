"""Text in a cell that reads like a test is found, in the words of both languages."""

from __future__ import annotations

import pytest

from core.decision_table import check_table
from core.decision_table.checks.spoken import read_as_test
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    Defect,
    DefectKind,
    InputColumn,
    OutputColumn,
    Severity,
)

READ = [
    ("19세 미만", "< 19"), ("100 이하", "<= 100"), ("100만원 "
        "초과", "> 1000000"), (">= 5", ">= 5"),
    ("over 100", "> 100"), ("at least 3 "
        "days", ">= 3"), ("18 or older", ">= 18"), ("65+", ">= 65"),
    ("up to 1,000", "<= 1000"), ("under 1.5 kg", "< 1.5"), ("10 ~ 20", "[10..20]"),
    ("between 10 and 20", "[10..20]"), ("10일부터 20일까지", "[10..20]"), ("≥ 7", ">= 7"),
    ("[1..5]", "[1..5]"), ("$50 or more", ">= 50"), ("3개월 이내", "<= 3"), ("< 0", "< 0"),
    ("최소 3", ">= 3"), ("최대 5명", "<= 5"), ("열 살 미만", "< 10"), ("두 개 이상", ">= 2"),
]  # fmt: skip
NAMES = [
    "VIP", "서울", "over the "
        "counter", "A+", "2024-03-01", "24/7", "이상 없음", "Room 5", "미만 없음", "19세",
    "under", "7-Eleven", "10", "more than enough",
]  # fmt: skip


def found(*cells: str, kind: str = "string", allowed: str = "") -> list[Defect]:
    table = DecisionTable(
        name="요금",
        hit_policy="FIRST",  # type: ignore[arg-type]
        inputs=(InputColumn(name="나이", type=kind, allowed=allowed),),
        outputs=(OutputColumn(name="요금", type="number"),),
        rows=tuple(
            DecisionRow(id=f"r{n}", inputs=(cell,), outputs=("0",)) for n, cell in enumerate(cells)
        ),
    )
    return [each for each in check_table(table) if each.kind is DefectKind.SPOKEN_TEST]


@pytest.mark.parametrize(("text", "test"), READ)
def test_a_text_is_read_as_the_test_it_says(text: str, test: str) -> None:
    assert read_as_test(text) == test


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_no_test(text: str) -> None:
    assert read_as_test(text) is None


@pytest.mark.parametrize("kind", ["string", "Any"])
def test_a_cell_of_text_that_reads_like_a_test_is_a_warning(kind: str) -> None:
    (first, second) = found('"19세 미만"', '"VIP", "over 100"', "-", '"서울"', kind=kind)
    assert (first.severity, first.rows, first.columns) == (Severity.WARNING, ("r0",), ("나이",))
    assert '"19세 미만" reads like a test' in first.message
    assert "< 19" in first.message
    assert second.rows == ("r1",)


@pytest.mark.parametrize(
    "text",
    [
        "A 이상",
        "B등급 초과",
        "월요일 이후",
        "골드 이상",
        "B or higher",
        "Friday or later",
        "VIP 이상",
    ],
)
def test_a_comparison_of_texts_is_told_to_have_no_order(text: str) -> None:
    (told,) = found(f'"{text}"')
    assert "texts have no order" in told.message


@pytest.mark.parametrize("text", ["A", "VIP", "월요일", "A to Z", "이상", "Friday night"])
def test_a_grade_or_day_alone_is_a_value(text: str) -> None:
    assert found(f'"{text}"') == []


def test_a_negated_text_and_one_of_a_list_are_found() -> None:
    assert [one.rows for one in found('not("100 이하")', '["A", "over 5"]')] == [("r0",), ("r1",)]


def test_a_text_that_is_an_allowed_value_is_a_name() -> None:
    assert found('"19세 미만"', allowed='"19세 미만", "19세 이상"') == []
    assert found("< 19", kind="number") == []
