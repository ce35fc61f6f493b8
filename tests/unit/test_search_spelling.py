"""Unknown words are corrected at one slip of the keyboard, never at more."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.search.spelling import (
    MAX_MEANT,
    MAX_WORDS,
    guesses,
    keys,
    likely,
    near,
    slips,
)
from core.knowledge.search.tokens import read_question, written


def terms(query: str, known: Collection[str]) -> dict[str, float]:
    """Return the terms that a query may mean in an index of these keys."""
    return likely(guesses(read_question(query), known.__contains__), known)


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("환뷸", "환불"),
        ("환부", "환불"),
        ("횐불을", "환불"),
        ("환블이라면", "환불"),
    ],
)
def test_a_syllable_with_one_other_letter_is_found(typed: str, right: str) -> None:
    assert set(terms(typed, {"환불": 3, "승인": 2})) == {right}


@pytest.mark.parametrize("typed", ["refnud", "refun", "refunnd", "rrefund", "regund", "erfund"])
def test_a_word_with_one_letter_amiss_is_found(typed: str) -> None:
    assert set(terms(typed, {"refund": 3})) == {"refund"}


def test_a_slip_is_told_from_the_word_as_written_and_means_its_stem() -> None:
    assert set(terms("custoemrs", {written("customers"): 1, "custom": 4})) == {"custom"}


def test_two_slips_and_short_words_are_not_guessed_at() -> None:
    assert terms("rfeudn", {"refund": 3}) == {}
    assert terms("횐뷸", {"환불": 3}) == {}
    assert terms("fix", {"fax": 3}) == {}
    assert terms("x" * 40, {"x" * 39: 3}) == {}


def test_what_is_known_is_taken_at_its_word() -> None:
    assert terms("환율", {"환율": 1, "환불": 9}) == {}
    assert terms("refunds", {"refund": 3, "refinds": 1}) == {}


def test_words_run_together_are_parted_where_both_are_known() -> None:
    known = {"refund": 3, written("approval"): 2, "approv": 2}
    assert set(terms("refundapproval", known)) == {"refund", "approv"}
    assert terms("refundzzz", known) == {}


def test_words_that_a_blank_parts_are_joined() -> None:
    assert set(terms("time out", {"time": 1, "out": 1, written("timeout"): 1, "timeout": 1})) == {
        "timeout"
    }
    assert set(terms("부가 세", {"부가": 1, "가세": 1})) == {"가세"}
    assert terms("환경 보호", {"환경": 1, "보호": 1, "경보": 1}) == {}


def test_the_likeliest_slips_are_taken() -> None:
    known = {other + "불": 1 for other, _ in slips("흔")}
    found = terms("흔불", known)
    assert len(found) == MAX_MEANT
    likely = {other + "불" for other, is_near in slips("흔") if is_near}
    assert set(found) <= likely


def test_only_the_first_unknown_words_are_guessed_at() -> None:
    found = guesses(read_question("refnud, reufnd, rfeund, erfund"), lambda _: False)
    assert len(found) == MAX_WORDS


@pytest.mark.parametrize(
    ("one", "other"), [("a", "s"), ("e", "r"), ("ㅓ", "ㅏ"), ("ㅐ", "ㅔ"), ("ㄱ", "ㄲ")]
)
def test_letters_side_by_side_on_one_key_or_alike_are_near(one: str, other: str) -> None:
    assert near(one, other)
    assert near(other, one)
    assert not near(one, "ㅋ")


@given(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3))
def test_slips_of_a_syllable_are_other_syllables_and_go_both_ways(syllable: str) -> None:
    others = [other for other, _ in slips(syllable)]
    assert len(others) == len(set(others)) == 19 + 21 + 28 - 3
    assert all(syllable in {back for back, _ in slips(other)} for other in others[:3])


@given(st.text(max_size=60))
def test_any_query_can_be_guessed_at(text: str) -> None:
    found = guesses(read_question(text), lambda _: False)
    assert all(0 < sure < 1 for sure in likely(found, keys(found)).values())
