"""String functions come to what the DMN TCK publishes. Each case cites its test.

Clause of DMN 1.3: 10.3.4.3 (string functions). `string join` is of DMN 1.4.
"""

from __future__ import annotations

import pytest

from tests.support.feel import comes_to, reason

VALUES = [
    ("0018", '"가" + "나" + "다"', '"가나다"'),
    ("0067", 'split("John Doe", "\\s")', '["John", "Doe"]'),
    ("0067", 'split("a;b;c;;", ";")', '["a", "b", "c", "", ""]'),
    ("0067", 'split(delimiter: ",", string: "x,y")', '["x", "y"]'),
    ("0002", 'starts with("foobar", "fo")', "true"), ("0002", 'ends with("foobar", "r")', "true"),
    ("0083", 'string length("\\U01F40E\\U01F640")', "2"), ("0083", 'string length("🐎ab")', "3"),
    ("0102", '"\\u0041"', '"A"'), ("0102", '"a\\nb" = "a\nb"', "true"),
    ("0102", '"\\\\"', '"\\\\"'),
    ("1103", 'substring("foobar", 3)', '"obar"'), ("1103", 'substring("foobar", 3, 3)', '"oba"'),
    ("1103", 'substring("foobar", -2, 1)', '"a"'),
    ("1103", 'substring("foobar", -6, 6)', '"foobar"'),
    ("1103", 'substring("foobar", 3, 3.8)', '"oba"'),
    ("1103", 'substring(string: "foobar", start position :3)', '"obar"'),
    ("1103", 'substring("\\U01F40Eab", 2)', '"ab"'),
    ("1104", 'string length("")', "0"), ("1104", 'string length(string: "abc")', "3"),
    ("1105", 'upper case("aBc4")', '"ABC4"'), ("1106", 'lower case("aBc4")', '"abc4"'),
    ("1107", 'substring before("foobar", "bar")', '"foo"'),
    ("1107", 'substring before("foobar", "xyz")', '""'),
    ("1107", 'substring before("f", "")', '""'),
    ("1108", 'substring after("foobar", "ob")', '"ar"'),
    ("1108", 'substring after("foobar", "")', '"foobar"'),
    ("1109", 'replace("a", "[b-z]", "#")', '"a"'), ("1109", 'replace("abc", "def", "#")', '"abc"'),
    ("1109", 'replace("foobar", "^fo*b*", "#")', '"#ar"'),
    ("1109", 'replace("abracadabra", "a.*a", "*")', '"*"'),
    ("1109", 'replace("abracadabra", "a.*?a", "*")', '"*c*bra"'),
    ("1109", 'replace("AAAA", "A+?", "b")', '"bbbb"'),
    ("1109", 'replace("reluctant", "r.*?t", "X")', '"Xant"'),
    ("1109", 'replace("abc", "[A-Z]", "#", "i")', '"###"'),
    ("1109", 'replace("a b c d ", "[a-z]", "#", "x")', '"# # # # "'),
    ("1109", 'replace("abc", ".^[d-z]*", "#", "smix")', '"abc"'),
    ("1109", 'replace(input: "abc", pattern: "[a-z]", replacement: "#")', '"###"'),
    ("1110", 'contains("foobar", "ob")', "true"),
    ("1110", 'contains(string: "a", match: "A")', "false"),
    ("1111", 'matches("abracadabra", "bra", null)', "true"),
    ("1111", 'matches("\\nabcd\\ndefg\\n", "^$", "m")', "true"),
    ("1111", 'matches("abcd\\n\\ndefg\\n ", "^$", "m")', "true"),
    ("1111", 'matches("Mary\\u000DJones", "Mary.Jones")', "false"),
    ("1111", 'matches("abZ", "[A-Z]*", "i")', "true"),
    ("1111", 'matches("\\u212A", "k", "i")', "true"),
    ("1111", 'matches("Q", "[^Q]", "i")', "false"),
    ("1111", 'matches("hello world", "hello\\ sworld", "x")', "true"),
    ("1111", 'matches("hello world", "he ll o[ ]worl d", "x")', "true"),
    ("1111", 'matches("a", "a[^b]")', "false"), ("1111", 'matches("a ", "a[^b]")', "true"),
    ("1.4", 'string join(["가", null, "나"], "-")', '"가-나"'), ("1.4", 'string join([])', '""'),
]  # fmt: skip
NULLS = [
    ("0067", 'split("foo", null)'), ("0067", 'split(null, ",")'),
    ("1103", 'substring("foobar", 0)'),
    ("1103", 'substring(null, 1)'), ("1103", 'substring("foobar", "1")'),
    ("1104", "string length(null)"), ("1105", "upper case(null)"), ("1106", "lower case(1)"),
    ("1107", 'substring before("foobar", null)'), ("1108", 'substring after(null, "a")'),
    ("1110", 'contains("foobar", null)'), ("1110", 'contains(null, "a")'),
    ("1111", 'matches(null, "pattern")'), ("1111", 'matches("input", null)'),
    ("1111", 'matches("abracadabra", "bra", "p")'), ("1111", 'matches("input", "pattern", " ")'),
    ("1111", 'matches("input", "pattern", "X")'), ("1111", 'matches("h", "(.)\\3")'),
    ("1111", 'matches("input", [])'), ("1111", 'matches("abcd", "(asd)[asd\\0]")'),
]  # fmt: skip
NAMED = [
    ("1109", 'replace("abracadabra", "a(.)", "a$1$1")', "groups ('$1') in the replacement"),
    ("1111", 'matches("aA", "(a)\\1", "i")', "'\\1' is not supported"),
    ("1111", 'matches("x", "[A-Z-[OI]]", "i")', "'[' in a set is not supported"),
    ("1111", 'matches("hello", "\\p{IsBasicLatin}+")', "'\\p' is not supported"),
]


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_a_string_is_as_published(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_what_has_no_string_is_null_as_published(case: str, text: str) -> None:
    assert reason(text), case


@pytest.mark.parametrize(("case", "text", "why"), NAMED)
def test_patterns_that_are_not_supported_say_so_by_name(case: str, text: str, why: str) -> None:
    assert why in reason(text), case
