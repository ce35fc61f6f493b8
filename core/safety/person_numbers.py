"""Numbers of persons: resident numbers, cards, passports, licences, those of other countries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.safety.rules import words

_DOCUMENT_SIGNS = words(
    "passport|ausweis|여권|licen|면허|ssn|social|insurance|nino|ni number"
    "|dni|nie|nif|aadh|cpf|cnpj|pesel|bsn|nric|hkid|curp|tfn|sin|nhs"
    "|my number|mynumber|codice|personnummer|steuer|tax|medicare|itin"
    "|pan|national|identi|id no|id number|id card|citizen|주민|외국인"
    "|personal number|personal id|cpr|henkil|hetu|pps|ird|chinese id|resident id|sécu|nir"
    "|her social"
    "|his social|등록|건강|의료|보험증|신분증|식별|cvc|cvv|security code"
)
NUMBERS = {"resident_number", "card", "national_id", "passport", "licence"}
_GAP = r"(?:[ .\-·/_]{0,3}|[^\d\n]{0,6}뒷\s?(?:자리|번호)[^\d\n]{0,4})"
_RESIDENT = re.compile(
    rf"((?:[0-9](?<![\d-][0-9]))\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d"
    rf"|3[01]))({_GAP})([0-9]\d{{6}})(?![\d-]|,\d)"
)
_CARD = re.compile(
    r"[0-9](?<![\d.-][0-9])\d{3}(?:(?:[ -]\d{4}){3}(?![\d-])|[ -]\d{6}[ -]\d{5}(?!\d)"
    r"|\d{11,12}(?![\d-]))"
)
# In groups of other lengths, or parted otherwise, where a word says that it is a card.
_ODD_CARD = re.compile(r"(?<![\d.-])\d(?:[ ._/-]{0,2}\d){12,18}(?![\d-])")
_GROUPED = re.compile(r"\d{4}(?:([ ._/-]{1,2})\d{4}\1\d{4}\1\d{4}|([ ._/-]{1,2})\d{6}\2\d{5})")
_CARD_WORDS = ("카드", "card", "visa", "amex", "mastercard", "cvc", "cvv", "유효", "exp", "결제")
# A number behind one of them is no person's, unless its checksum says so.
ORDERS = words(
    "주문|order|송장|운송장|tracking|invoice|serial|일련|품번|접수|lot"
    "|ticket|문서|예약번호|sku|part n|batch|id:|관리번호"
)
_RESIDENTS = ("주민", "등록번호", "외국인", "resident", "rrn", "registration", "생년월일")
_SURE = (
    ("national-id", re.compile(r"[0-9](?<![\d-][0-9])\d{2}-\d{2}-\d{4}(?![\d-])")),
    ("licence", re.compile(r"[12](?<![\d-][12])\d-\d{2}-\d{6}-\d{2}(?![\d-])")),
    ("national-id", re.compile(r"[0-9](?<![\d.-][0-9])\d{2}\.\d{3}\.\d{3}-\d{2}(?![\d-])")),
    ("passport", re.compile(r"[MSRGD](?<![\w-].)\d{3}[A-Z]\d{4}(?![A-Za-z0-9_-])")),
)
# A word that names the document, at most so many characters before the number.
_NAMED = (
    (
        "passport",
        re.compile(r"passport|여권"),
        re.compile(
            r"(?<![A-Za-z0-9_-])(?:[A-Z]{0,2}\d{3}[A-Z0-9]\d{4,5}[A-Z]?"
            r"|(?=(?:[A-Z]*\d){3})[A-Z][A-Z0-9]{7,8})(?![A-Za-z0-9_-])"
        ),
        160,
    ),
    (
        "licence",
        re.compile(
            r"driv\w{1,5} licen[cs]e|driver'?s licen[cs]e|licen[cs]e (?:no|number)"
            r"|운전\s?면허|면허\s?번호"
        ),
        re.compile(
            r"(?<![A-Za-z0-9_-])(?:\d{2}-?\d{2}-?\d{6}-?\d{2}|\d{2}-\d{6}-\d{2}"
            r"|[A-Z]{1,5}[ -]?\d{5,}[A-Z0-9 ]{0,8}"
            r"|\d{8,10})(?![A-Za-z0-9_-])"
        ),
        60,
    ),
    (
        "national-id",
        re.compile(
            r"\bssn\b|\bher social\b|\bhis social\b|personal (?:number|id|identity)|\bcpr\b"
            r"|henkil\w+"
            r"|\bhetu\b|\bppsn?\b|\bird\b|chinese id|resident id|numéro de sécu|\bnir\b|ausweis"
            r"|carte d'identit|identity document|social security"
            r"|national insurance|\bnino\b|\bni number|\bdni\b|\bnie\b|\bnif\b"
            r"|aadh?aar|\bcpf\b|\bcnpj\b|\bpesel\b|\bbsn\b|\bnric\b|\bhkid\b|\bcurp\b"
            r"|\btfn\b|\bsin\b|\bnhs\b|\bmy ?number\b|codice fiscale|personnummer"
            r"|steuer-?id|tax (?:id|file)|taxpayer|medicare|\bitin\b|\bpan\b|national (?:id"
            r"|identi)|identity (?:card|number|no)|\bid (?:card )?(?:no|number)"
            r"|citizen (?:id|number)|social insurance|주민|외국인\s?등록|등록\s?번호"
            r"|건강\s?보험|의료\s?보험|보험증|신분증\s?번호|개인\s?식별"
        ),
        re.compile(
            r"(?<![A-Za-z0-9_-])(?:\d{4} \d{4} \d{4}|\d{3} \d{3} \d{3,4}"
            r"|[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]|[XYZ]?\d{7,8}-?[A-Z]|[STFGM]\d{7}[A-Z]"
            r"|[A-Z]{5}\d{4}[A-Z]|[A-Z]\d{6}\(?[\dA]\)?|[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]"
            r"|\d{6,8}[-+A]\d{3}[0-9A-Z]|\d{17}[0-9X]|\d{7}[A-Z]{1,2}|\d-\d{10}|\d{4} \d{5} \d"
            r"|[12] \d\d \d\d \d\d \d{3} \d{3}(?: \d\d)?|\d\d \d{3} \d{3} \d{3}"
            r"|[A-Z]{4}\d{6}[A-Z]{6}[A-Z0-9]\d|\d\d-\d{7}|\d{3} \d\d \d{4}"
            r"|(?=(?:[A-Z]*\d){3})[A-Z][A-Z0-9]{7,11}"
            r"|\d{9,13}|\d{3}-\d{3}-\d{3,4})(?![A-Za-z0-9_-])"
        ),
        60,
    ),
)
_CODES = re.compile(r"\b(?:cvc2?|cvv2?|security code)\D{0,4}(\d{3,4})\b")
_NAMED_AFTER = re.compile(r"\s?[(,/]\s?(?:주민|외국인|resident|rrn)")
_EXACT = re.compile(r"[- ._/]")


@dataclass(frozen=True)
class Hit:
    """Something to mask: where it is, and what."""

    start: int
    end: int
    label: str


def near(lowered: str, signs: Sequence[str], before: int, after: int) -> list[tuple[int, int]]:
    """Return the stretches of a text around some words, joined where they overlap."""
    found = []
    for sign in signs:
        at = lowered.find(sign)
        while at >= 0:
            found.append(at)
            at = lowered.find(sign, at + len(sign))
    stretches: list[tuple[int, int]] = []
    for at in sorted(found):
        if stretches and at - before <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], at + after)
        else:
            stretches.append((max(0, at - before), at + after))
    return stretches


def within(
    pattern: re.Pattern[str], text: str, stretches: Sequence[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern in stretches of a text."""
    for start, end in stretches:
        yield from pattern.finditer(text, start, end)


def persons(plain: str, lowered: str) -> Iterator[Hit]:
    """Yield the numbers of persons in a text; `lowered` is the same in lower case."""
    yield from _residents(plain, lowered)
    yield from _cards(plain, lowered)
    for label, pattern in _SURE:
        for one in pattern.finditer(plain):
            yield Hit(one.start(), one.end(), label)
    documents = near(lowered, _DOCUMENT_SIGNS, 12, 40)
    if not documents:
        return
    for label, names, pattern, reach in _NAMED:
        named: list[tuple[int, int]] = []
        for word in within(names, lowered, documents):
            begin = max(word.end(), named[-1][1] if named else 0)
            named.append((begin, max(begin, min(len(plain), word.end() + reach))))
        for one in within(pattern, plain, named):
            if not _is_business(one[0]) and not _is_phone(one[0]):
                yield Hit(one.start(), one.end(), label)


def _residents(plain: str, lowered: str) -> Iterator[Hit]:
    for one in _RESIDENT.finditer(plain):
        before = lowered[max(0, one.start() - 20) : one.start()]
        named = any(word in before for word in _RESIDENTS)
        named = named or bool(_NAMED_AFTER.match(lowered, one.end()))
        named = named or "뒷" in one[2]
        summed = _resident_sum(one[1] + one[3])
        other = any(word in before for word in ORDERS if word != "id:")
        parted = bool(set("-_") & set(one[2])) and one[3][0] in "12345678"
        if named or summed or (parted and not other):
            yield Hit(one.start(), one.end(), "resident-number")


def _resident_sum(digits: str) -> bool:
    """Whether the checksum fits; since October 2020 numbers are random, so a misfit says nothing.

    Foreigners' numbers (5 to 8) are summed to 13.
    """
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    total = sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))
    modulus = 13 if digits[6] in "5678" else 11
    return digits[6] in "12345678" and (modulus - total % 11) % 10 == int(digits[12])


def _cards(plain: str, lowered: str) -> Iterator[Hit]:
    any_card = False
    for one in (*_CARD.finditer(plain), *_ODD_CARD.finditer(plain)):
        digits = _EXACT.sub("", one[0])
        grouped = bool(_GROUPED.fullmatch(one[0]))
        around = lowered[max(0, one.start() - 40) : one.end() + 20]
        named = any(word in around for word in _CARD_WORDS)
        before = lowered[max(0, one.start() - 20) : one.start()]
        other = any(word in before for word in ORDERS if word != "id:" or not grouped)
        if one.re is _ODD_CARD and not grouped:
            named = named and any(word in around for word in ("card", "카드")) and _luhn(digits)
            other = True
        issued = digits[0] in "3456" or digits.startswith(("2", "94", "90"))
        if set(digits) != {"0"} and (named or (issued and _luhn(digits) and not other)):
            any_card = True
            yield Hit(one.start(), one.end(), "card")
    if any_card or "card" in lowered or "카드" in lowered:
        for one in _CODES.finditer(lowered):
            yield Hit(one.start(1), one.end(1), "card")


def _luhn(digits: str) -> bool:
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if at % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_business(number: str) -> bool:
    return bool(re.fullmatch(r"\d{3}-\d{2}-\d{5}", number))


def _is_phone(number: str) -> bool:
    """Whether a number is that of a phone: by its hyphens, or by what all mobiles begin with."""
    return bool(re.fullmatch(r"0\d{1,2}-\d{3,4}-\d{4}|01[016789]\d{7,8}|1[568]\d\d-\d{4}", number))
