"""What code can prove of two texts."""

from __future__ import annotations

import unicodedata

from core.knowledge_conflicts import Known, compare, similarity


def test_form_and_case_and_space_make_no_difference() -> None:
    decomposed = unicodedata.normalize("NFD", "금액은  원 단위, KRW")
    (found,) = compare("금액은 원 단위 krw.", [Known("m1", "금액", decomposed)])
    assert isinstance(found, dict)
    assert found["exact_duplicate"] is True
    assert found["near_duplicate"] is False
    assert found["similarity"] == 1.0


def test_a_near_duplicate_is_told_from_another_subject_and_comes_first() -> None:
    known = [
        Known("other", "배송", "배송은 사흘 안에 끝냅니다"),
        Known("near", "금액", "김 부장님은 금액을 원 단위로 원하십니다"),
    ]
    first, second = compare("김 부장님은 금액을 원 단위로 원합니다", known)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["id"], first["near_duplicate"]) == ("near", True)
    assert (second["id"], second["near_duplicate"]) == ("other", False)


def test_a_name_collision_is_seen_in_the_first_line() -> None:
    (found,) = compare("# Partial Refund\n\nsteps", [Known("s", "partial refund", "else")])
    assert isinstance(found, dict)
    assert found["name_collision"] is True


def test_short_and_empty_texts_compare() -> None:
    assert similarity("", "") == 1.0
    assert similarity("가", "나") == 0.0
