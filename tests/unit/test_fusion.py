"""Rankings by words and by embedding are fused, with comparable scores."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.models import Hit, Kind, KnownText
from core.knowledge.search.fused import RRF_K, fuse_hits, fuse_texts, reciprocal_rank
from core.knowledge.search.vectors import closeness, cosine, embedded_text, noise, signs, unit

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=12), max_size=4)


def hit(item_id: str, score: float, why: str = "matches 환불") -> Hit:
    return Hit(id=item_id, kind=Kind.MEMORY, name="n", excerpt="e", score=score, why=why)


def known(item_id: str, score: float) -> KnownText:
    return KnownText(
        id=item_id, kind=Kind.MEMORY, name="n", agent_id="a", content="돈을 돌려준다", score=score
    )


def test_what_stands_high_in_both_comes_before_what_is_first_in_one() -> None:
    assert reciprocal_rank([["a", "b", "c"], ["d", "b", "e"]]) == ["b", "a", "d", "c", "e"]


def test_a_tie_goes_to_the_earlier_ranking() -> None:
    assert reciprocal_rank([["a"], ["b"]]) == ["a", "b"]
    assert reciprocal_rank([["b"], ["a"]]) == ["b", "a"]


def test_what_is_twice_in_a_ranking_counts_once() -> None:
    assert reciprocal_rank([["a", "b", "b"], ["c", "b"]])[0] == "b"
    assert reciprocal_rank([["a", "a"], ["c"]]) == ["a", "c"]


@given(RANKINGS)
def test_all_are_there_once_and_a_single_ranking_keeps_its_order(rankings: list[list[int]]) -> None:
    fused = reciprocal_rank(rankings)
    assert sorted(fused) == sorted({item for ranking in rankings for item in ranking})
    for ranking in rankings:
        assert reciprocal_rank([ranking]) == ranking


@given(RANKINGS, st.randoms(use_true_random=False))
def test_only_ties_depend_on_the_order_of_the_rankings(rankings: list[list[int]], random) -> None:  # type: ignore[no-untyped-def]
    def worth(item: int) -> float:
        ranks = [ranking.index(item) + 1 for ranking in rankings if item in ranking]
        return round(sum(1 / (RRF_K + rank) for rank in ranks), 12)

    shuffled = random.sample(rankings, len(rankings))
    worths = [worth(item) for item in reciprocal_rank(rankings)]
    assert worths == sorted(worths, reverse=True)
    assert worths == [worth(item) for item in reciprocal_rank(shuffled)]


@given(RANKINGS, st.integers(0, 20))
def test_rising_in_a_ranking_never_lets_an_item_fall(rankings: list[list[int]], item: int) -> None:
    before = reciprocal_rank(rankings)
    raised = [[item, *(other for other in ranking if other != item)] for ranking in rankings]
    if item in before:
        assert reciprocal_rank(raised).index(item) <= before.index(item)


def test_a_hit_says_when_it_came_by_meaning() -> None:
    both, words, meaning = fuse_hits(
        [hit("both", 0.9), hit("words", 0.4)], [known("both", 0.5), known("meaning", 0.3)], 5
    )
    assert (both.id, both.why) == ("both", "matches 환불; close in meaning")
    assert (words.id, words.why) == ("words", "matches 환불")
    assert (meaning.id, meaning.why) == ("meaning", "close in meaning")
    assert (meaning.excerpt, meaning.agent_id) == ("돈을 돌려준다", "a")


def test_a_score_is_the_greater_of_both_and_never_rises_further_down() -> None:
    fused = fuse_hits([hit("a", 0.2), hit("b", 0.1)], [known("c", 0.8), known("b", 0.6)], 5)
    assert [(one.id, one.score) for one in fused] == [("b", 0.8), ("c", 0.8), ("a", 0.2)]
    assert fuse_hits([hit("a", 0.2)], [], 5)[0].score == 0.2


def test_of_two_in_one_place_the_better_match_comes_first() -> None:
    weak, sure = [hit("words", 0.2)], [hit("words", 0.5)]
    meant = [known("meaning", 0.5)]
    assert [one.id for one in fuse_hits(weak, meant, 5)] == ["meaning", "words"]
    assert [one.id for one in fuse_hits(sure, meant, 5)] == ["words", "meaning"]


def test_items_of_two_kinds_with_one_id_stay_two() -> None:
    rule = known("a", 0.5).model_copy(update={"kind": Kind.DMN_RULE})
    assert len(fuse_hits([hit("a", 0.2)], [rule], 5)) == 2


@given(
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=8),
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=8),
    st.integers(0, 9),
)
def test_scores_stay_between_0_and_1_and_fall(
    words: list[tuple[int, float]], meant: list[tuple[int, float]], limit: int
) -> None:
    fused = fuse_hits(
        [hit(str(i), s) for i, s in words], [known(str(i), s) for i, s in meant], limit
    )
    assert len(fused) <= limit
    assert all(0 <= one.score <= 1 for one in fused)
    assert all(one.score >= other.score for one, other in pairwise(fused))


def test_texts_keep_their_score_by_words_and_none_is_lost() -> None:
    fused = fuse_texts([known("a", 0.9), known("b", 0.5)], [known("c", 0.8), known("b", 0.7)])
    assert [(one.id, one.score) for one in fused] == [("b", 0.5), ("a", 0.9), ("c", 0.0)]


def test_similarity_counts_from_what_unrelated_texts_have_in_common() -> None:
    assert closeness(1.0, 0.8) == 1.0
    assert closeness(0.9, 0.8) == pytest.approx(0.5)
    assert closeness(0.8, 0.8) == closeness(0.1, 0.8) == 0.0


def test_noise_is_the_usual_similarity_of_unrelated_texts() -> None:
    assert noise([(1.0, 0.0), (0.0, 1.0)]) == 0.0
    assert noise([unit((1, 0.8)), unit((0.8, 1)), unit((1, 1))]) > 0.95
    assert noise([(1.0, 0.0), (1.0, 0.0)]) < 1


@pytest.mark.parametrize("vector", [(), (0.0, 0.0), (float("nan"),), (float("inf"), 1.0)])
def test_what_has_no_direction_is_no_vector(vector: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="direction"):
        unit(vector)


def test_vectors_have_length_1_and_a_sign_a_component() -> None:
    assert unit((3.0, -4.0)) == pytest.approx((0.6, -0.8))
    assert cosine(unit((3.0, 4.0)), unit((3.0, 4.0))) == pytest.approx(1.0)
    assert signs((0.5, -0.5, 0.0)) == "100"


def test_a_name_that_the_text_begins_with_is_embedded_once() -> None:
    assert embedded_text("환불은 승인…", "환불은  승인 뒤에") == "환불은  승인 뒤에"
    assert embedded_text("refunds", "# Steps") == "refunds\n# Steps"


def test_an_item_named_as_the_query_stays_first_whatever_is_close() -> None:
    named = hit("rule", 1.0).model_copy(update={"kind": Kind.DMN_RULE, "name": "큰 표"})
    by_words = [named, hit("a", 0.9)]
    by_meaning = [known("a", 0.8), known("b", 0.7)]
    assert [one.id for one in fuse_hits(by_words, by_meaning, 1, query="큰표")] == ["rule"]
    assert [one.id for one in fuse_hits(by_words, by_meaning, 1, query="표")] == ["a"]
