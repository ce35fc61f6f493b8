"""Rules are found by letters that a match cannot do without: none too many is tried, none left."""

from __future__ import annotations

import re

import pytest

from core.safety.said import Index, letters_of

# A pattern, texts for which its rule is tried, and texts for which it need not be.
TRIED = [
    ("abcde", ["xabcx"], ["xabx", "bcde"]),  # three letters of a row
    ("ab", ["", "zz"], []),  # too few to ask for
    ("안녕하세요", ["안녕"], ["안", "하세요"]),  # two syllables of Hangul
    ("go 가", ["가"], ["go "]),  # a syllable says more than Latin letters
    ("abc.def", ["abc def", "defabc"], ["abc", "def"]),  # all rows
    ("(?:abc|def)g", ["abc", "def"], ["g", "abd"]),  # one of some
    ("(?:abc|d)g", ["", "zz"], []),  # one of them has nothing to ask for
    ("abc.x|def", ["abc", "def"], ["x", ".x|"]),  # two ways
    ("(?:x|yz)abc|def", ["abc", "def"], ["x", "yz"]),
    ("abc(?:x.|y)def", ["abcdef"], ["abc", "def"]),
    ("abc(?:xyz)?", ["abc"], ["xyz"]),  # may be left out
    ("abc(?:xyz)+", ["abcxyz"], ["abc", "xyz"]),
    ("abc(?:xyz)*?", ["abc"], ["xyz"]),
    ("abc(?:xyz)+?", ["abcxyz"], ["abc", "xyz"]),
    ("(?=.*abc)(?=.*xyz)", ["abc xyz"], ["abc", "xyz"]),
    ("(?<=abc)xyz", ["xyz"], ["abc"]),  # it stands before the match
    ("(?!abc)xyz", ["xyz"], ["abc"]),
    ("[가나]", ["가", "나"], ["다", "xyz"]),
    ("[^가]", ["", "다"], []),
    ("[가-다]", ["", "다"], []),
    ("[가x]", ["", "x"], []),
    ("(?:가.?abcd|xyz).(?:11|22)", ["abc", "xyz"], ["가"]),  # the rarer of two parts
    ("(?:[가다]나?abcd|xyz).(?:11|22)", ["abc", "xyz"], ["가"]),
    ("(?:abc|def).(?:ghi|klm)", ["abc ghi", "def klm"], ["abc def", "klm"]),
    ("(?:abc|x).(?:ghi|klm)", ["ghi", "klm"], ["abc"]),
    (r"\w+@\w+", ["", "zz"], []),
]


def _asked(pattern: re.Pattern[str]) -> list[re.Pattern[str] | None]:
    return [pattern]


@pytest.mark.parametrize(("pattern", "tried", "left"), TRIED)
def test_a_rule_is_tried_for_what_it_cannot_do_without(
    pattern: str, tried: list[str], left: list[str]
) -> None:
    rule = re.compile(pattern)
    index = Index([rule], _asked)
    assert [text for text in (*tried, *left) if index.rules_for(letters_of(text))] == tried


def test_all_that_a_rule_needs_is_asked_for_whichever_way_it_matches() -> None:
    needs = re.compile("(?:pay|send).money")
    index = Index([0], lambda _: [re.compile("abc|def"), None, needs])
    assert index.rules_for(letters_of("def pay money")) == [0]
    assert index.rules_for(letters_of("abc send money")) == [0]
    for text in ("abc", "def money", "pay money", "abc pay"):
        assert index.rules_for(letters_of(text)) == []
    alone = Index([0], lambda _: [None, needs])
    assert [alone.rules_for(letters_of(text)) for text in ("pay money", "pay")] == [[0], []]


def test_a_rule_that_asks_for_nothing_is_always_tried() -> None:
    of_any_case = re.compile("abc", re.IGNORECASE)
    index = Index([0, 1, 2], lambda at: [[None], [of_any_case], [re.compile("."), of_any_case]][at])
    assert index.rules_for(letters_of("zz")) == [0, 1, 2]
    both = Index([0], lambda _: [re.compile("abc"), of_any_case])
    assert [both.rules_for(letters_of(text)) for text in ("abc", "zz")] == [[0], []]


def test_rules_of_many_are_tried_in_their_order_and_once() -> None:
    patterns = [re.compile(one) for one in ("abc|bcd", "xyz", ".", "bcd.xyz", "[가나]")]
    index = Index(patterns, _asked)

    def tried(text: str) -> list[int]:
        return [patterns.index(one) for one in index.rules_for(letters_of(text))]

    assert tried("abcd") == [0, 2]
    assert tried("xyz bcd") == [0, 1, 2, 3]
    assert tried("xyz 나") == [1, 2, 4]
    assert tried("") == [2]


def test_letters_are_rows_of_three_and_of_other_scripts_less() -> None:
    assert letters_of("abcd") == {"abc", "bcd"}
    assert letters_of("ab") == set()
    assert letters_of("abc") == {"abc"}
    assert letters_of("가나다") == {"가나다", "가나", "나다", "가", "나", "다"}
