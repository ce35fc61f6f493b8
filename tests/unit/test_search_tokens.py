"""Text becomes the terms that people of either language look for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.search.documents import forms_of_runs
from core.knowledge.search.tokens import (
    MAX_CHARS,
    MAX_TERM_CHARS,
    scan,
    term_counts,
    written,
)


def terms(text: str) -> list[str]:
    return [token.term for token in scan(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("환불", ["환", "환불"]),
        ("환불 승인을", ["환", "환불", "승", "승인", "인을"]),
        ("返金の", ["返", "返金", "金", "金の", "の"]),
        ("Approvals approved", ["approv", "approv"]),
        ("the policy of a company", ["polici", "compani"]),
        ("don't", ["don"]),
        ("ÜBERGRÖSSE Straße", ["übergrösse", "strass"]),
        ("skillCommitter", ["skillcommitt", "skill", "committ"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("skill_api-client", ["skill", "api", "client"]),
        ("sha256", ["sha", "256"]),
        ("1,000,000", ["1000000"]),
        ("1000000.00 1.50 1.2.3 0.5", ["1000000", "1.5", "1.2.3", "0.5"]),
        ("1,2 12,34", ["1", "2", "12", "34"]),
        ("１２３", ["123"]),
        ("!?… \n\t🙂", []),
        ("a", ["a"]),
        ("Who", ["who"]),
        ("the IT team; the WHO and us", ["it", "team", "who"]),
        ("it팀은 US에서", ["it", "팀", "팀은", "us", "에", "에서"]),
        ("플랜 A 고객", ["플", "플랜", "a", "고", "고객"]),
        ("A refund I'M sure of, plan A", ["refund", "m", "sure", "plan", "a"]),
        ("PLEASE SEND IT TO THE MANAGER", ["pleas", "send", "manag"]),
        ("HR IT US 부서", ["hr", "it", "us", "부", "부서"]),
    ],
)
def test_text_is_taken_apart(text: str, wanted: list[str]) -> None:
    assert terms(text) == wanted


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("100만원", "1000000"),
        ("100 만 원", "1000000"),
        ("5천만 원", "50000000"),
        ("1.5억", "150000000"),
        ("3천", "3000"),
        ("0만", "0"),
    ],
)
def test_korean_units_also_give_the_number_in_full(text: str, number: str) -> None:
    assert number in terms(text)


def test_composed_and_decomposed_text_have_the_same_terms() -> None:
    for text in ("환불 승인이 늦어요", "Café RÉSUMÉ", "it팀과 IT", "the 팀it"):
        assert terms(text) == terms(unicodedata.normalize("NFD", text))


def test_terms_stay_short_and_long_texts_are_cut() -> None:
    assert {len(term) for term in terms("x" * 5_000)} == {MAX_TERM_CHARS}
    assert max(len(term) for term in terms("9" * 5_000 + "만")) == MAX_TERM_CHARS
    assert len(terms("가 " * MAX_CHARS)) == MAX_CHARS // 2


def test_only_the_first_distinct_terms_count() -> None:
    assert term_counts("alpha beta alpha gamma beta", limit=2) == {"alpha": 2, "beta": 1}


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_stand_where_they_say(text: str) -> None:
    held = unicodedata.normalize("NFC", text)
    for token in scan(text):
        assert 0 <= token.start < token.end <= len(held)
        assert token.term
        assert "\0" not in token.term
        token.term.encode("utf-8")


_PIECES = [
    "the",
    "IT",
    "who",
    "A",
    "환불",
    "스킬은",
    "ㅋ",
    "승ㅇ인",
    "承認",
    "ไทย",
    "๑",
    "1만",
    "2,000",
]
_PIECES += ["camelCase", "HTTPServer", "'", "_", ". ", " ", "refunds", "é"]


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_runs_have_the_forms_of_their_terms_and_function_words_marked(text: str) -> None:
    wanted = []
    for token in scan(text):
        wanted += [
            token.term,
            *([written(token.word)] if token.word not in {"", token.term} else []),
        ]
    found = [form for forms in forms_of_runs(text) for form in forms]
    assert [form for form in found if not form.startswith("~")] == wanted
