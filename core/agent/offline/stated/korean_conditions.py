"""The conditions of a Korean sentence: compared numbers, what is there, what something is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from core.agent.offline.stated import korean_words as w
from core.agent.offline.stated.amounts import Amount, amounts
from core.agent.offline.stated.found import Found, at_words
from core.agent.offline.stated.statement import (
    BEYOND,
    ELSE,
    Condition,
    Ends,
    NotARule,
    in_unit,
    is_convertible,
    size,
    smaller,
)

_SPAN_UNITS = frozenset(["년", "개월", "주", "일", "시간", "분"])


def value_of(column: str, value: str, no: bool = False) -> Condition:
    """Return the condition that a column has one of these values, or with `no` none of them."""
    values = [one.strip(" ,") for one in w.LIST.split(value)]
    tests = ", ".join(f'"{one}"' for one in values if one)
    return Condition(column, f"not({tests})" if no else tests, "string")


def conditions_of(text: str) -> list[Found]:
    """Return the conditions of a sentence, none of which overlap."""
    found: list[Found] = list(_compared(text))
    for pattern, read in (
        (w.AGAIN, lambda _: Condition("", "again", BEYOND)),
        (w.BEYOND, lambda m: Condition("", "up" if m["up"] or m["up2"] else "down", BEYOND)),
        (w.HAS, _has),
        (w.IS, _is),
        (w.ELSE, lambda _: Condition("", "-", ELSE)),
    ):
        for match in at_words(pattern, text):
            one = read(match)
            if one is None or any(f.start < match.end() and match.start() < f.end for f in found):
                continue
            if match.groupdict().get("and") and any(
                f.end == match.start() - 1 and f.link == "when" for f in found
            ):
                continue
            made = _placed(match, text, one)
            if made is not None:
                found.append(made)
    return found


def _placed(match: re.Match[str], text: str, one: Condition) -> Found | None:
    if one.kind == BEYOND and one.test != "again":
        close = _close(text, match.end())
        if close is None:
            return None
        if close["or"] and (other := re.compile(r"[가-힣]+면\s").match(text, close.end() + 1)):
            return Found(match.start(), other.end() - 1, Condition("", "-", ELSE))
        return Found(match.start(), close.end(), one, _link(close), _head(close))
    link = "even" if one.test == "again" else "when"
    named = match.groupdict()
    for name in ("and", "or", "even"):
        link = name if named.get(name) else link
    return Found(match.start(), match.end(), one, link)


def _has(match: re.Match[str]) -> Condition | None:
    what = match["what"] or ""
    if what in {"수", "적", "줄"}:  # `살 수 있고`
        return None
    if (match["when"] or "").startswith("는 ") and what[-1:] in {"", "에", "서", "고", "중"}:
        return None  # `매장에 있는 손님은`
    if what.endswith("만") and re.match(
        r"\s(?:[되돼됩된됨]|충분|가능|무방)", match.string[match.end() :]
    ):
        return None  # `확인서만 있으면 됩니다` is an outcome
    return Condition(what or "?", '"있음"' if match["has"] == "있" else '"없음"', "string")


def _is(match: re.Match[str]) -> Condition | None:
    value = match["value"]
    if re.search(
        r"\d|(?:이상|이하|미만|초과)$|^그 ?(?:위|아래|밑|사이)$|^(?:둘|셋|하나|그게|그것|그렇지"
        r"|그러지|그 ?외|나머지|기타|이외|아니|다른)|아니$|없|있",
        value,
    ):
        return None
    if match["when"] in {"면", "이면"} and re.match(
        r"\s(?:[돼되됩된됨]|끝)", match.string[match.end() :]
    ):
        return None  # `답글만 달면 돼요` is an outcome
    if "하고 " in value and not w.is_thing(value):
        return None
    if not match["not"] and not w.LIST.search(value) and not w.is_thing(value):
        return None
    return value_of("?", value, no=bool(match["not"]))


def _link(close: re.Match[str]) -> str:
    named = close.groupdict()
    for name in ("even", "or", "and", "when", "only"):
        if named[name]:
            return name
    return "bare" if close["head"] is None else "when"


def _head(close: re.Match[str]) -> str:
    """Return the noun that a condition is of; what ends in `-면` is no noun."""
    return (close["head"] or "") if close["by"] and not close["by"].endswith("면") else ""


def _compared(text: str) -> Iterator[Found]:
    """Yield the compared numbers of a sentence; two that make a range are one condition."""
    found = amounts(text, korean=True)
    at = 0
    while at < len(found):
        one = found[at]
        after = found[at + 1] if at + 1 < len(found) else None
        made = None
        if after and w.AHEAD_RANGE.fullmatch(text, one.end, after.start):
            made = _ahead_range(text, one, after)
            at += made is not None
        elif after and w.RANGE.fullmatch(text, one.end, after.start):
            made = _range(text, *_in_one_unit(one, after))
            at += made is not None
        made = made or _limit(text, one)
        if made is not None:
            yield made
        at += 1


def _limit(text: str, one: Amount) -> Found | None:
    if one.kind == "unclear":
        raise NotARule("a time that may be at night")
    if one.unit in _SPAN_UNITS and (ahead := w.BEFORE.match(text, one.end)):
        return _ahead(text, one, ahead)
    for sign, pattern in w.COMPARED if one.kind == "number" else w.MOMENTS:
        if match := pattern.match(text, one.end):
            return _closed(text, one.start, match.end(), _number(one, f"{sign} {one.text}"))
    if w.ENOUGH.match(text, one.end):
        return None
    if one.kind == "number" and (match := w.EQUAL.match(text, one.end)):
        return Found(one.start, match.end(), _number(one, one.text))
    if one.unit in w.COUNTED and (match := w.EQUAL_VERB.match(text, one.end)):
        return Found(one.start, match.end(), _number(one, one.text))
    if one.unit in w.RANKS and (match := w.EQUAL_TOPIC.match(text, one.end)):
        return Found(one.start, match.end(), _number(one, one.text))
    return None


def _ahead(text: str, one: Amount, ahead: re.Match[str]) -> Found | None:
    """Return how long before something: `이틀 전까지` is at least two days."""
    end = ahead.end()
    made = _number(one, f">= {one.text}" if ahead["till"] else one.text)
    return _closed(text, one.start, end, replace(made, column="남은 기간"))


def _ahead_range(text: str, one: Amount, other: Amount) -> Found | None:
    """Return from how long to how long before something: `6일 전부터 3일 전까지`."""
    till = w.BEFORE.match(text, other.end)
    if till is None or not till["till"] or size(other.text) >= size(one.text):
        return None
    is_due = other.text == "0"  # the last day that there is
    made = _number(one, f"<= {one.text}") if is_due else _interval(other, one, True, True)
    return _closed(text, one.start, till.end(), replace(made, column="남은 기간"))


def _in_one_unit(one: Amount, other: Amount) -> tuple[Amount, Amount]:
    """Return two ends of a range in the smaller of their units: `30분 초과 1시간까지`."""
    if not one.unit or not other.unit or not is_convertible(one.unit, other.unit):
        return one, other
    unit = smaller([one.unit, other.unit])
    found = [in_unit(_number(each, each.text), unit).test for each in (one, other)]
    return replace(one, text=found[0], unit=unit), replace(other, text=found[1], unit=unit)


def _range(text: str, one: Amount, other: Amount) -> Found | None:
    if (
        one.kind != other.kind
        or one.kind == "unclear"
        or size(one.text) >= size(other.text)
        or (one.unit and other.unit and one.unit != other.unit)
    ):
        return None
    if w.ONE_OR_OTHER.fullmatch(text, one.end, other.start) and not _is_next(one, other):
        return None
    gap = text[one.end : other.start].strip()
    low_in = not gap.startswith("초과")
    upper = _limit(text, other)
    high_in = True
    if upper is not None and upper.one.test.startswith("<"):
        high_in = upper.one.test.startswith("<=")
        return replace(upper, start=one.start, one=_interval(one, other, low_in, high_in))
    if gap.startswith(("이상", "초과")):
        return None
    between = w.BETWEEN.match(text, other.end)
    return _closed(
        text,
        one.start,
        between.end() if between else other.end,
        _interval(one, other, low_in, True),
    )


def _is_next(one: Amount, other: Amount) -> bool:
    """Whether two counts follow each other: `3회나 4회`."""
    return one.kind == "number" and one.text.isdigit() and other.text == str(int(one.text) + 1)


def _interval(one: Amount, other: Amount, low_in: bool, high_in: bool) -> Condition:
    return _number(
        replace(one, unit=one.unit or other.unit), Ends(one.text, low_in, other.text, high_in).test
    )


def _close(text: str, end: int) -> re.Match[str] | None:
    is_stem = w.STEM.search(text[max(0, end - 5) : end])
    return (w.CLOSE_VERB if is_stem else w.CLOSE).match(text, end)


def _closed(text: str, start: int, end: int, one: Condition) -> Found | None:
    """Return a condition if its words end as one; None if the number is of an outcome."""
    close = _close(text, end)
    if close is None:
        return None
    link = _link(close)
    rest = text[close.end() :].lstrip()
    if link == "bare" and (not rest or close[0].endswith(",")):
        return None
    return Found(start, close.end(), one, link, _head(close))


def _number(one: Amount, test: str) -> Condition:
    return Condition("", test, one.kind, one.unit)
