"""Patterns of numbers, amounts, clock times and dates in English and Korean (data)."""

from __future__ import annotations

import re
from collections.abc import Iterable

HANGUL_COUNTS = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
    "열": 10, "열한": 11, "열두": 12, "스무": 20, "백": 100, "천": 1000, "만": 10000,
    "석": 3, "넉": 4,
}  # fmt: skip
HANGUL_DAYS = {
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "일주일": 7, "열흘": 10,
    "보름": 15, "열닷새": 15,
}  # fmt: skip
ENGLISH_COUNTS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1000,
    "million": 10**6, "dozen": 12,
}  # fmt: skip
SCALES = {
    "십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12,
    "k": 1000, "thousand": 1000, "million": 10**6, "billion": 10**9,
}  # fmt: skip
SINO_DIGITS = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", start=1)}
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
# After these words `may` and `march` are months, otherwise verbs.
BEFORE_MONTH = frozenset(
    (
        "in",
        "by",
        "until",
        "till",
        "of",
        "since",
        "from",
        "every",
        "early",
        "late",
        "before",
        "after",
    )
)
TIME, DATE, CLOCK = "minute", "date", "clock"
WRITTEN = "#"  # begins the measure of a number that counts as it is written
DAY = 1440  # minutes
# Unit as written -> (measure, factor). The measure of a plain count is "".
UNITS: dict[str, tuple[str, int]] = {
    **dict.fromkeys(("hour", "hours", "hrs", "시간"), (TIME, 60)),
    **dict.fromkeys(("day", "days", "일", "일간"), (TIME, DAY)),
    **dict.fromkeys(("week", "weeks", "주", "주일", "주간"), (TIME, 7 * DAY)),
    **dict.fromkeys(("minute", "minutes", "min", "mins", "분"), (TIME, 1)),
    **dict.fromkeys(("second", "seconds", "초"), ("second", 1)),
    **dict.fromkeys(("month", "months", "개월", "달"), ("month", 1)),
    **dict.fromkeys(("year", "years", "년", "년간"), ("month", 12)),
    **dict.fromkeys(("won", "krw", "원"), ("won", 1)),
    **dict.fromkeys(("dollar", "dollars", "usd", "달러", "불"), ("dollar", 1)),
    **dict.fromkeys(("euro", "euros", "eur", "유로"), ("euro", 1)),
    **dict.fromkeys(("yen", "jpy", "엔"), ("yen", 1)),
    **dict.fromkeys(("%", "percent", "퍼센트", "프로"), ("percent", 1)),
    **dict.fromkeys(("times", "번", "회", "차례"), ("", 1)),
    **dict.fromkeys(("people", "persons", "명", "인"), ("", 1)),
    **dict.fromkeys(("items", "pieces", "개", "건", "장", "쪽", "대"), ("", 1)),
}
SIGNS = {"$": "dollar", "₩": "won", "€": "euro", "¥": "yen", "£": "pound"}
UNITS |= {sign: (what, 1) for sign, what in SIGNS.items()}
NIGHT = frozenset(("pm", "오후", "저녁", "밤"))
MORNING = frozenset(("am", "오전", "아침", "새벽"))


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_LATIN_UNIT = _either(unit for unit in UNITS if unit.isascii() and unit.isalpha())
_HANGUL_UNIT = _either(unit for unit in UNITS if not unit.isascii() and unit.isalpha())
_SCALE = r"(?:십|백|천)?[만억조]|[십백천](?=\s?(?:만|억|원|번|회|명|개|건))"
_COUNTERS = (
    "부|통|권|벌|켤레|박스|상자|병|잔|곳|대|배|살|군데|가지|단계|층|칸|조각|판|봉지|세트|자리|끼"
    "|묶음|다발|줄|팀"
)
# What makes a number a name as written: `버전 1.10` is not 1.1, `사번 07` not 7.
AS_WRITTEN = re.compile(
    r"(?:version|ver\.?|release|code|no\.?|number|id|zip|badge|버전|번호|코드|사번|학번|순번|호수)"
    r"(?:은|는|이|가|을|를|의|:)?\s?$"
)
PHONE = re.compile(r"\d{2,3}\)?[-. ]?\d{3,4}[-. ]\d{4}(?!\d)")
_SINO_DIGIT = f"[{''.join(SINO_DIGITS)}]"
_SINO = rf"{_SINO_DIGIT}?[천백십]"
_NO_WORD_GOES_ON = (
    r"(?![가-힣])|(?=에|의|이|은|을|가|를|도|만|까지|마다|동안|간|안|씩|쯤|뒤|후|전|내|째|부터"
    r"|으로|로|과|와|보다|입|인)"
)

CLOCKS = re.compile(
    rf"""
    (?:(?P<half>오전|오후|아침|저녁|밤|새벽|낮)\s*)?
        (?P<hour>\d{{1,2}}|{_either(list(HANGUL_COUNTS)[:12])})\s?시(?!간)
        (?:\s?(?P<min>\d{{1,2}})분|\s?(?P<thirty>반))?
    |\b(?P<hour24>\d{{1,2}}):(?P<min24>\d{{2}})(?:\s?(?P<half24>[ap]\.?m\b\.?))?
    |\b(?P<hour12>\d{{1,2}})\s?(?P<half12>[ap]\.?m\b\.?|o'clock)
    |(?P<noon>\b(?:12\ noon|noon|midday)\b|정오)
    |(?P<midnight>\bmidnight\b|자정)
    """,
    re.VERBOSE,
)
DATES = re.compile(
    rf"""
    (?P<month>\d{{1,2}})월(?:\s?(?P<day>\d{{1,2}})일)?
    |\b(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?)?
        (?P<name>{"|".join(MONTHS)})\b
        (?:\s(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:,]?\d))?
    """,
    re.VERBOSE,
)
AMOUNTS = re.compile(
    rf"""
    (?P<sign>[$₩€¥£]\s?)?
    (?P<minus>(?<![\w.)])-|영하\s?|\bminus\s|지하\s?(?=\d+\s?층))?
    (?P<parts>(?:(?:{_NUMBER})\s?(?:{_SCALE}|(?:k|thousand|million|billion)\b)?\s?)+)
    (?P<unit>(?:{_LATIN_UNIT})\b|[%$₩€¥£](?!\s?\d)|{_HANGUL_UNIT})?
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    """,
    re.VERBOSE,
)
# `삼천 원`, `오만원`, `이십 명`; a single digit is too often another word (`이 년`).
SINO = re.compile(
    rf"""
    (?<![가-힣\d])(?!만일)(?:(?P<large>(?:{_SINO})*{_SINO_DIGIT}?)(?P<scale>[만억])\s?)?
        (?P<small>(?:{_SINO})*{_SINO_DIGIT}?)
        \s?(?P<unit>{_HANGUL_UNIT})(?:{_NO_WORD_GOES_ON})
    """,
    re.VERBOSE,
)
PARTS = re.compile(rf"({_NUMBER})\s?((?:십|백|천)?[만억조]|[십백천]|k|thousand|million|billion)?")
WORDED = re.compile(
    rf"""
    \b(?P<count>{_either(ENGLISH_COUNTS)}|a|an)\s(?P<unit>{_LATIN_UNIT})\b
    |\b(?:a\s)?(?P<alone>{_either(set(ENGLISH_COUNTS) - {"one"})})\b
    |(?<![가-힣])(?P<days>{_either(HANGUL_DAYS)})
    |(?<![가-힣])(?P<count_ko>{_either(HANGUL_COUNTS)})\s?
        (?P<unit_ko>번|명|개|달|시간|사람|주|건|차례|장|쪽|(?<=\s)(?:{_COUNTERS}))
        (?:{_NO_WORD_GOES_ON})
    """,
    re.VERBOSE,
)
