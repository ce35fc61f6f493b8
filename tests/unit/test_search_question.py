"""The terms of a query, what each is worth, and what makes a hit."""

from __future__ import annotations

import pytest

from core.knowledge.search.tokens import (
    ALONE,
    FIRST,
    LITTLE,
    MAX_QUERY_TERMS,
    MAX_RUNS,
    STEM,
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


def test_first_syllables_and_endings_rank_in_full_and_hardly_make_a_hit() -> None:
    asked = read_question("환불을")
    assert asked.factors == {"환": 1.0, "환불": 1.0, "불을": 1.0}
    assert asked.floors == {"환": FIRST, "환불": 1.0, "불을": SUFFIX}
    assert asked.length == 3


def test_a_word_of_one_syllable_makes_a_hit_where_it_is_all_asked() -> None:
    assert read_question("돈").floors == {"돈": 1.0}
    assert read_question("돈을").floors == {"돈": 1.0, "돈을": SUFFIX}
    assert read_question("돈 낭비").floors["돈"] == ALONE


def test_a_term_is_worth_what_it_is_worth_at_its_best_place() -> None:
    assert read_question("은하를 봤다. 은 세공").floors["은"] == ALONE


def test_an_english_word_is_asked_by_its_stem_and_as_it_is_written() -> None:
    asked = read_question("the approvals of a manager")
    assert asked.factors == {
        "~the": LITTLE,
        "approv": STEM,
        "=approvals": 1 - STEM,
        "~of": LITTLE,
        "~a": LITTLE,
        "manag": STEM,
        "=manager": 1 - STEM,
    }
    assert {term for term, floor in asked.floors.items() if floor} == {"approv", "manag"}
    assert asked.length == 5


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
