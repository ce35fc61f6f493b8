"""Scores say how much of the query a document holds, the same way for every query."""

from __future__ import annotations

from collections import Counter

import pytest

from core.search.ranking import (
    FINDING_POSTINGS,
    FINDING_TERMS,
    Corpus,
    extrapolate,
    weigh,
)

CORPUS = Corpus(1000, 20.0, {"rare": 2, "common": 900, "some": 50})


def test_the_query_itself_is_the_ideal_document() -> None:
    query = Counter(rare=1, some=2)
    assert weigh(query, CORPUS).score(query, 3) == pytest.approx(1.0)


def test_a_rare_term_tells_more_than_a_common_one() -> None:
    weighing = weigh(Counter(rare=1, common=1), CORPUS)
    rare = weighing.score(Counter(rare=1), 20)
    common = weighing.score(Counter(common=1), 20)
    assert rare > 10 * common > 0


def test_longer_documents_and_unknown_terms_lower_the_score() -> None:
    weighing = weigh(Counter(rare=1), CORPUS)
    assert weighing.score(Counter(rare=1), 20) > weighing.score(Counter(rare=1), 200)
    asked_more = weigh(Counter(rare=1, nowhere=1), CORPUS)
    assert asked_more.score(Counter(rare=1), 20) < weighing.score(Counter(rare=1), 20)


def test_nothing_asked_or_nothing_held_scores_nothing() -> None:
    assert weigh(Counter(), CORPUS).score(Counter(rare=1), 5) == 0
    assert weigh(Counter(rare=1), Corpus(0, 0.0, {})).score(Counter(rare=1), 5) == 0
    assert weigh(Counter(rare=1), CORPUS).score(Counter(), 0) == 0


def test_the_score_never_exceeds_one() -> None:
    assert weigh(Counter(rare=1), CORPUS).score(Counter(rare=30), 1) == 1.0


def test_the_rarest_terms_find_and_common_ones_only_score() -> None:
    many = {f"t{number:03}": 10 + number for number in range(100)}
    weighing = weigh(Counter(many), Corpus(10_000, 20.0, many))
    assert list(weighing.finding) == [f"t{number:03}" for number in range(FINDING_TERMS)]
    assert len(weighing.weights) == 100
    heavy = {"a": 1, "b": FINDING_POSTINGS, "c": FINDING_POSTINGS}
    assert weigh(Counter(heavy), Corpus(10_000, 20.0, heavy)).finding == ("a",)
    only = {"c": 9_000}
    assert weigh(Counter(only), Corpus(10_000, 20.0, only)).finding == ("c",)


def test_a_count_that_stopped_is_continued_by_the_ids() -> None:
    assert extrapolate(499, 500, oldest=1, last=700, newest=10_000) == 499
    assert extrapolate(500, 500, oldest=1, last=1_000, newest=10_000) == 5_000
    assert extrapolate(500, 500, oldest=5_001, last=6_000, newest=15_000) == 5_000
    assert extrapolate(500, 500, oldest=1, last=500, newest=500) == 500
