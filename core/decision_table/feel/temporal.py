"""Dates, times and durations: read from ISO 8601 text, and added (DMN 1.3, 10.3.2.3.4 on)."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from core.decision_table.feel.values import Months, NoValue, Unsupported, Value, kind_of, months
from core.domain.messages import Message

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_FAR = re.compile(r"-\d{4,9}-\d\d-\d\d|[1-9]\d{4,8}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(
    r"(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d|@[A-Za-z][\w+\-]*(?:/[\w+\-]+)*)?", re.ASCII
)
_DAYS = re.compile(
    r"(-?)P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.ASCII,
)
_TRAILING = re.compile(r"(\.\d*?[1-9])0+(?=[Z+-]|$)")
_MONTHS = re.compile(r"(-?)P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?", re.ASCII)


def from_text(text: str) -> Value:
    """Return the value of `@"…"`: the first of date and time, date, time, duration that fits."""
    if _DATE.match(text) or _FAR.match(text):
        return to_moment(text) if "T" in text else to_date(text)
    if _TIME.match(text):
        return to_time(text)
    return to_duration(text)


def to_date(text: str) -> date:
    """Read `2024-02-29`; years are 0001 to 9999. Raises NoValue, Unsupported for other years."""
    if _FAR.fullmatch(text):
        raise Unsupported(Message("feel.years"))
    found = _DATE.fullmatch(text)
    if not found:
        raise NoValue(Message("feel.no_date", text=text[:40]))
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError as error:
        raise NoValue(Message("feel.no_day", text=text)) from error


def to_time(text: str) -> time:
    """Read `09:30:00`, with `Z` or `+09:00` if it has a zone. Raises NoValue.

    A second has at most six decimal places. A named zone has no offset without a date.
    """
    if "@" in text:
        raise Unsupported(Message("feel.named_zone", text=text[:40]))
    return _time(text)


def to_moment(text: str) -> datetime:
    """Read `2024-02-29T09:30:00`, zones as offsets or as `@Asia/Seoul`. Raises NoValue."""
    day, mark, clock = text.partition("T")
    if not mark:
        return datetime.combine(to_date(day), time())
    return datetime.combine(to_date(day), _time(clock))


def to_duration(text: str) -> timedelta | Months:
    """Read `P1DT2H`, `-PT30M` or `P1Y2M`; years and days do not mix. Raises NoValue."""
    bare = text.lstrip("-")
    if bare != "P" and (found := _MONTHS.fullmatch(text)):
        count = int(found[2] or 0) * 12 + int(found[3] or 0)
        return months(-count if found[1] else count)
    found = _DAYS.fullmatch(text)
    if not found or bare == "P" or bare.endswith("T"):
        raise NoValue(Message("feel.no_iso", text=text[:40]))
    days, hours, minutes = (int(found[number] or 0) for number in (2, 3, 4))
    whole, _, fraction = (found[5] or "0").partition(".")
    try:
        length = timedelta(days, int(whole), _micros(fraction, text), 0, minutes, hours)
    except OverflowError as error:
        raise Unsupported(Message("feel.duration_of_text", text=text)) from error
    return -length if found[1] else length


def plus(start: Value, length: Value) -> Value:
    """Add a duration; a month that is too short takes its last day. Raises NoValue."""
    try:
        return _plus(start, length)
    except (OverflowError, ValueError) as error:
        raise Unsupported(Message("feel.years")) from error


def _plus(start: Value, length: Value) -> Value:
    if isinstance(length, Months) and isinstance(start, date):
        years, month = divmod(start.year * 12 + start.month - 1 + length.count, 12)
        last = calendar.monthrange(years, month + 1)[1]
        return start.replace(year=years, month=month + 1, day=min(start.day, last))
    if isinstance(length, Months) and isinstance(start, Months):
        return months(start.count + length.count)
    if isinstance(length, timedelta):
        if isinstance(start, datetime):
            return _later(start, length)
        if isinstance(start, timedelta):
            return start + length
        if isinstance(start, date):
            return (datetime.combine(start, time()) + length).date()
        if isinstance(start, time):
            moved = datetime.combine(date(2000, 1, 3), start) + timedelta(
                seconds=length.total_seconds() % 86_400
            )
            return moved.timetz()
    raise NoValue(Message("feel.no_addition", start=kind_of(start), length=kind_of(length)))


def minus(end: Value, start: Value) -> timedelta | Months:
    """Return the duration between two points in time of one kind. Raises NoValue."""
    if isinstance(end, Months) and isinstance(start, Months):
        return months(end.count - start.count)
    if isinstance(end, timedelta) and isinstance(start, timedelta):
        return end - start
    if isinstance(end, date) and isinstance(start, date):
        mixed = isinstance(end, datetime) is not isinstance(start, datetime)
        first, last = (_as_utc(day) if mixed else moment(day) for day in (start, end))
        if (first.tzinfo is None) is (last.tzinfo is None):
            return instant(last) - instant(first)
    if isinstance(end, time) and isinstance(start, time):
        day = date(2000, 1, 3)
        return minus(datetime.combine(day, end), datetime.combine(day, start))
    raise NoValue(Message("feel.no_subtraction", start=kind_of(start), end=kind_of(end)))


def moment(day: date) -> datetime:
    """Return a date as its midnight, and a date and time unchanged."""
    return day if isinstance(day, datetime) else datetime.combine(day, time())


def _as_utc(day: date) -> datetime:
    """Return a date beside a date and time as its midnight in UTC (DMN 1.3, 10.3.2.3.5)."""
    return day if isinstance(day, datetime) else datetime.combine(day, time(), UTC)


def instant(at: datetime) -> datetime:
    """Return a zoned time in UTC: within one zone Python compares by wall clock."""
    try:
        return at.astimezone(UTC) if at.tzinfo else at
    except OverflowError as error:
        raise Unsupported(Message("feel.years")) from error


def iso(value: date | time | timedelta | Months) -> str:
    """Return the text of a value, which reads back as the same value."""
    if isinstance(value, Months):
        years, rest = divmod(abs(value.count), 12)
        text = (f"{years}Y" if years else "") + (f"{rest}M" if rest or not years else "")
        return ("-P" if value.count < 0 else "P") + text
    if isinstance(value, timedelta):
        return _iso_days(value)
    text = _TRAILING.sub(r"\1", value.isoformat())
    zone = getattr(value, "tzinfo", None)
    if isinstance(zone, ZoneInfo) and isinstance(value, datetime):
        return f"{iso(value.replace(tzinfo=None))}@{zone.key}"
    return text.removesuffix("+00:00") + "Z" if zone is UTC else text


def _iso_days(length: timedelta) -> str:
    seconds, micros = divmod(abs(length) // timedelta(microseconds=1), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    clock = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count) + (
        f"{seconds}{fraction}S" if seconds or micros else ""
    )
    text = (f"{days}D" if days else "") + (f"T{clock}" if clock else "")
    return ("-P" if length < timedelta() else "P") + (text or "T0S")


def _later(start: datetime, length: timedelta) -> datetime:
    """Add in UTC if there is a zone: a day of a daylight saving change has 23 or 25 hours."""
    if start.tzinfo is None:
        return start + length
    return (start.astimezone(UTC) + length).astimezone(start.tzinfo)


def _time(text: str) -> time:
    found = _TIME.fullmatch(text)
    if not found:
        raise NoValue(Message("feel.no_time", text=text[:40]))
    micros = _micros((found[4] or ".0")[1:], text)
    try:
        clock = time(int(found[1]), int(found[2]), int(found[3]), micros)
        return clock.replace(tzinfo=_zone(found[5]))
    except ValueError as error:
        raise NoValue(Message("feel.no_clock", text=text)) from error


def _micros(fraction: str, text: str) -> int:
    """Return a fraction of a second in microseconds; finer ones are refused, not cut off."""
    if fraction[6:].strip("0"):
        raise Unsupported(Message("feel.fine_second", text=text[:40]))
    return int(fraction[:6].ljust(6, "0"))


def _zone(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text == "Z":
        return UTC
    if text.startswith("@"):
        try:
            return ZoneInfo(text[1:])
        except (OSError, ValueError, KeyError) as error:
            raise NoValue(Message("feel.no_zone", zone=text[1:])) from error
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 14 or minutes > 59:
        raise NoValue(Message("feel.no_offset", text=text))
    length = timedelta(hours=hours, minutes=minutes)
    return timezone(-length if text[0] == "-" else length) if length else UTC
