"""Numbers, dates and times of day in Korean and English text, with their units."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from core.agent.offline.text import words

_BIG = {
    "십": 10, "백": 10**2, "천": 10**3, "만": 10**4, "십만": 10**5, "백만": 10**6,
    "천만": 10**7, "억": 10**8, "조": 10**12,
    "hundred": 10**2, "k": 10**3, "thousand": 10**3, "million": 10**6, "m": 10**6,
    "billion": 10**9, "grand": 1000,
}  # fmt: skip
_NATIVE = {
    "한": 1, "두": 2, "세": 3, "석": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6,
    "일곱": 7, "여덟": 8, "아홉": 9,
    "하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "열흘": 10, "보름": 15,
    "스무": 20,
}  # fmt: skip
_SPOKEN = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "a dozen": 12, "half a dozen": 6, "a": 1, "an": 1,
}  # fmt: skip
_SPOKEN_LARGE = {"hundred": 100, "thousand": 1000, "grand": 1000, "million": 10**6}
_TENS = {"열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80}
_NATIVE |= {
    f"{ten}{one}": number + digit
    for ten, number in _TENS.items()
    for one, digit in [("", 0), *((one, digit) for one, digit in _NATIVE.items() if digit < 10)]
}
_SINO = {sign: number for number, sign in enumerate("일이삼사오육칠팔구", 1)}
_STEPS = {"십": 10, "백": 100, "천": 1000}
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SCALES = r"(?:[십백천]?[만억조]|[십백천])"
_LARGE = r"(?:hundred|thousand|million|billion|grand)\b|(?<=\d)[kKM]\b"
_KOREAN_UNITS = (
    "원|달러|불(?![가-힣])|유로|엔|위안|건|개월|개|명|인분|인|세|살|일|주|달|년|시간|분|초|%|퍼센트|프로|도"
    "|점|회|번|차례|학년|"
    "킬로그램|킬로미터|킬로와트시|킬로|그램|톤|미터|kWh|kW|kg|km|cm|mm|ppm|dB|°C|℃|g|m|인승|평"
    "|층|장|대|줄|자|글자|페이지|쪽|박스|상자|병|권|평|박|잔|"
    "GB|MB|L|mL|KRW|USD|EUR|학점|등급|등|위|단계|곳|팀|호|칸|석|끼|리터|배|데시벨|볼트|와트"
    "|포인트|ms|μm|㎛|ml|mg|cc|rpm|Mbps|bpm|mmHg|Hz|km/h|㎡|제곱미터"
)
_ENGLISH_UNITS = (
    "%|percent|per cent|KRW|USD|EUR|GBP|won|dollars?|euros?|pounds?|kg|kgs|kilos?|grams?|g|tons?|"
    "tonnes?|lbs?|km/h|kph|mph|km|kilomet(?:re|er)s?|miles?|met(?:re|er)s?|cm|mm|bar|m|feet"
    "|foot|ft|"
    "years?|months?|weeks?|(?:working |business |calendar )?days?|nights?|hours?|hrs?|minutes?"
    "|mins?|"
    "seconds?|degrees?(?: C| Celsius)?|°C|°|points?|items?|people|persons?|guests?|users?|seats?|"
    "units?|pieces?|pages?|words?|characters?|times|copies|boxes|pallets?|lit(?:re|er)s?|GB|MB|"
    "employees|staff|students|passengers|bags|tickets|attempts|failures|strikes|absences|kWh"
    "|bucks?|quid|decibels|ms|ml|mg|rpm|bpm|mmHg|Mbps|cents?|acres?|knots?|ppm"
)
_KOREAN_UNITS = "|".join(sorted(_KOREAN_UNITS.split("|"), key=len, reverse=True))
_KOREAN_UNITS = _KOREAN_UNITS.replace("|초|", "|초(?!과)|")
_UNIT = {
    "살": "세", "달": "개월", "퍼센트": "%", "프로": "%", "킬로그램": "kg",
    "그램": "g", "킬로미터": "km",
    "미터": "m", "킬로": "kg", "번": "회", "차례": "회", "인": "명", "글자": "자",
    "불": "달러", "쪽": "페이지",
    "percent": "%", "per cent": "%", "kgs": "kg", "kilo": "kg", "kilos": "kg", "hr": "hour",
    "hrs": "hour", "min": "minute", "mins": "minute", "people": "person", "kilometre": "km",
    "kilometer": "km", "gram": "g", "metre": "m", "meter": "m", "tonne": "ton",
    "buck": "dollar", "bucks": "dollar", "quid": "pound",
}  # fmt: skip
MONEY = words("원 달러 유로 엔 위안 KRW USD EUR GBP won dollar euro pound ₩ $ € £")

_DATE = re.compile(
    r"(?P<y>\d{4})년\s*(?P<mo>\d{1,2})월\s*(?P<d>\d{1,2})일"
    r"|(?P<y2>\d{4})-(?P<mo2>\d\d)-(?P<d2>\d\d)"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mo3>[A-Z][a-z]{2,8}),?\s+(?P<y3>\d{4})"
    r"|(?P<mo4>[A-Z][a-z]{2,8})\s+(?P<d4>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{4})"
)
_CLOCK = re.compile(
    r"(?P<half>오전|오후|새벽|아침|저녁|밤|낮)?\s*(?P<h>\d{1,2})시(?!간)(?:\s*(?P<mi>\d{1,2})분"
    r"|\s*(?P<hh>반))?"
    r"|(?<![\d:])(?P<h2>\d{1,2}):(?P<mi2>\d\d)(?![\d:])(?:\s*(?P<ap2>[ap])\.?m\b\.?)?"
    r"|(?<![\d.])\b(?P<h3>\d{1,2})\s*(?P<ap3>[ap])\.?m\b\.?|(?P<noon>\bnoon\b|정오)",
    re.I,
)
# `만 2천`, `삼만 오천`, `1만 오백`
_MIXED = (
    r"(?:\d{1,4}|[일이삼사오육칠팔구십백천]{1,4})?만 ?(?:\d{1,4}[백천]?|[일이삼사오육칠팔구]?[백천]"
    r"(?: ?[일이삼사오육칠팔구]?백)?)"
)
_SINO_WORDS = r"[일이삼사오육칠팔구]?[십백천만억](?:[일이삼사오육칠팔구십백천만억]*)"
_KOREAN = re.compile(
    rf"(?P<lead>[₩$€£]\s?|영하\s|마이너스\s)?(?:(?<![가-힣\d])(?P<mixed>{_MIXED})"
    rf"(?=\s?(?:원|명|건|개|km|점))|(?P<digits>(?:{_DIGITS})(?:\s?{_SCALES}"
    rf"(?:\s?\d[\d,]*\s?{_SCALES})*(?:\d{{1,4}}(?=\s?원))?)?)"
    rf"|(?<![가-힣])(?P<native>{'|'.join(sorted(_NATIVE, key=len, reverse=True))})(?=\s?(?:번"
    rf"|명|개|건|시간|달|살|"
    rf"회|장|대|주|차례|병|권|박스|줄|곳|끼|잔))"
    rf"|(?<![가-힣])(?P<days>하루|이틀|사흘|나흘|열흘|보름)"
    rf"|(?<![가-힣])(?P<sino>{_SINO_WORDS})(?=\s?(?:{_KOREAN_UNITS}))"
    rf"|(?<![가-힣])(?P<digit>[삼사오육칠팔구]) ?(?=(?:개월|일|주|년|시간|분|퍼센트|프로|킬로"
    rf"|미터|점|회|세|인)\s?"
    rf"(?:이상|이하|미만|초과|이내|까지|부터|넘|안|전|후)))"
    rf"\s?(?P<unit>{_KOREAN_UNITS}|[가-힣A-Za-z]{{1,3}}(?=\s?(?:이상|이하|미만|초과"
    rf"|이내)(?:[가-힣,\s]"
    rf"|$)))?(?:\s?어치|째)?"
)
_WORDS = "|".join(sorted(_SPOKEN, key=len, reverse=True))
_TEENS = "|".join(word for word, number in _SPOKEN.items() if " " not in word and len(word) > 2)
_MORE = "|".join((*_SPOKEN_LARGE, _TEENS))
_ENGLISH = re.compile(
    rf"(?P<lead>[₩$€£]\s?|\b(?:KRW|USD|EUR"
    rf"|GBP)\s)?(?:(?<![\w.])(?P<digits>{_DIGITS})\s?(?P<scale>{_LARGE})?"
    rf"|\b(?P<spoken>(?:{_WORDS})(?:[\s-](?:{_MORE}))*"
    rf"(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))\sand\s(?:{_TEENS})(?:-(?:{_TEENS}))?)?)\b"
    r"(?!(?<=\ba)\s(?!year|month|week|day))(?!(?<=\ban)\s(?!hour)))"
    rf"(?:[\s-]?(?P<unit>{_ENGLISH_UNITS})(?![\w]))?",
    re.I,
)


@dataclass(frozen=True)
class Amount:
    """A number, date or time of day as FEEL text, and where it stands."""

    text: str
    kind: str
    unit: str
    start: int
    end: int


def amounts(text: str, *, korean: bool) -> list[Amount]:
    """Return the amounts of a text in order; what reads as a date or time is no number."""
    found: list[Amount] = []
    for pattern, read in (
        (_DATE, _date),
        (_CLOCK, _clock),
        (_KOREAN if korean else _ENGLISH, _number),
    ):
        for match in pattern.finditer(text):
            taken = any(one.start < match.end() and match.start() < one.end for one in found)
            amount = None if taken else read(match)
            if amount is not None and amount.kind == "unclear" and "오후" in text[: match.start()]:
                amount = replace(amount, text=_afternoon(match), kind="time")
            if amount is not None:
                found.append(amount)
    return _merged(text, _halves(text, sorted(found, key=lambda one: one.start)))


_HALF_NAMED = re.compile(r"(?:오전|오후|새벽|아침|저녁|밤|낮) ?\d|\d ?[ap]\.?m", re.I)


def _halves(text: str, found: list[Amount]) -> list[Amount]:
    """Return times whose half of the day an earlier one names: `밤 11시 이전, 11시 넘으면`.

    Where none of that hour does, nobody can tell.
    """
    named = [one for one in found if one.kind == "time" and _HALF_NAMED.match(text, one.start)]
    halved: list[Amount] = []
    for one in found:
        hour = int(one.text[6:8]) if one.kind == "time" else 13
        if named and one not in named and 0 < hour <= 12 and "시" in text[one.start : one.end]:
            same = [each for each in named if int(each.text[6:8]) % 12 == hour % 12]
            one = replace(one, text=same[0].text) if same else replace(one, kind="unclear")
        halved.append(one)
    return halved


_HALF = re.compile(r" 반(?![가-힣])| and a half\b")


def _merged(text: str, found: list[Amount]) -> list[Amount]:
    """Return amounts with hours and minutes as one: `1시간 30분`, `한 시간 반`."""
    merged: list[Amount] = []
    for one in found:
        before = merged[-1] if merged else None
        if half := _HALF.match(text, one.end) if one.unit in _MINUTES else None:
            one = replace(one, text=_minutes(one, "30"), unit=_MINUTES[one.unit], end=half.end())
        elif (
            before is not None
            and _MINUTES.get(before.unit) == one.unit != ""
            and text[before.end : one.start].strip() in {"", "and"}
        ):
            merged[-1] = replace(one, text=_minutes(before, one.text), start=before.start)
            continue
        merged.append(one)
    return merged


_MINUTES = {"시간": "분", "hour": "minute"}


def _minutes(hours: Amount, minutes: str) -> str:
    return f"{(Decimal(hours.text) * 60 + Decimal(minutes)).normalize():f}"


def _span(match: re.Match[str]) -> tuple[int, int]:
    text = match[0]
    return match.start() + len(text) - len(text.lstrip()), match.start() + len(text.rstrip())


def _date(match: re.Match[str]) -> Amount | None:
    parts = {key.rstrip("234"): value for key, value in match.groupdict().items() if value}
    month = _MONTHS.get(parts["mo"][:3].lower()) or (
        int(parts["mo"]) if parts["mo"].isdigit() else 0
    )
    try:
        day = date(int(parts["y"]), month, int(parts["d"]))
    except ValueError:
        return None
    return Amount(f'date("{day}")', "date", "", *_span(match))


def _clock(match: re.Match[str]) -> Amount | None:
    if match["noon"]:
        return Amount('time("12:00:00")', "time", "", *_span(match))
    hour = int(match["h"] or match["h2"] or match["h3"])
    minute = 30 if match["hh"] else int(match["mi"] or match["mi2"] or 0)
    half = (match["ap2"] or match["ap3"] or "").lower()
    if match["h"] and not match["half"] and hour < 8:
        return Amount("", "unclear", "", *_span(match))  # 3시 may be at night or in the afternoon
    if half == "p" or match["half"] in {"오후", "저녁", "밤"}:
        hour = hour % 12 + 12
    elif half == "a" or match["half"] in {"오전", "새벽"}:
        hour %= 12
    if hour > 23 or minute > 59:
        return None
    return Amount(f'time("{hour:02}:{minute:02}:00")', "time", "", *_span(match))


def _afternoon(match: re.Match[str]) -> str:
    minute = 30 if match["hh"] else int(match["mi"] or 0)
    return f'time("{int(match["h"]) % 12 + 12:02}:{minute:02}:00")'


def _number(match: re.Match[str]) -> Amount | None:
    group = match.groupdict()
    unit = "일" if group.get("days") else (group["unit"] or "").strip()
    word = group.get("days") or group.get("native") or group.get("spoken") or ""
    if group["digits"]:
        scale = (group.get("scale") or "").lower()
        value = _scaled(group["digits"].replace(",", "")) * _BIG.get(scale, 1)
    elif mixed := group.get("mixed"):
        value = Decimal(_mixed(mixed))
    elif sino := group.get("sino") or group.get("digit"):
        value = Decimal(_sino(sino))
    else:
        value = Decimal(_NATIVE.get(word) or _spoken(word.lower()))
    lead = (group["lead"] or "").strip()
    if lead in {"영하", "마이너스"}:
        lead, value = "", -value
    plain = f"{value.normalize():f}"
    return Amount(plain, "number", lead or _unit(unit), *_span(match))


def _unit(word: str) -> str:
    lower = word.lower()
    if word in _UNIT or lower in _UNIT:
        return _UNIT.get(word) or _UNIT[lower]
    if lower.startswith(("degree", "°")):
        return "degree"
    single = lower.removesuffix("s") if lower.isascii() and len(lower) > 3 else word
    return _UNIT.get(single, single)


def _scaled(text: str) -> Decimal:
    """Return `1억 5천만` or `1천5백만` as a number."""
    total = part = Decimal(0)
    for number, scale in re.findall(r"(\d+(?:\.\d+)?)\s?([십백천]?[만억조]|[십백천]|)", text):
        small, large = (scale[:-1], scale[-1:]) if scale[-1:] in "만억조" else (scale, "")
        part += Decimal(number) * _STEPS.get(small, 1)
        if large:
            total, part = total + part * _BIG[large], Decimal(0)
    return total + part


def _spoken(text: str) -> int:
    """Return `two hundred and fifty thousand` as a number."""
    if text in _SPOKEN:
        return _SPOKEN[text]
    total = part = 0
    for word in re.split(r"[\s-]+(?:and\s)?", text):
        large = _SPOKEN_LARGE.get(word)
        if large is None:
            part += _SPOKEN[word]
        elif large == 100:
            part = (part or 1) * large
        else:
            total, part = total + (part or 1) * large, 0
    return total + part


def _mixed(text: str) -> int:
    """Return `만 2천` or `삼만 오천` as a number."""
    large, _, small = text.partition("만")
    head = (int(large) if large.isdigit() else _sino(large)) if large else 1
    small = small.strip()
    tail = int(_scaled(small)) if small[0].isdigit() else _sino(small.replace(" ", ""))
    return head * 10_000 + tail


def _sino(text: str) -> int:
    total = part = digit = 0
    for sign in text:
        if sign in _SINO:
            digit = _SINO[sign]
        elif sign in _STEPS:
            part, digit = part + (digit or 1) * _STEPS[sign], 0
        else:
            total, part, digit = total + ((part + digit) or 1) * _BIG[sign], 0, 0
    return total + part + digit


def amount(text: str) -> str:
    """Return the first amount of a text in digits: `100만` is 1000000, `1억 5천만` is 150000000."""
    korean = bool(re.search("[가-힣]", text))
    return next(one.text for one in amounts(text, korean=korean) if one.kind == "number")
