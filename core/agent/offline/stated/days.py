"""Days of the week as people name several of them: `월수금`, `화~금`, `weekdays`, `Tue-Thu`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.agent.offline.stated.statement import Case, Condition

_KOREAN = "월화수목금토일"
_ENGLISH = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = {name[:3].lower(): number for number, name in enumerate(_ENGLISH)}
_SHORT |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
_NAMED = {"평일": range(5), "주중": range(5), "주말": range(5, 7), "weekday": range(5),
          "weekdays": range(5), "weekend": range(5, 7), "weekends": range(5, 7),
          "the weekend": range(5, 7)}  # fmt: skip
_ONE = re.compile(r"([월화수목금토일])요일|(?<![가-힣])([월화수목금토일])(?![가-힣])")
_RUN = re.compile(r"[월화수목금토일]{2,6}")
_SPAN = re.compile(r"\s?(?:~|-|–|부터|에서|to|through|until)\s?")
_WORD = re.compile(
    rf"({'|'.join(sorted({*_SHORT, *map(str.lower, _ENGLISH)}, key=len, reverse=True))})s?\.?"
)


def days_of(value: str) -> tuple[int, ...]:
    """Return the days that a value names, Monday first; none if it names anything else."""
    plain = value.strip().lower().removeprefix("on ").removesuffix("까지").strip()
    if plain in _NAMED:
        return tuple(_NAMED[plain])
    ends = _SPAN.split(plain)
    if len(ends) == 2:
        first, last = map(_day, ends)
        if first is None or last is None or first >= last:
            return ()
        return tuple(range(first, last + 1))
    if (one := _day(plain)) is not None:
        return (one,)
    is_run = _RUN.fullmatch(plain) and len(set(plain)) == len(plain) and plain != "금일"
    return tuple(_KOREAN.index(day) for day in plain) if is_run else ()


_MOMENT = re.compile(
    r"(?:평일|주말|주중|공휴일|휴일|명절|연휴|성수기|비수기|방학|학기|여름|겨울|봄|가을|야간|주간|심야|새벽|오전|오후|낮|밤|아침|저녁|조조"
    r"|[월화수목금토일]요일)(?: ?중| ?시간대?| ?기간)?"
    r"|(?:the |in |on |at |during )*(?:weekdays?|weekends?|(?:public |bank )?holidays?|mornings?"
    r"|afternoons?|evenings?|nights?"
    r"|summer|winter|spring|autumn|fall|peak(?: season)?|off-peak|december|january)",
    re.I,
)


def is_moment(value: str) -> bool:
    """Whether a value says when something is, and not who or what it is."""
    return bool(days_of(value)) or _MOMENT.fullmatch(value.strip()) is not None


def _day(text: str) -> int | None:
    if found := _ONE.fullmatch(text):
        return _KOREAN.index(found[1] or found[2])
    if found := _WORD.fullmatch(text):
        return _SHORT[found[1][:3]]
    return None


def spelled(cases: Sequence[Case]) -> list[Case]:
    """Return cases with each day of a column by its name, where a column is of days alone."""
    told = list(cases)
    for column in dict.fromkeys(one.column for case in cases for one in case.when):
        tests = [c.test for case in cases for c in case.when if c.column == column]
        values = [value for test in tests for value in re.findall(r'"([^"]+)"', test)]
        named = [days_of(value) for value in values]
        several = [value for value, days in zip(values, named, strict=True) if len(days) > 1]
        if not several or not all(named) or (set(map(len, named)) == {2, 5} and len(values) == 2):
            continue
        told = [replace(case, when=tuple(_spelled(c, column) for c in case.when)) for case in told]
    return told


def _spelled(one: Condition, column: str) -> Condition:
    if one.column != column:
        return one

    def names(found: re.Match[str]) -> str:
        korean = re.search("[가-힣]", found[1])
        return ", ".join(f'"{_KOREAN[day]}요일"' if korean else f'"{_ENGLISH[day]}"'
                         for day in days_of(found[1]))  # fmt: skip

    return replace(one, test=re.sub(r'"([^"]+)"', names, one.test))
