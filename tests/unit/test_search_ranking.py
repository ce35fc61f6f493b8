"""Scores say how much of the query a document has, comparably across queries."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.models import Kind
from core.knowledge.search.documents import SearchDocument, index_terms
from core.knowledge.search.ranking import (
    FINDING_POSTINGS,
    FINDING_TERMS,
    MAX_WEIGHED,
    Corpus,
    Weighing,
    extrapolate,
    impact,
    shape,
    unshape,
)
from core.knowledge.search.ranking import weigh as weigh_question
from core.knowledge.search.tokens import IN_SENTENCES, Question, little_term

CORPUS = Corpus(1000, {"rare": 2, "common": 900, "some": 50}, mean=100)


def weigh(
    query: Counter[str],
    corpus: Corpus,
    meant: dict[str, tuple[float, int]] | None = None,
    names: tuple[str, ...] = (),
    *,
    has_floor: bool = True,
) -> Weighing:
    asked = Question(query, {}, (), length=query.total())
    return weigh_question(asked, corpus, meant, names, has_floor=has_floor)


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
    assert weigh(Counter(rare=1), Corpus(0, {})).score(Counter(rare=1), 5) == 0
    assert weigh(Counter(rare=1), CORPUS).score(Counter(), 0) == 0


def test_the_score_never_exceeds_one() -> None:
    assert weigh(Counter(rare=1), CORPUS).score(Counter(rare=30), 1) == 1.0


def test_the_rarest_terms_find_and_common_ones_only_score() -> None:
    many = {f"t{number:03}": 10 + number for number in range(100)}
    weighing = weigh(Counter([*many]), Corpus(10_000, many))
    assert list(weighing.finding) == [f"t{number:03}" for number in range(FINDING_TERMS)]
    assert len(weighing.weights) == 100
    heavy = {"a": 1, "b": FINDING_POSTINGS, "c": FINDING_POSTINGS}
    assert weigh(Counter([*heavy]), Corpus(100_000, heavy)).finding == ("a",)
    only = {"c": 90_000}
    assert weigh(Counter([*only]), Corpus(100_000, only)).finding == ("c",)


def test_terms_that_make_no_hit_even_together_need_not_find() -> None:
    held = {"rare": 2, "some": 50, "common": 900, "usual": 950}
    weighing = weigh(Counter([*held]), Corpus(1_000, held))
    assert weighing.finding == ("rare", "some")
    left = sum(weighing.weights[term] for term in ("common", "usual"))
    assert left < weighing.needed < left + weighing.weights["some"]
    every = weigh(Counter([*held]), Corpus(1_000, held), has_floor=False)
    assert (every.finding, every.needed) == (tuple(held), 0)


def test_a_count_that_stopped_is_continued_by_the_ids() -> None:
    assert extrapolate(499, 500, oldest=1, last=700, newest=10_000) == 499
    assert extrapolate(500, 500, oldest=1, last=1_000, newest=10_000) == 5_000
    assert extrapolate(500, 500, oldest=5_001, last=6_000, newest=15_000) == 5_000
    assert extrapolate(500, 500, oldest=1, last=500, newest=500) == 500


def test_of_a_long_query_the_terms_that_tell_most_are_weighed() -> None:
    many = {f"t{number:04}": 1 + number for number in range(MAX_WEIGHED + 50)}
    weighing = weigh(Counter([*many]), Corpus(10_000, many))
    assert set(weighing.weights) == {f"t{number:04}" for number in range(MAX_WEIGHED)}


def test_a_hit_has_a_share_of_a_short_query_and_enough_of_a_long_one() -> None:
    short = weigh(Counter(rare=1, nowhere=1), CORPUS)
    assert short.is_hit({"rare": 1})
    stray = weigh(Counter(common=1, nowhere=1, never=1), CORPUS)
    assert not stray.is_hit({"common": 1})
    words = {f"t{number:02}": 2 for number in range(60)}
    long = weigh(Counter([*words]), Corpus(1_000, words))
    assert long.is_hit({"t01": 1, "t02": 1})
    assert not long.is_hit({"t01": 1})


def test_one_typed_word_makes_a_hit_of_a_question_a_guess_does_not() -> None:
    question = Counter(rare=1, **{f"nobody's {number}": 1 for number in range(9)})
    assert weigh(question, CORPUS).is_hit({"rare": 1})
    guessed = weigh(question, CORPUS, meant={"some": (1.0, 2)})
    assert not guessed.is_hit({"some": 1})


def test_what_is_only_meant_tells_less_than_what_is_asked() -> None:
    weighing = weigh(Counter(rare=1), CORPUS, meant={"other": (0.6, 2), "rare": (0.6, 2)})
    assert weighing.weights["other"] == pytest.approx(0.6 * weighing.weights["rare"])
    assert set(weighing.finding) == {"rare", "other"}


def test_what_stands_in_the_name_counts_however_long_the_rest_is() -> None:
    def said(length: int, name: str) -> float:
        terms = index_terms(
            SearchDocument(
                tenant_id="t",
                kind=Kind.DMN_RULE,
                item_id="i",
                agent_id=None,
                name=name,
                content="row " * length,
            )
        )
        return impact(shape(terms.counts.get("refund", 1), terms.length), 100)

    assert said(100_000, "refund") > 1.0 > 0.01 > said(100_000, "other")
    assert said(20_000, "refund") == pytest.approx(said(300, "refund"), rel=0.1)
    assert said(50, "refund") > said(250, "refund")


def test_the_length_counts_by_the_mean_of_the_tenant() -> None:
    assert impact(shape(1, 500), 500) == pytest.approx(1.0, abs=0.01)
    assert impact(shape(1, 40), 40) == pytest.approx(1.0, abs=0.01)
    assert impact(shape(1, 40), 20) < 1.0 < impact(shape(1, 40), 80)


@given(st.integers(1, 700), st.integers(1, 120_000))
def test_a_posting_keeps_small_counts_and_nearly_all_of_a_length(count: int, length: int) -> None:
    kept, measured = unshape(shape(count, length))
    assert -(2**15) <= shape(count, length) < 2**15
    assert measured == pytest.approx(length, rel=0.003)
    assert kept == pytest.approx(count, rel=1e-9 if count <= 16 else 0.15)


def test_function_words_are_common_among_sentences_not_among_all_texts() -> None:
    the, some = little_term("the"), little_term("some")
    corpus = Corpus(1000, {IN_SENTENCES: 50, the: 48, some: 5, "word": 48})
    assert corpus.idf(the) < 0.1 < corpus.idf(some) < corpus.idf("word")


def test_a_named_item_comes_before_any_sum_of_words() -> None:
    corpus = Corpus(1000, {"rare": 2, "==refund": 1, "==refundpolicy": 1}, mean=100)
    names = ("==refund", "==refundpolicy", "==other")
    weighing = weigh(Counter(rare=3), corpus, names=names)
    short, long = (weighing.bm25({name: shape(1, 1)}) for name in names[:2])
    assert long > short > weighing.bm25({"rare": shape(500, 1)})
    assert weighing.finding == ("==refund", "==refundpolicy", "rare")
    assert weighing.is_hit({"==refund"})
