"""Built-in conversion functions (DMN 1.3, 10.3.4.1), and the time of the evaluation."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import ROUND_FLOOR, Decimal

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.temporal import to_date, to_duration, to_moment, to_time
from core.decision_table.feel.values import Months, NoValue, Value, number
from core.decision_table.feel.write import to_text
from core.domain.messages import Message


def _date(first: Value, month: Value = None, day: Value = None) -> date:
    if isinstance(first, Decimal) and isinstance(month, Decimal) and isinstance(day, Decimal):
        return to_date(f"{_whole(first):04}-{_whole(month):02}-{_whole(day):02}")
    if month is None and day is None:
        if isinstance(first, str):
            return to_date(first)
        if isinstance(first, datetime):
            return first.date()
        if isinstance(first, date):
            return first
    raise NoValue(Message("feel.date"))


def _time(first: Value, minute: Value = None, second: Value = None, offset: Value = None) -> time:
    if isinstance(first, Decimal) and isinstance(minute, Decimal) and isinstance(second, Decimal):
        whole = second.to_integral_value(ROUND_FLOOR)
        fraction = f"{second - whole:f}".removeprefix("0")
        clock = to_time(f"{_whole(first):02}:{_whole(minute):02}:{_whole(whole):02}{fraction}")
        return clock.replace(tzinfo=timezone(offset)) if isinstance(offset, timedelta) else clock
    if minute is None and second is None:
        if isinstance(first, str):
            return to_time(first)
        if isinstance(first, datetime):
            return first.timetz()
        if isinstance(first, date):
            return time(tzinfo=UTC)
        if isinstance(first, time):
            return first
    raise NoValue(Message("feel.time"))


def _moment(first: Value, clock: Value = None) -> datetime:
    if isinstance(first, str) and clock is None:
        return to_moment(first)
    if isinstance(first, date) and isinstance(clock, time):
        day = first.date() if isinstance(first, datetime) else first
        return datetime.combine(day, clock)
    raise NoValue(Message("feel.date_and_time"))


def _number(given: str | Decimal, grouping: str | None = None, point: str | None = None) -> Decimal:
    if isinstance(given, Decimal):
        if grouping is not None or point is not None:
            raise NoValue(Message("feel.number_given"))
        return given
    if grouping not in (None, " ", ",", ".") or point not in (None, ",", "."):
        raise NoValue(Message("feel.number_signs"))
    if grouping is not None and grouping == (point or "."):
        raise NoValue(Message("feel.number_sign", sign=grouping))
    plain = given.replace(grouping, "") if grouping else given
    return number(plain.replace(point, ".") if point else plain)


def _string(value: Value) -> str | None:
    return None if value is None else to_text(value, quoted=False)


def _now(moment: Value) -> Value:
    if moment is None:
        raise NoValue(Message("feel.no_moment"))
    return moment


def _today(moment: Value) -> date:
    now = _now(moment)
    return _date(now)


def _months_between(start: date, end: date) -> Months:
    """Return the whole months from one date to another; negative if the second is earlier."""
    count = (end.year - start.year) * 12 + end.month - start.month
    if count > 0 and end.day < start.day:
        count -= 1
    elif count < 0 and end.day > start.day:
        count += 1
    return Months(count)


def _whole(value: Decimal) -> int:
    if value != value.to_integral_value() or abs(value) > 9999:
        raise NoValue(Message("feel.no_part_of_time", value=value))
    return int(value)


_DAY = "date|date and time"

CONVERSION = {
    "date": Function(_date, ("any", "number", "number"), "from;year,month,day", optional=2),
    "time": Function(
        _time,
        ("any", "number", "number", "days and time duration|null"),
        "from;hour,minute,second,offset",
        optional=3,
    ),
    "date and time": Function(_moment, ("any", "time"), "from;date,time", optional=1),
    "duration": Function(to_duration, ("string",), "from"),
    "years and months duration": Function(_months_between, (_DAY, _DAY), "from,to"),
    "number": Function(
        _number,
        ("string|number", "string|null", "string|null"),
        "from,grouping separator,decimal separator",
        optional=2,
    ),
    "string": Function(_string, ("any",), "from"),
    "now": Function(_now, clock=True),
    "today": Function(_today, clock=True),
}

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DATE = ("date|date and time",)


def _day_of_year(day: date) -> Decimal:
    return Decimal(day.timetuple().tm_yday)


def _week_of_year(day: date) -> Decimal:
    """Return the ISO 8601 week number: week 1 contains the year's first Thursday."""
    return Decimal(day.isocalendar().week)


CALENDAR = {
    "day of year": Function(_day_of_year, _DATE, "date"),
    "day of week": Function(lambda day: _DAYS[day.weekday()], _DATE, "date"),
    "month of year": Function(lambda day: _MONTHS[day.month - 1], _DATE, "date"),
    "week of year": Function(_week_of_year, _DATE, "date"),
}
