"""Queries are weighed by meaning: words weigh more than their particles and endings."""

from __future__ import annotations

import pytest

from core.knowledge.search.tokens import (
    ALONE,
    MAX_QUERY_TERMS,
    MAX_RUNS,
    SINGLE,
    SUFFIX,
    read_question,
    suffix_start,
)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("환불을", "환불"),
        ("환불이라면", "환불"),
        ("승인합니다", "승인"),
        ("배포했습니다만", "배포"),
        ("회의실에서는", "회의실"),
        ("돈은", "돈"),
        ("돈으로", "돈"),
        ("환불", "환불"),
        ("회의", "회의"),
        ("고의", "고의"),
        ("가", "가"),
        ("approvals", "approvals"),
        ("返金の", "返金の"),
    ],
)
def test_particles_and_endings_are_told_from_the_word_they_end(word: str, stem: str) -> None:
    assert word[: suffix_start(word)] == stem


def test_single_syllables_and_endings_tell_less() -> None:
    factors = read_question("환불을").factors
    assert factors == {
        "환": SINGLE,
        "불": SINGLE,
        "을": SINGLE * SUFFIX,
        "환불": 1.0,
        "불을": SUFFIX,
    }


def test_a_word_of_one_syllable_counts_in_full_where_it_is_all_asked() -> None:
    assert read_question("돈").factors == {"돈": 1.0}
    assert read_question("돈 낭비").factors["돈"] == ALONE


def test_a_term_is_worth_what_it_is_worth_at_its_best_place() -> None:
    assert read_question("지은이는 이불을 폈다. 은 세공").factors["은"] == ALONE


def test_words_are_known_as_they_were_typed_and_whether_a_blank_parts_them() -> None:
    runs = read_question("News letter, 환 불ㅇ을 data_base 12").runs
    assert [(run.kind, run.text, run.joins) for run in runs] == [
        ("word", "news", False),
        ("word", "letter", True),
        ("unspaced", "환", False),
        ("unspaced", "불을", True),
        ("word", "data", False),
        ("word", "base", True),
        ("number", "12", False),
    ]


def test_long_queries_are_cut_and_no_slip_is_looked_for_in_them() -> None:
    long = read_question(
        " ".join(chr(0x4E00 + number) for number in range(MAX_QUERY_TERMS + 1_000))
    )
    assert len(long.counts) == MAX_QUERY_TERMS
    assert long.runs == ()
    assert read_question("환불 " * (MAX_RUNS + 1)).runs == ()
    assert len(read_question("환불 " * MAX_RUNS).runs) == MAX_RUNS
