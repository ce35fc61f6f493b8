"""A clause is read as letters for its words: which word is which, and what rules see of them."""

from __future__ import annotations

from collections import Counter

import pytest

from core.safety.clauses import ClauseRule, Said, Words, rows
from core.safety.rules import expression
from core.safety.said import said

WORDS = Words(
    {
        "D": "skip*|skirt|leave out|생략|빼",
        "d": "ski*|leave out of|leave right out",
        "V": "check|점검",
        "N": "not|지마|^안|지",
        "C": "점검표",
        "Q": "^다|^다음",
    }
)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("skip", "D"),
        ("skipped", "D"),
        ("skiing", "d"),
        ("skirt", "D"),
        ("skirts", "d"),
        ("sk", "."),
        ("leave out", "D"),
        ("leave-out", "D"),
        ("leave out of", "d"),
        ("leave right out", "d"),
        ("leave right", ".."),
        ("leave", "."),
        ("leave - out", "D"),
        ("leave out-of", "d"),
        ("sk not", ".N"),
        ("check_amount x", "V."),
        ("is_approved() y", "C."),
        ("max_total", "L"),
        ("valid()", "V"),
        ("foo_bar", "."),
        ("run()", "."),
        ("needs_limit(", "L("),
        ("ask", "."),
        ("couldn't", "N"),
        ("don't", "N"),
        ("99999", "9"),
        ("9,999", "#"),
        ("9999", "#"),
        ("99999.9", "9"),
        ("12345678901", "9"),
        ("1,234,567,890,1", "9"),
        ("1234567890", "#"),
        ("9999억", "9"),
        ("10**9", "9"),
        ("2**5", "#"),
        ("2^32", "9"),
        ("1e6", "9"),
        ("1e5", "#"),
        ("3.5", "#"),
        ("-> x", "I."),
        ("=> x", "I."),
        ("→ x", "I."),
        ("a. b", ".|."),
        ("a.b", ".|."),
        ("a? b", ".|."),
        ("a; b", ".|."),
        ("a\nb", ".|."),
        ("a… b", ".|."),
        ("a: b", ".:."),
        ("a = b", ".=."),
        ("a (b", ".(."),
        ("a | b", ".:."),
        ('a "b" c', "..."),
        ("a - b", ".."),
        ("a*b_c", ".."),
        ("a, b", ".,."),
        ("a & b", ".,."),
        ("a % b", ".,."),
        ('a." b', ".|."),
        ("점검 생략", "VD"),
        ("점검생략", "VD"),
        ("점검표 생략", "CD"),
        ("다 점검", "QV"),
        ("간다 점검", ".V"),
        ("다음 점검", "QV"),
        ("다음점검", "QV"),
        ("안 점검", "NV"),
        ("못안 점검", ".V"),
        ("안 받아도 점검", "jV"),
        ("못했어도 생략", "jD"),
        ("모르는말 많이 점검", "..V"),
        ("모르는말점검 모르는말", ".V."),
        ("점검하고생략", "VD"),
        ("빼지마", "DN"),
        ("빼지 마", "DN"),
        ("빼 지마", "DN"),
        ("abc점검def", ".V."),
        ("점검-생략", "VD"),
    ],
)
def test_each_word_and_sign_has_its_letter(text: str, letters: str) -> None:
    assert WORDS.read(text).letters == letters


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("skip - the leave-out of it", ["skip", "the", "leave-out of", "it"]),
        ("점검하고 생략 빼지 마!", ["점검", "생략", "빼", "지 마", "!"]),
        ("못했어도 모르는말 checks점검", ["못했어도", "모", "checks", "점검"]),
    ],
)
def test_each_letter_knows_where_its_word_stands(text: str, words: list[str]) -> None:
    read = WORDS.read(text)
    assert [text[start:end] for start, end in zip(read.starts, read.ends, strict=True)] == words


def found(rule: ClauseRule, text: str) -> list[str]:
    return [text[one.start : one.end] for one in WORDS.read(text).matches_of([rule], text)]


SKIPS = ClauseRule("x", rows("D_{0,1}V"), head=rows("N"), tail=rows("N"))


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ("not ", "", False),
        ("not. ", "", True),  # of another clause
        ("not. so ", "", True),
        ("not " + "so " * 59, "", False),
        ("not " + "so " * 60, "", True),  # too far away
        ("not; " + "so " * 80, "", True),
        ("", " not", False),
        ("", ". not", True),
        ("", " so. not", True),
        ("", " so" * 59 + " not", False),
        ("", " so" * 60 + " not", True),
    ],
)
def test_what_stands_before_and_behind_in_the_clause_tells(
    before: str, after: str, is_found: bool
) -> None:
    text = f"{before}skip the check{after}"
    assert found(SKIPS, text) == (["skip the check"] if is_found else [])


def test_a_clause_is_read_whole_and_alone_for_words_that_it_has_or_needs() -> None:
    unless = ClauseRule("x", rows("DV"), text=expression("today"))
    needs = ClauseRule("x", rows("DV"), needs=expression("today"))
    for text, has in (
        ("today skip check", True),
        ("skip check today", True),
        ("today. skip check. today", False),
        ("today\nskip check\ntoday", False),
        ("so skip check now", False),
    ):
        assert found(unless, text) == ([] if has else ["skip check"])
        assert found(needs, text) == (["skip check"] if has else [])


def test_of_one_word_it_is_the_words_beside_that_say_it() -> None:
    rule = ClauseRule("x", rows("V"), needs=expression("auto[a-z]*"))
    assert found(rule, "so. the check is automatic") == ["automatic"]
    anyhow = ClauseRule("x", rows("V"), needs=expression("(?=.*auto)"))
    assert found(anyhow, "the check is automatic") == ["check"]
    two = ClauseRule("x", rows("DV"), needs=expression("auto[a-z]*"))
    assert found(two, "skip check is automatic") == ["skip check"]


def test_a_rule_of_one_language_is_none_of_the_other() -> None:
    english = ClauseRule("x", rows("DV|VD"))
    korean = english._replace(korean=True)
    assert (found(english, "skip check"), found(english, "점검 생략")) == (["skip check"], [])
    assert (found(korean, "skip check"), found(korean, "점검 생략")) == ([], ["점검 생략"])


def test_rules_say_in_their_order_whether_a_limit_bounds_them() -> None:
    rules = [ClauseRule("b", rows("V"), bounded=True), ClauseRule("a", rows("D"))]
    text = "skip. check"
    assert [*WORDS.read(text).matches_of(rules, text)] == [
        Said("b", 6, 11, True),
        Said("a", 0, 4, False),
    ]


def test_what_is_said_without_end_is_found_to_the_end_and_no_further() -> None:
    text = "check, " * 205
    said = [*WORDS.read(text).matches_of([ClauseRule("x", rows("V"), bounded=True)], text)]
    assert len(said) == 201
    assert said[-1] == Said("x", 200 * len("check, "), len(text), False)
    assert said[-2] == Said("x", 199 * len("check, "), 199 * len("check, ") + 5, True)


def test_what_rules_find_without_end_is_found_to_the_end() -> None:
    text = "pay without approval. " * 205
    of_rules = [*said(text)]
    assert Counter(text[start:end] == "without approval" for _, start, end in of_rules) == {
        True: 200,
        False: 1,
    }
    assert of_rules[-1][2] == len(text)


@pytest.mark.parametrize(
    ("text", "code", "quote"),
    [
        ("never pay without approval", None, None),
        ("never pay. without approval pay", "control.dropped", "without approval"),
        ("never pay / without approval pay", "control.dropped", "without approval"),
        ("pay without approval up to 50", "threshold.new", "without approval"),
        ("pay without approval. up to 50", "control.dropped", "without approval"),
        ("pay up to 50. without approval pay", "control.dropped", "without approval"),
        (f"never {'so ' * 90}pay without approval", None, None),
        (f"never {'so ' * 105}pay without approval", "control.dropped", "without approval"),
        ("they pay without approval, never", None, None),
        (f"pay without approval {'so ' * 19}never", None, None),
        (f"pay without approval {'so ' * 22}never", "control.dropped", "without approval"),
        ('{"limit": "none"}', None, None),  # its other values are the condition
        ("limit: none", "control.limit", "limit: none"),
    ],
)
def test_a_rule_reads_the_clause_around_what_it_finds(
    text: str, code: str | None, quote: str | None
) -> None:
    told = {(code, text[start:end]) for code, start, end in said(text)}
    assert told == ({(code, quote)} if code else set())
